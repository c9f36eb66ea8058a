// Runs an agent of the OpenAI Agents SDK over several turns with a model that plays its part, with the session in a directory of a mount:
// agents.mjs DIR. What it prints is what the model was sent in its last call, and what the session returns.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Agent, Runner, Usage, setTracingDisabled, tool } from "@openai/agents";
import { CtxfsSession } from "./session.mjs";

setTracingDisabled(true);
const dir = process.argv[2];
const usage = new Usage({ requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 });
const thinks = (n) => ({ type: "reasoning", id: `rs_${n}`, content: [{ type: "input_text", text: `thought ${n}` }], providerData: { encrypted_content: `gAAA${n}` } });
const calls = (n, args) => ({ type: "function_call", id: `fc_${n}`, callId: `call_${n}`, name: "port", arguments: JSON.stringify(args), status: "completed" });
const says = (text) => ({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] });

// What the model answers, call by call: two calls in one response with a thought between them, then its words.
const script = [
  [thinks(1), calls(1, { host: "staging" }), thinks(2), calls(2, { host: "prod" })],
  [says("Staging has 8443, prod has 443.")],
  [says("You are welcome.")],
  [thinks(3), calls(3, { host: "dev" })],
  [says("Dev has 8080.")],
];
const sent = [];
const model = {
  async getResponse({ input }) {
    sent.push(structuredClone(input));
    return { usage, output: script[sent.length - 1], responseId: `resp_${sent.length}` };
  },
  async *getStreamedResponse() { throw new Error("nobody streams"); },
};
const port = tool({
  name: "port", description: "The port of a host.", strict: false,
  parameters: { type: "object", properties: { host: { type: "string" } }, required: ["host"], additionalProperties: false },
  execute: async ({ host }) => ({ staging: "8443", prod: "443", dev: "8080" })[host],
});
const agent = new Agent({ name: "coder", instructions: "Be brief.", model, tools: [port] });
const run = async (input) => (await new Runner().run(agent, input, { session: new CtxfsSession(dir) })).finalOutput; // a new one each time: all of it is in the files

assert.equal(await run("Which ports have staging and prod?"), "Staging has 8443, prod has 443.");
assert.equal(await run("Thanks."), "You are welcome.");
assert.equal(await run("And dev?"), "Dev has 8080.");

const session = new CtxfsSession(dir);
const shape = (items) => items.map((item) => (item.type ?? "message") === "message" ? item.role : item.type);
const whole = ["user", "reasoning", "function_call", "reasoning", "function_call", "function_call_result", "function_call_result", "assistant",
  "user", "assistant", "user", "reasoning", "function_call", "function_call_result", "assistant"];
assert.deepEqual(shape(await session.getItems()), whole);
assert.deepEqual(shape(sent.at(-1)), whole.slice(0, -1), "the model was sent what the session has");
assert.equal(sent.at(-1)[5].output.text ?? sent.at(-1)[5].output, "8443");
assert.equal(await session.getSessionId(), dir.split("/").at(-1));
assert.deepEqual(await session.getItems(2), (await session.getItems()).slice(-2));
assert.deepEqual(await session.getItems(0), []);

// What is taken back is not shown any more, and stays in the history.
const lines = () => readFileSync(`${dir}/messages.jsonl`, "utf8").trim().split("\n").length;
assert.deepEqual(shape([await session.popItem()]), ["assistant"]);
assert.deepEqual(shape([await session.popItem()]), ["function_call_result"]);
assert.deepEqual(shape(await session.getItems()), whole.slice(0, -2));
assert.equal(lines(), whole.length);
await session.addItems([{ role: "user", content: "Once more." }]);
assert.deepEqual((await session.getItems(1))[0].content, "Once more.");
await session.clearSession();
assert.deepEqual(await session.getItems(), []);
assert.equal(await session.popItem(), undefined);
await session.addItems([]);
await session.addItems([{ role: "user", content: "Anew." }]);
assert.deepEqual((await new CtxfsSession(dir).getItems()).map((item) => item.content), ["Anew."]);
assert.equal(lines(), whole.length + 2);
await assert.rejects(session.addItems([{ type: "widget" }]), { code: "EINVAL" });
console.log("the session holds");
