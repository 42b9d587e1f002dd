// One spoken turn by the RealtimeSession of the package @openai/agents (websocket transport).
// node stock_agents.mjs URL KEY PCM_FILE NODE_MODULES; prints what it has heard as a line of JSON.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [url, key, file, modules] = process.argv.slice(2);
const { RealtimeAgent, RealtimeSession } = createRequire(`${modules}/x.js`)(
  "@openai/agents/realtime",
);
const heard = { audio_bytes: 0, errors: [], history: [] };
const agent = new RealtimeAgent({ name: "Assistant", instructions: "Be brief." });
const session = new RealtimeSession(agent, { transport: "websocket" });

function done() {
  session.close();
  process.stdout.write(`${JSON.stringify(heard)}\n`, () => process.exit(0));
}

session.on("audio", (event) => (heard.audio_bytes += event.data.byteLength));
session.on("error", ({ error }) => heard.errors.push(JSON.stringify(error)));
session.on("history_updated", (history) => {
  heard.history = history
    .filter((item) => item.type === "message")
    .map((item) => [item.role, item.content.map((p) => p.transcript ?? p.text ?? "").join("")]);
});
// The last update of the history follows the end of the turn.
session.on("agent_end", () => setTimeout(done, 1000));
setTimeout(done, 40_000);

await session.connect({ url, apiKey: key });
const pcm = readFileSync(file);
for (let start = 0; start < pcm.length; start += 1920) {
  session.sendAudio(new Uint8Array(pcm.subarray(start, start + 1920)).buffer);
  await new Promise((resolve) => setTimeout(resolve, 2));
}
