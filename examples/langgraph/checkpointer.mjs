// A checkpointer of LangGraph.js on files: graph.compile({ checkpointer: new CtxfsSaver(AGENT) }), with AGENT a directory
// .../home/UID/agent/AGENT of a mount. A thread has its checkpoints in AGENT/checkpoints/<thread>, ordinary files, and its conversation
// in AGENT/session/<thread>/messages.jsonl, of which packs are made.
import { BaseCheckpointSaver, TASKS, WRITES_IDX_MAP, compareWritesSortKeys, copyCheckpoint, getCheckpointId, maxChannelVersion, writesSortKey } from "@langchain/langgraph-checkpoint";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const asName = (s) => "_" + encodeURIComponent(s); // of a file; never "." or ""
const fromName = (s) => decodeURIComponent(s.slice(1));
const list = (dir) => (existsSync(dir) ? readdirSync(dir) : []);
const asSession = (thread) => (/^[A-Za-z0-9][\w.+-]{0,127}$/.test(thread) ? thread : "thread-" + createHash("sha256").update(thread).digest("hex"));
const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined);
let made = 0; // temporary files
const roles = { human: "user", ai: "assistant", tool: "tool", system: "system", developer: "developer" };

export class CtxfsSaver extends BaseCheckpointSaver {
  constructor(agent, serde) {
    super(serde);
    this.agent = agent;
  }
  at(...names) { return join(this.agent, "checkpoints", ...names.map(asName)); }
  async dump(value) {
    const [type, bytes] = await this.serde.dumpsTyped(value);
    return [type, Buffer.from(bytes).toString("base64")];
  }
  load([type, data]) { return this.serde.loadsTyped(type, Buffer.from(data, "base64")); }

  // A value of a channel is a file under its hash: a checkpoint that did not change it names the same one.
  async keep(thread, value) {
    const dumped = await this.dump(value), name = createHash("sha256").update(JSON.stringify(dumped)).digest("hex");
    this.write(join(this.at(thread), "values"), name + ".json", dumped);
    return name;
  }
  value(thread, name) { return this.load(read(join(this.at(thread), "values", name + ".json"))); }

