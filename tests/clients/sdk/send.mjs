// Sends packs with the official SDKs to a server of its own, and looks at what arrives there. The arguments are
// directories that hold pack.<format>.json.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import http from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

let arrived;
const server = http.createServer((req, res) => {
  let body = "";
  req.on("data", (piece) => (body += piece));
  req.on("end", () => {
    arrived = JSON.parse(body);
    res.setHeader("content-type", "application/json");
    res.end(JSON.stringify({ id: "1", candidates: [], content: [], choices: [], output: [] }));
  });
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const baseURL = `http://127.0.0.1:${server.address().port}`;

const openai = new OpenAI({ apiKey: "k", baseURL, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: "k", baseURL, maxRetries: 0 });
const genai = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: baseURL } });

const send = {
  openai: (pack) => openai.chat.completions.create({ model: "m", ...pack }),
  anthropic: (pack) => anthropic.messages.create({ model: "m", max_tokens: 16, ...pack }),
  responses: (pack) => openai.responses.create({ model: "m", ...pack }),
  genai: (pack) => genai.models.generateContent({ model: "m", ...pack }),
};

let sent = 0;
for (const dir of process.argv.slice(2)) {
  const read = (format) => JSON.parse(readFileSync(`${dir}/pack.${format}.json`, "utf8"));
  for (const [format, call] of Object.entries(send)) {
    await call(read(format));
    // What the SDK of Google is given in config stands beside the contents on the way, as in the pack for HTTP.
    const want = read(format === "genai" ? "gemini" : format);
    for (const [key, value] of Object.entries(want)) {
      if (key === "systemInstruction") {
        assert.deepEqual(arrived[key]?.parts, value.parts, `${dir} ${format}: ${key}`);
      } else {
        assert.deepEqual(arrived[key], value, `${dir} ${format}: ${key}`);
      }
    }
    // Servers that speak Chat Completions parse the arguments of calls.
    for (const call of format === "openai" ? want.messages.flatMap((m) => m.tool_calls ?? []) : []) {
      assert.equal(typeof JSON.parse(call.function.arguments), "object", `${dir}: ${call.function.arguments}`);
    }
    sent++;
  }
}
server.close();
console.log(`${sent} requests arrived whole`);
