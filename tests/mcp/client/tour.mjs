// One agent's turn over MCP: every tool, every kind of resource, refusals, a cancelled call, and the end.
import assert from "node:assert/strict";
import fs from "node:fs";
import { connect, gone } from "./lib.mjs";

const { SESSION: session } = process.env;
const { client, pid, call, ok, refused } = await connect([session]);

// The server says where the agent's memory is, and what there is.
assert.equal(client.getServerVersion().name, "ctxfs");
assert.match(client.getInstructions(), new RegExp(`^Your memory is files in ${session}:`));
const { tools } = await client.listTools();
assert.deepEqual(tools.map((t) => t.name).sort(), ["append", "memory", "pack", "read", "save_summary", "search", "why"]);
for (const t of tools) {
  assert.ok(t.description.length > 60, t.name);
  assert.equal(t.inputSchema.type, "object");
  for (const [name, p] of Object.entries(t.inputSchema.properties)) assert.ok(p.description, `${t.name}.${name} teaches nothing`);
  assert.equal(t.annotations.openWorldHint, false, t.name);
  assert.equal(t.annotations.readOnlyHint, !["append", "memory", "save_summary"].includes(t.name), t.name);
}
assert.equal(tools.find((t) => t.name === "append").annotations.destructiveHint, false);

// append: the numbers, and the bytes as they were written.
let r = await ok("append", { messages: [{ role: "user", content: "Make the token refresh retry on 503." }] });
assert.deepEqual(r.structuredContent, { appended: "messages:1", messages: [1] });
const calling = { role: "assistant", content: null, tool_calls: [{ id: "c1", name: "read_file", arguments: { path: "auth/refresh.go" } }], zeta: 1, alpha: 2 };
const result = { role: "tool", tool_call_id: "c1", content: Array.from({ length: 3000 }, (_, i) => `step ${i} of refresh`).join("\n") };
r = await ok("append", { messages: [calling, result], events: [{ type: "usage", input_tokens: 12 }] });
assert.deepEqual(r.structuredContent, { appended: "messages:2-3 events:1", messages: [2, 3], events: [1] });
assert.equal(r.text, "appended messages:2-3 events:1");
assert.equal((await ok("read", { path: "context/line/2" })).text, JSON.stringify(calling) + "\n");
assert.equal((await ok("read", { path: "messages:1" })).text.trim(), JSON.stringify({ role: "user", content: "Make the token refresh retry on 503." }));
assert.match((await ok("read", { path: "events:1" })).text, /input_tokens/);
assert.equal((await ok("append", { messages: { role: "assistant", content: "Done: three retries with backoff." } })).text, "appended messages:4");

// A bad record is refused with the reason that the files give; what stood before it is kept.
const bad = { messages: [{ role: "user", content: "good" }, { role: "robot", content: "bad" }, { role: "user", content: "never tried" }] };
r = await refused("append", bad, /^messages\[1\] was refused: .*"robot".*\(EINVAL\)\. The records before it were appended: messages:5$/);
await refused("append", { messages: [{ content: "no role" }] }, /role/);
await refused("append", { events: [{ text: "no type" }] }, /^events\[0\] was refused: .*type/);
await refused("append", {}, /nothing to append/);
await refused("append", { mesages: [] }, /unknown field "mesages"/);
assert.equal(fs.readFileSync(`${session}/messages.jsonl`, "utf8").split("\n").length, 6);

// The pack, and what it shortens.
fs.writeFileSync(`${session}/context/budget`, "1500");
const packFile = fs.readFileSync(`${session}/context/pack.md`, "utf8");
r = await ok("pack");
assert.equal(r.text, packFile);
assert.match(r._meta["ctxfs/pack_id"], /^sha256-[0-9a-f]{64}$/);
assert.equal(r.structuredContent, undefined);
const stub = packFile.match(/context\/line\/\d+(\.txt)?/)[0];
assert.equal((await ok("read", { path: stub })).text, fs.readFileSync(`${session}/${stub}`, "utf8"));
const body = JSON.parse((await ok("pack", { format: "anthropic" })).text);
assert.equal(body.messages[0].role, "user");
assert.match((await ok("pack", { at: "1" })).text, /503/);
assert.doesNotMatch((await ok("pack", { at: "1" })).text, /backoff/);
assert.match((await ok("pack", { format: "report" })).text, /tokens: /);
await refused("pack", { format: "yaml" }, /there is no format "yaml"/);
await refused("pack", { at: "99" }, /does not exist/);