  async tuple(thread, ns, id, config) {
    const saved = read(this.at(thread, ns, id) + ".json");
    if (!saved) return undefined;
    const of = (checkpoint_id) => ({ configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id } });
    const checkpoint = { ...(await this.load(saved.checkpoint)), channel_values: {} };
    for (const [channel, name] of Object.entries(saved.values)) checkpoint.channel_values[channel] = await this.value(thread, name);
    if (checkpoint.v < 4 && saved.parent) await this.migrate(checkpoint, thread, ns, saved.parent);
    return {
      config: config ?? of(id), checkpoint, metadata: await this.load(saved.metadata), ...(saved.parent && { parentConfig: of(saved.parent) }),
      pendingWrites: await Promise.all(this.writes(thread, ns, id).map(async (w) => [w.task, w.channel, await this.load(w.value)])),
    };
  }
  writes(thread, ns, id) {
    const dir = this.at(thread, ns, id), all = list(dir).filter((name) => name.endsWith(".json")).map((name) => read(join(dir, name)));
    return all.sort((a, b) => compareWritesSortKeys(writesSortKey(a.path, a.task, a.idx), writesSortKey(b.path, b.task, b.idx)));
  }
  async migrate(checkpoint, thread, ns, parent) { // checkpoints before version 4 keep what was sent with their parent
    const sent = this.writes(thread, ns, parent).filter((w) => w.channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = await Promise.all(sent.map((w) => this.load(w.value)));
    checkpoint.channel_versions[TASKS] = versions.length ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
  ids(thread, ns) {
    return list(this.at(thread, ns)).filter((name) => name.endsWith(".json")).map((name) => fromName(name.slice(0, -5))).sort().reverse();
  }

  async getTuple(config) {
    const { thread_id: thread, checkpoint_ns: ns = "" } = config.configurable ?? {};
    const asked = getCheckpointId(config), id = asked || (thread && this.ids(thread, ns)[0]);
    return id ? this.tuple(thread, ns, id, asked ? config : undefined) : undefined;
  }
  async *list(config, { before, limit = Infinity, filter = {} } = {}) {
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
    const end = before?.configurable?.checkpoint_id;
    for (const thread of thread_id ? [thread_id] : list(this.at()).map(fromName)) {
      for (const ns of checkpoint_ns !== undefined ? [checkpoint_ns] : list(this.at(thread)).filter((name) => name[0] === "_").map(fromName)) {
        for (const id of this.ids(thread, ns)) {
          if (limit <= 0) return;
          if ((checkpoint_id && id !== checkpoint_id) || (end && id >= end)) continue;
          const tuple = await this.tuple(thread, ns, id);
          if (!Object.entries(filter).every(([key, value]) => tuple.metadata?.[key] === value)) continue;
          limit--;
          yield tuple;
        }
      }
    }
  }
  async put(config, checkpoint, metadata, newVersions = checkpoint.channel_versions) {
    const { thread_id: thread, checkpoint_ns: ns = "", checkpoint_id: parent } = config.configurable ?? {};
    if (!thread) throw new Error("a checkpoint needs a thread_id in configurable");
    if (ns === "") this.say(thread, checkpoint.channel_values.messages);
    const { channel_values: now, ...rest } = copyCheckpoint(checkpoint);
    const values = Object.fromEntries(Object.entries((parent && read(this.at(thread, ns, parent) + ".json")?.values) ?? {}).filter(([channel]) => channel in now));
    for (const channel of Object.keys(newVersions)) if (channel in now) values[channel] = await this.keep(thread, now[channel]);
    this.write(this.at(thread, ns), asName(checkpoint.id) + ".json", { parent, values, checkpoint: await this.dump(rest), metadata: await this.dump(metadata) });
    return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: checkpoint.id } };
  }
  async putWrites(config, writes, task, path = "") {
    const { thread_id: thread, checkpoint_ns: ns = "", checkpoint_id: id } = config.configurable ?? {};
    if (!thread || !id) throw new Error("writes need a thread_id and a checkpoint_id in configurable");
    for (const [n, [channel, value]] of writes.entries()) {
      const idx = WRITES_IDX_MAP[channel] ?? n, dir = this.at(thread, ns, id), name = asName(`${task},${idx}`) + ".json";
      if (idx < 0 || !existsSync(join(dir, name))) this.write(dir, name, { task, path, idx, channel, value: await this.dump(value) });
    }
  }
  write(dir, name, value) { // whole or not at all
    mkdirSync(dir, { recursive: true });
    const temporary = join(dir, `${name}.${process.pid}.${++made}`);
    writeFileSync(temporary, JSON.stringify(value));
    renameSync(temporary, join(dir, name));
  }
  // The checkpoints go. What was said stays: history only grows.
  async deleteThread(thread) { rmSync(this.at(thread), { recursive: true, force: true }); }

  // say appends the messages of a thread that messages.jsonl does not have yet, by their ids.
  say(thread, messages) {
    const dir = join(this.agent, "session", asSession(thread)), log = join(dir, "messages.jsonl");
    const all = (Array.isArray(messages) ? messages : []).filter((m) => roles[m?.type] && m.id);
    if (all.length === 0) return;
    mkdirSync(dir, { recursive: true });
    const had = new Set(readFileSync(log, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line).id));
    const lines = all.filter((m) => !had.has(m.id)).map((m) => JSON.stringify({
      id: m.id, role: roles[m.type], content: m.content,
      ...(m.tool_calls?.length && { tool_calls: m.tool_calls.map(({ id, name, args }) => ({ id, name, arguments: args })) }),
      ...(m.tool_call_id && { tool_call_id: m.tool_call_id }), ...(m.name && { name: m.name }),
    }) + "\n");
    if (lines.length) appendFileSync(log, lines.join(""));
  }
}
