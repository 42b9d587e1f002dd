// Four turns by the RealtimeSession of the package @openai/agents, over its websocket transport.

import { RealtimeAgent, RealtimeSession, tool } from "@openai/agents/realtime";
import { z } from "zod";

import {
  ANSWER,
  LAST_ANSWER,
  main,
  Microphone,
  QUESTION,
  STORY_QUESTION,
  WEATHER,
  WEATHER_ANSWER,
  WEATHER_QUESTION,
} from "./play.mjs";

/** Role and words of every message, in order. */
function texts(history) {
  return history
    .filter((item) => item.type === "message")
    .map((item) => [
      item.role,
      item.content.map((part) => part.transcript ?? part.text ?? "").join(""),
    ]);
}

async function play(url, log) {
  const getWeather = tool({
    name: "get_weather",
    description: "Tell the weather.",
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      log.note("city", city);
      return WEATHER;
    },
  });
  const agent = new RealtimeAgent({
    name: "Assistant",
    instructions: "Be brief.",
    tools: [getWeather],
  });
  const session = new RealtimeSession(agent, { transport: "websocket" });
  session.on("audio", (event) => log.note("audio", event.data.byteLength));
  session.on("audio_interrupted", () => log.note("audio_interrupted"));
  session.on("agent_end", () => log.note("agent_end"));
  session.on("history_updated", (history) => log.note("history", texts(history)));
  session.on("agent_tool_end", (context, by, used, result) => log.note("tool", result));
  session.on("error", ({ error }) => log.note("error", String(error?.message ?? error)));
  session.on("transport_event", ({ type }) => log.note("transport", type));
  const answered = (text) =>
    (log.of("history").at(-1) ?? []).some(([role, said]) => role === "assistant" && said === text);

  await session.connect({ url, apiKey: "none" });
  await log.until(() => log.of("transport").includes("session.updated"));
  const microphone = new Microphone();
  microphone.start((pcm) => session.sendAudio(pcm));

  microphone.speak();
  await log.until(() => answered(ANSWER));
  await log.untilNoted("agent_end");

  session.sendMessage(QUESTION);
  await log.untilNoted("agent_end", 2);

  session.sendMessage(WEATHER_QUESTION);
  await log.until(() => answered(WEATHER_ANSWER));
  await log.untilNoted("agent_end", 3);

  const heard = log.of("audio").length;
  session.sendMessage(STORY_QUESTION);
  await log.untilNoted("audio", heard + 1);
  microphone.speak();
  await log.untilNoted("audio_interrupted");
  await log.until(() => answered(LAST_ANSWER));
  await log.until(() => log.of("transport").filter((type) => type === "response.done").length >= 6);

  microphone.stop();
  session.close();
  const sum = (sizes) => sizes.reduce((all, size) => all + size, 0);
  return {
    history: log.of("history").at(-1),
    cities: log.of("city"),
    audio_bytes: sum(log.of("audio")),
    interruptions: log.of("audio_interrupted").length,
    errors: log.of("error"),
  };
}

await main(play);
