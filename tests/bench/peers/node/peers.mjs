// peers.mjs DIRECTORY RECORDS LOG PACK FIRST COUNT BUDGET
//
// Keeps one conversation in the stores of several agent frameworks and in ctxfs, and measures two things of each, in
// turns: appending one message, and making a prompt of at most BUDGET tokens after it. RECORDS has a JSON row for each
// message, with its text and its exact count of tokens, which every store may use for nothing. LOG and PACK are the log and
// the pack of a session of ctxfs that has the first FIRST messages already. Prints a JSON object: by name, the
// nanoseconds of each append and of each prompt.
import fs from "node:fs";
import path from "node:path";
import { HumanMessage, AIMessage, trimMessages } from "@langchain/core/messages";
import { FileSystemChatMessageHistory } from "@langchain/community/stores/message/file_system";
import { MessagesAnnotation, StateGraph, START, END } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { MemorySession } from "@openai/agents";
import { AgentFS } from "agentfs-sdk";
import Database from "better-sqlite3";

const [dir, recordsFile, log, pack, ...numbers] = process.argv.slice(2);
const [first, count, budget] = numbers.map(Number);
const records = fs.readFileSync(recordsFile, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const counts = new Map(records.map((r) => [r.text, r.tokens]));

const message = (record, i) => (i % 2 === 0 ? new HumanMessage(record.text) : new AIMessage(record.text));
const line = (record, i) => JSON.stringify({ role: i % 2 === 0 ? "user" : "assistant", content: record.text }) + "\n";
const trim = async (messages) => {
  const kept = await trimMessages(messages, {
    maxTokens: budget,
    strategy: "last",
    tokenCounter: (list) => list.reduce((sum, m) => sum + counts.get(m.content), 0),
  });
  return kept.map((m) => m.content).join("\n");
};
const parsed = (text) => text.trimEnd().split("\n").map((row, i) => {
  const { content } = JSON.parse(row);
  return message({ text: content }, i);
});

// Each store has fill(records), append(record, i), prompt() and close().
const stores = {
  ctxfs() {
    const fd = fs.openSync(log, "a");
    return {
      fill: async () => {},
      append: async (record) => fs.writeSync(fd, record.raw + "\n"),
      prompt: async () => fs.readFileSync(pack, "utf8"),
      close: async () => fs.closeSync(fd),
    };
  },
  "JSONL, trimMessages"() {
    const file = path.join(dir, "messages.jsonl");
    const fd = fs.openSync(file, "a");
    return {
      fill: async (all) => fs.writeSync(fd, all.map(line).join("")),
      append: async (record, i) => fs.writeSync(fd, line(record, i)),
      prompt: async () => trim(parsed(fs.readFileSync(file, "utf8"))),
      close: async () => fs.closeSync(fd),
    };
  },
  "SQLite (better-sqlite3), trimMessages"() {
    const db = new Database(path.join(dir, "messages.db"));
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = NORMAL");
    db.exec("create table message (id integer primary key autoincrement, body text not null)");
    const insert = db.prepare("insert into message (body) values (?)");
    const all = db.prepare("select body from message order by id");
    return {
      fill: async (records) => db.transaction(() => records.forEach((r, i) => insert.run(line(r, i))))(),
      append: async (record, i) => insert.run(line(record, i)),
      prompt: async () => trim(parsed(all.all().map((row) => row.body).join(""))),
      close: async () => db.close(),
    };
  },
  "LangChain.js FileSystemChatMessageHistory, trimMessages"() {
    const history = new FileSystemChatMessageHistory({ sessionId: "s", userId: "u", filePath: path.join(dir, "history.json") });
    return {
      fill: async (all) => history.addMessages(all.map(message)),
      append: async (record, i) => history.addMessage(message(record, i)),
      prompt: async () => trim(await history.getMessages()),
      close: async () => {},
    };
  },
  "LangGraph.js SqliteSaver, trimMessages"() {
    const saver = SqliteSaver.fromConnString(path.join(dir, "langgraph.db"));
    const app = new StateGraph(MessagesAnnotation).addNode("agent", () => ({})).addEdge(START, "agent").addEdge("agent", END).compile({ checkpointer: saver });
    const config = { configurable: { thread_id: "s" } };
    return {
      fill: async (all) => app.updateState(config, { messages: all.map(message) }, "agent"),
      append: async (record, i) => app.updateState(config, { messages: [message(record, i)] }, "agent"),
      prompt: async () => trim((await app.getState(config)).values.messages),
      close: async () => saver.db.close(),
    };
  },
  async "AgentFS SDK, trimMessages"() {
    const agent = await AgentFS.open({ path: path.join(dir, "agentfs.db") });
    await agent.fs.writeFile("/messages.jsonl", "");
    const file = await agent.fs.open("/messages.jsonl");
    let size = 0;
    const append = async (text) => {
      const data = Buffer.from(text);
      await file.pwrite(size, data);
      size += data.length;
    };
    return {
      fill: async (all) => append(all.map(line).join("")),
      append: async (record, i) => append(line(record, i)),
      prompt: async () => trim(parsed((await file.pread(0, size)).toString("utf8"))),
      close: async () => agent.close(),
    };
  },
  "OpenAI Agents JS MemorySession (memory alone), newest items"() {
    const session = new MemorySession();
    const item = (record, i) => (i % 2 === 0
      ? { type: "message", role: "user", content: record.text }
      : { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: record.text }] });
    const textOf = ({ content }) => (typeof content === "string" ? content : content[0].text);
    return {
      fill: async (all) => session.addItems(all.map(item)),
      append: async (record, i) => session.addItems([item(record, i)]),
      prompt: async () => {
        const texts = (await session.getItems()).map(textOf);
        let from = texts.length;
        for (let left = budget; from > 0 && (left -= counts.get(texts[from - 1])) >= 0; from--);
        return texts.slice(from).join("\n");
      },
      close: async () => {},
    };
  },
};

const timed = async (f) => {
  const begin = process.hrtime.bigint();
  const value = await f();
  return [Number(process.hrtime.bigint() - begin), value];
};
const open = {}, result = {};
for (const [name, make] of Object.entries(stores)) {
  open[name] = await make();
  await open[name].fill(records.slice(0, first));
  result[name] = { append: [], prompt: [] };
}
const names = Object.keys(open);
for (let i = first; i < first + count; i++) {
  for (let k = 0; k < names.length; k++) {
    const name = names[(i + k) % names.length];
    result[name].append.push((await timed(() => open[name].append(records[i], i)))[0]);
    const [ns, prompt] = await timed(() => open[name].prompt());
    if (prompt.length < budget) throw new Error(`${name} makes a prompt of ${prompt.length} bytes`);
    result[name].prompt.push(ns);
  }
}
for (const name of names) await open[name].close();
fs.writeSync(1, JSON.stringify(result) + "\n");
