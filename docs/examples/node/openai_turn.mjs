// The package openai: a typed question and a written answer. It always connects by wss://, so
// there has to be a proxy with TLS in front of the server.
//
// node openai_turn.mjs BASE_URL                       (https://HOST/v1)

import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none" });
const connection = await OpenAIRealtimeWS.create(client, { model: "local" });

connection.on("session.created", () => {
  connection.send({
    type: "session.update",
    session: { type: "realtime", output_modalities: ["text"] },
  });
  connection.send({
    type: "conversation.item.create",
    item: {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "What is the capital of France?" }],
    },
  });
  connection.send({ type: "response.create" });
});
connection.on("response.output_text.delta", ({ delta }) => process.stdout.write(delta));
connection.on("response.done", ({ response }) => {
  console.log(`\n(${response.status})`);
  connection.close();
});
connection.on("error", (error) => {
  console.error(error);
  process.exitCode = 1;
  connection.close();
});
