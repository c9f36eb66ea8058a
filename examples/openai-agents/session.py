"""A session of the OpenAI Agents SDK whose items are the records of messages.jsonl: Runner.run(agent, input, session=CtxfsSession(DIR)),
with DIR a directory .../agent/AGENT/session/SESSION of a mount."""
import json, os

class CtxfsSession:
    session_settings = None

    def __init__(self, directory):
        self.directory, self.session_id = directory, os.path.basename(directory.rstrip("/"))
        os.makedirs(directory, exist_ok=True)

    def _read(self, log):
        with open(os.path.join(self.directory, log), encoding="utf-8", newline="\n") as f:
            return [json.loads(line) for line in f]

    def _append(self, log, records):  # one write, whole records
        if records:
            with open(os.path.join(self.directory, log), "ab", buffering=0) as f:
                lines = b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in records)
                while lines:
                    lines = lines[f.write(lines):]

    # History only grows: what was taken back stays in it, and an event says that the SDK is not shown it any more.
    def _shown(self):
        hidden = {n for e in self._read("events.jsonl") if e["type"] == "items_hidden" for n in e["lines"]}
        return [(n, item) for n, item in enumerate(self._read("messages.jsonl"), 1) if n not in hidden]

    def _hide(self, records):
        self._append("events.jsonl", [{"type": "items_hidden", "lines": [n for n, _ in records]}] if records else [])

    async def get_items(self, limit=None):
        items = [item for _, item in self._shown()]
        return items if limit is None else items[-limit:] if limit > 0 else []

    async def add_items(self, items):
        self._append("messages.jsonl", items)

    async def pop_item(self):
        last = self._shown()[-1:]
        self._hide(last)
        return last[0][1] if last else None

    async def clear_session(self):
        self._hide(self._shown())