// A long file comes in pieces, none of which is lost.
let whole = "", offset = 0;
for (let pieces = 0; ; pieces++) {
  const piece = await ok("read", { path: "context/line/3.txt", offset, limit: 10000 });
  whole += piece.content[0].text;
  const more = piece.content[1]?.text.match(/Read on: read (\{.*\})\)/);
  if (!more) { assert.ok(pieces > 2); break; }
  ({ offset } = JSON.parse(more[1]));
}
assert.equal(whole, fs.readFileSync(`${session}/context/line/3.txt`, "utf8"));
assert.match((await ok("read", { path: "messages.jsonl", offset: -1, limit: 300 })).text, /^\{"role":"assistant".*\n\{"role":"user","content":"good"\}\n/);
assert.match((await ok("read", { path: "context/pinned" })).text, /lists no names/);
assert.match((await ok("read", { path: "context" })).text, /^at\/\nbudget\t4\n/);
assert.equal((await ok("read", { path: "cwd" })).text, "(cwd is empty.)\n");
await refused("read", { path: "context/line/77" }, /there is no record 77/);
for (const path of ["../../../../../../../etc/passwd", "/etc/passwd", "..", "context/../../../../../../../../etc/passwd"]) {
  await refused("read", { path }, /leads out|not in this session|does not exist/);
}

// search and why.
r = await ok("search", { query: "backoff", n: 3, role: "assistant" });
assert.match(r.text, /^# 1 of 1 records/);
assert.match(r.text, /context\/line\/4\.txt/);
assert.match((await ok("search", { query: "backoff", scope: "home" })).text, /messages:4/);
const cited = (await ok("search", { query: "backoff", scope: "agent" })).text.match(/home\/\S+line\/4\S*/)[0];
assert.match((await ok("read", { path: cited })).text, /three retries/);
assert.match((await ok("search", { query: "auth/refresh.go?" })).text, /messages:2/);
assert.match((await ok("search", { query: "quokka" })).text, /^# nothing found/);
await refused("search", { query: "backoff", role: "robot" }, /role=system\|developer\|user/);
await refused("search", { query: "x".repeat(300) }, /at most 255/);
await refused("search", { query: " " }, /empty/);
r = await ok("why", { what: "messages:3" });
assert.match(r.text, /^messages:3  tool/);
assert.match(r.text, /now  /);
await refused("why", { what: "messages:99" }, /./);
await refused("why", { what: "no such block" }, /./);

// The agent's own summary.
assert.match((await ok("save_summary", { text: "Goal: retry the token refresh on 503.\n", upto: 4 })).text, /^saved as version 1, which covers the messages up to 4/);
assert.equal(fs.readFileSync(`${session}/context/summary.md`, "utf8"), "Goal: retry the token refresh on 503.\n");
await refused("save_summary", { text: "Goal: none.", upto: 99 }, /upto is 99/);

// The agent's memory.
assert.match((await ok("memory", { command: "view", path: "/memories" })).text, /^Here're the files and directories up to 2 levels deep in \/memories/);
assert.equal((await ok("memory", { command: "create", path: "/memories/auth.md", file_text: "Never retry invalid_grant.\n" })).text, "File created successfully at: /memories/auth.md");
assert.equal(fs.readFileSync(`${session}/../../memory/auth.md`, "utf8"), "Never retry invalid_grant.\n");
await refused("memory", { command: "create", path: "/memories/auth.md", file_text: "x" }, /^Error: File \/memories\/auth\.md already exists$/);
await refused("memory", { command: "view", path: "/memories/../system_prompt.md" }, /leads out of \/memories/);

// Resources, templates, prompts.
const { resources } = await client.listResources();
for (const { uri } of resources) await client.readResource({ uri });
const readOf = async (uri) => (await client.readResource({ uri })).contents[0];
assert.equal((await readOf("ctxfs:///context/pack.md")).text, fs.readFileSync(`${session}/context/pack.md`, "utf8"));
assert.match((await readOf("ctxfs:///messages.jsonl")).text, /"good"\}\n$/);
assert.equal((await readOf("ctxfs:///context/line/4.txt")).text, "Done: three retries with backoff.\n");
assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
await assert.rejects(client.readResource({ uri: "ctxfs:///context/line/77" }), /no record 77/);
await assert.rejects(client.readResource({ uri: "ctxfs:///../../../../../../etc/passwd" }));
const { messages } = await client.getPrompt({ name: "memory" });
assert.match(messages[0].content.text, /context\/pack\.md/);

// A client that subscribed hears of records that another program appends.
const { ResourceUpdatedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
const heard = new Promise((hear) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => hear(n.params.uri)));
await client.subscribeResource({ uri: "ctxfs:///context/pack.md" });
fs.appendFileSync(`${session}/messages.jsonl`, '{"role":"user","content":"And now the docs."}\n');
assert.equal(await heard, "ctxfs:///context/pack.md");
assert.match((await readOf("ctxfs:///context/pack.md")).text, /And now the docs/);

// A call that is cancelled is given up at once, and the next one is answered.
fs.writeFileSync(`${session}/context/context.yaml`, "wait_ms: 60000\nsources:\n  - {type: computed_file, id: slow, generator: {command: [sleep, '20']}}\n  - {type: journal}\n");
const abort = new AbortController();
const cancelled = call("pack", {}, { signal: abort.signal });
await ok("read", { path: "context/line/1" }); // the slow one is under way
abort.abort("enough");
await assert.rejects(cancelled, /enough/);
fs.rmSync(`${session}/context/context.yaml`);
assert.match((await ok("read", { path: "state" })).text, /idle/);

await client.close();
await gone(pid);
console.log("the tour is over");
