// A session of the OpenAI Agents SDK whose items are the records of messages.jsonl: run(agent, input, { session: new CtxfsSession(DIR) }),
// with DIR a directory .../agent/AGENT/session/SESSION of a mount.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

export class CtxfsSession {
  constructor(dir) {
    this.dir = dir;
    mkdirSync(dir, { recursive: true });
  }
  read(log) {
    return readFileSync(join(this.dir, log), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }
  append(log, records) { // one write, whole records
    if (records.length) appendFileSync(join(this.dir, log), records.map((r) => JSON.stringify(r) + "\n").join(""));
  }
  // History only grows: what was taken back stays in it, and an event says that the SDK is not shown it any more.
  shown() {
    const hidden = new Set(this.read("events.jsonl").filter((e) => e.type === "items_hidden").flatMap((e) => e.lines));
    return this.read("messages.jsonl").map((item, i) => ({ item, line: i + 1 })).filter(({ line }) => !hidden.has(line));
  }
  hide(records) {
    if (records.length) this.append("events.jsonl", [{ type: "items_hidden", lines: records.map(({ line }) => line) }]);
  }

  async getSessionId() { return basename(this.dir); }
  async getItems(limit = Infinity) { return limit > 0 ? this.shown().slice(-limit).map(({ item }) => item) : []; }
  async addItems(items) { this.append("messages.jsonl", items); }
  async popItem() {
    const last = this.shown().slice(-1);
    this.hide(last);
    return last[0]?.item;
  }
  async clearSession() { this.hide(this.shown()); }
}
