// The RealtimeSession of the package @openai/agents: a typed question, a spoken answer.
//
// node agents_turn.mjs [URL]

import { RealtimeAgent, RealtimeSession, tool } from "@openai/agents/realtime";
import { z } from "zod";

const getWeather = tool({
  name: "get_weather",
  description: "Tell the weather in a city.",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    console.log(`(looks out of the window in ${city})`);
    return "22 degrees and sunny";
  },
});
const agent = new RealtimeAgent({
  name: "Assistant",
  instructions: "Answer in one short sentence.",
  tools: [getWeather],
});
const session = new RealtimeSession(agent, { transport: "websocket" });

let audioBytes = 0;
session.on("audio", ({ data }) => (audioBytes += data.byteLength));
session.on("agent_end", (context, by, said) => {
  if (!said) return;
  console.log(`${said} (${(audioBytes / 48_000).toFixed(1)} s of speech)`);
  session.close();
});
// Without a listener an error ends the process.
session.on("error", ({ error }) => {
  console.error(error);
  process.exitCode = 1;
  session.close();
});

await session.connect({
  url: process.argv[2] ?? "ws://127.0.0.1:8765/v1/realtime",
  apiKey: "none",
});
session.sendMessage("What is the weather in Paris?");
