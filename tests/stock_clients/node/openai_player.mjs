// Four turns by OpenAIRealtimeWS of the package openai, which always wants TLS.

import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";

import {
  main,
  Microphone,
  QUESTION,
  STORY_QUESTION,
  WEATHER,
  WEATHER_QUESTION,
} from "./play.mjs";

const TOOL = {
  type: "function",
  name: "get_weather",
  description: "Tell the weather.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  },
};

async function play(baseURL, log) {
  const client = new OpenAI({ baseURL, apiKey: "none" });
  const connection = await OpenAIRealtimeWS.create(client, { model: "gpt-realtime-2.1" });
  const ended = (count) => log.untilNoted("response.done", count);
  const history = [];

  connection.on("event", (event) => log.note(event.type, event));
  connection.on("error", (error) => log.note("error", error.message));
  connection.on("response.output_audio.delta", ({ delta }) =>
    log.note("audio", Buffer.from(delta, "base64").length),
  );
  connection.on("conversation.item.input_audio_transcription.completed", ({ transcript }) =>
    history.push(["user", transcript]),
  );
  connection.on("response.output_audio_transcript.done", ({ transcript }) =>
    history.push(["assistant", transcript]),
  );
  const write = (text) => {
    history.push(["user", text]);
    const content = [{ type: "input_text", text }];
    connection.send({
      type: "conversation.item.create",
      item: { type: "message", role: "user", content },
    });
    connection.send({ type: "response.create" });
  };

  await log.untilNoted("session.created");
  connection.send({
    type: "session.update",
    session: {
      type: "realtime",
      tools: [TOOL],
      audio: { input: { transcription: { model: "gpt-4o-mini-transcribe" } } },
    },
  });
  await log.untilNoted("session.updated");
  const microphone = new Microphone();
  microphone.start((pcm) =>
    connection.send({
      type: "input_audio_buffer.append",
      audio: Buffer.from(pcm).toString("base64"),
    }),
  );

  microphone.speak();
  await ended(1);

  write(QUESTION);
  await ended(2);

  write(WEATHER_QUESTION);
  await ended(3);
  const [call] = log.of("response.done").at(-1).response.output;
  const { city } = JSON.parse(call.arguments);
  connection.send({
    type: "conversation.item.create",
    item: { type: "function_call_output", call_id: call.call_id, output: WEATHER },
  });
  connection.send({ type: "response.create" });
  await ended(4);

  const heard = log.of("audio").length;
  write(STORY_QUESTION);
  await log.untilNoted("audio", heard + 1);
  const [{ item_id }] = log.of("response.output_audio.delta").slice(-1);
  microphone.speak();
  await ended(5);
  const interrupted = log.of("response.done").at(-1).response.status === "cancelled";
  connection.send({
    type: "conversation.item.truncate",
    item_id,
    content_index: 0,
    audio_end_ms: 20,
  });
  await log.untilNoted("conversation.item.truncated");
  await ended(6);

  microphone.stop();
  connection.close();
  return {
    history,
    cities: [city],
    audio_bytes: log.of("audio").reduce((all, size) => all + size, 0),
    interruptions: interrupted ? 1 : 0,
    errors: log.of("error"),
  };
}

await main(play);
