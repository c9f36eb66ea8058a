// What a model reads of an answer is what its host passes on: some pass on structuredContent and leave content
// out where there is both, others pass on content alone. Each tool's answer must be in either.
import assert from "node:assert/strict";
import fs from "node:fs";
import { connect, gone } from "./lib.mjs";

const { SESSION: session, EMPTY: empty } = process.env;
const hosts = {
  "structuredContent before content": (r) => (r.structuredContent === undefined ? r.text : JSON.stringify(r.structuredContent)),
  "content alone": (r) => r.text,
};
// holds asserts that each host shows a model what matches want.
const holds = (what, r, want) => {
  assert.ok(!r.isError, `${what}: ${r.text}`);
  for (const [host, shows] of Object.entries(hosts)) assert.match(shows(r), want, `${what}, of a host that passes on ${host}`);
};

const { client, pid, call } = await connect([session]);
const said = "The staging port is 8443.";
const answers = {
  append: [[{ messages: [{ role: "user", content: said }, { role: "assistant", content: "Noted." }], events: { type: "usage" } }, /messages:1-2 events:1/]],
  pack: [
    [{}, /The staging port is 8443\./],
    ...["md", "openai", "anthropic", "responses", "gemini"].map((format) => [{ format }, /The staging port is 8443\./]),
    [{ format: "report" }, /tokens: /],
    [{ format: "json" }, /pack_id/],
    [{ at: "1" }, /The staging port is 8443\./],
  ],
  search: [[{ query: "staging" }, /The staging port is 8443\./], [{ query: "quokka" }, /nothing found/]],
  why: [[{ what: "messages:1" }, /^messages:1  user/]],
  read: [
    [{ path: "messages.jsonl" }, /The staging port is 8443\./], [{ path: "context/line/1.txt" }, /The staging port is 8443\./],
    [{ path: "context" }, /budget/], [{ path: "context/pinned" }, /lists no names/], [{ path: "cwd" }, /cwd is empty/],
    [{ path: "messages.jsonl", offset: 4000 }, /Bytes 4000 to 4000 of \d+/],
  ],
  save_summary: [[{ text: "The staging port is 8443.", upto: 2 }, /saved as version 1/]],
  memory: [
    [{ command: "create", path: "/memories/port.md", file_text: "8443\n" }, /File created successfully/], [{ command: "view", path: "/memories/port.md" }, /8443/],
    [{ command: "create", path: "/memories/none.md", file_text: "" }, /File created successfully/], [{ command: "view", path: "/memories/none.md" }, /\/memories\/none\.md/],
  ],
};
const { tools } = await client.listTools();
assert.deepEqual(tools.map((t) => t.name).sort(), Object.keys(answers).sort(), "a tool without an answer here");
for (const [tool, calls] of Object.entries(answers)) {
  for (const [args, want] of calls) holds(`${tool} ${JSON.stringify(args)}`, await call(tool, args), want);
}
assert.equal((await call("pack")).text, fs.readFileSync(`${session}/context/pack.md`, "utf8"));
const { _meta: meta } = await call("pack");
assert.match(meta["ctxfs/pack_id"], /^sha256-[0-9a-f]{64}$/);
await client.close();

// A session in which nothing was said answers in words: a model takes an empty answer for a failure.
const fresh = await connect([empty], "fresh");
for (const [tool, args, want] of [
  ["pack", {}, /nothing is recorded yet/], ["pack", { format: "md" }, /nothing is recorded yet/], ["pack", { at: "0" }, /nothing was recorded/],
  ["pack", { format: "report" }, /\S/], ["pack", { format: "json" }, /\S/], ["pack", { format: "openai" }, /\S/],
  ["search", { query: "staging" }, /nothing found/], ["search", { query: "staging", scope: "agent" }, /\S/],
  ["read", { path: "context/pack.md" }, /nothing is recorded yet/], ["read", { path: "messages.jsonl" }, /nothing is recorded yet/],
  ["read", { path: "events.jsonl" }, /nothing is recorded yet/], ["read", { path: "messages.jsonl", offset: -1 }, /nothing is recorded yet/],
  ["read", { path: "context/errors.jsonl" }, /is empty/], ["read", { path: "context/summary.md" }, /is empty/], ["read", { path: "context/todo.md" }, /is empty/],
  ["memory", { command: "view", path: "/memories" }, /files and directories/],
]) holds(`${tool} ${JSON.stringify(args)} of an empty session`, await fresh.call(tool, args), want);
const none = await fresh.call("why", { what: "messages:1" });
assert.match(none.text, /\S/);

// Messages that a recipe leaves out are recorded all the same.
await fresh.call("append", { messages: [{ role: "assistant", content: said }] });
fs.writeFileSync(`${empty}/context/context.yaml`, "sources:\n  - {type: todo}\n");
const left = await fresh.call("pack");
assert.match(left.text, /the sources of its recipe have no content/);
await fresh.client.close();
await Promise.all([gone(pid), gone(fresh.pid)]);
console.log("each host shows each answer");
