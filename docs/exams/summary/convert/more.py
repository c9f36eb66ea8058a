#!/usr/bin/env python3
"""Converters for opencode, aider, SpecStory, managed agents, tau2 and the Bio-Babel export."""
import json, re
from conv import call, plain, stamp, lines


def opencode(text):
    """Sessions of opencode: {"messages":[{"info":{"role"},"parts":[text|tool|reasoning|...]}]}."""
    rows = []
    for m in json.loads(text)["messages"]:
        ts = m["info"]["time"].get("created")
        row = None
        if m["info"]["role"] == "user":
            said = "\n".join(p["text"] for p in m["parts"] if p["type"] == "text" and p.get("text", "").strip())
            if said:
                rows.append(stamp({"role": "user", "content": said}, ts))
            continue
        row, results = stamp({"role": "assistant", "content": ""}, ts), []
        for p in m["parts"]:
            if p["type"] == "text" and p.get("text", "").strip():
                row["content"] = "\n".join(filter(None, [row["content"], p["text"]]))
            elif p["type"] == "tool":
                st = p.get("state") or {}
                row.setdefault("tool_calls", []).append(call(p["callID"], p["tool"], st.get("input") or {}))
                out = st.get("output") or st.get("error") or ""
                results.append(stamp({"role": "tool", "tool_call_id": p["callID"], "content": out}, (st.get("time") or {}).get("end")))
        if row["content"] or row.get("tool_calls"):
            rows.append(row)
            rows.extend(results)
    return rows


def aider(text):
    """.aider.chat.history.md: '#### ' starts a line of the user, '> ' one of the program, the rest is the assistant.

    A line with '#### ' inside an answer is a heading of the assistant: a prompt always follows a line of the program.
    Lines of the program become messages of the role system, because they are no call that the assistant made.
    """
    rows = []
    kind, buf, ts = None, [], None

    def flush():
        body = "\n".join(buf).strip()
        if body and kind:
            row = {"role": {"u": "user", "p": "system", "a": "assistant"}[kind], "content": body}
            rows.append(stamp(row, ts))
        buf.clear()

    for line in text.splitlines():
        m = re.match(r"# aider chat started at (\S+) (\S+)", line)
        if m:
            flush()
            kind, ts = "p", "%sT%sZ" % m.groups()
            buf.append(line)
            continue
        if line.startswith("####") and line[4:5] in ("", " ") and kind != "a":
            k, body = "u", line[5:].rstrip()
        elif line.startswith("> ") or line.rstrip() == ">":
            k, body = "p", line[2:].rstrip()
        elif not line.strip():
            if kind == "a":
                buf.append("")
            continue
        else:
            k, body = "a", line
        if k != kind:
            flush()
            kind = k
        buf.append(body)
    flush()
    return rows


def specstory(text):
    """Markdown of SpecStory for Claude Code. The text inside <tool-use> becomes a call and its result."""
    rows, n = [], 0
    blocks = re.split(r"^_\*\*(User|Agent)([^*]*)\*\*_$", text, flags=re.M)
    for who, head, body in zip(blocks[1::3], blocks[2::3], blocks[3::3]):
        m = re.search(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)Z", head)
        ts = "%sT%sZ" % m.groups() if m else None
        body = re.sub(r"<think>.*?</think>", "", body, flags=re.S)
        body = re.sub(r"\n---\s*$", "", body.rstrip()).strip()
        if not body:
            continue
        if who == "User":
            rows.append(stamp({"role": "user", "content": body}, ts))
            continue
        t = re.match(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)"><details>\n<summary>(.*?)</summary>\n?(.*)</details></tool-use>', body, re.S)
        if not t:
            if rows and rows[-1]["role"] == "assistant" and not rows[-1].get("tool_calls"):
                rows[-1]["content"] += "\n\n" + body
            else:
                rows.append(stamp({"role": "assistant", "content": body}, ts))
            continue
        n += 1
        id, inner = "call_%d" % n, t.group(4).strip("\n")
        cut = max(inner.rfind("\n\n```text\n"), -1)
        if cut >= 0:
            args, out = inner[:cut].strip(), inner[cut:].strip()
        elif inner.startswith("```text\n"):
            args, out = "", inner.strip()
        else:
            args, out = inner.strip(), ""
        c = call(id, t.group(2), {"summary": re.sub(r"\*\*", "", t.group(3)), "input": args})
        if rows and rows[-1]["role"] == "assistant" and not rows[-1].get("tool_calls"):
            rows[-1]["tool_calls"] = [c]
        else:
            rows.append(stamp({"role": "assistant", "content": "", "tool_calls": [c]}, ts))
        rows.append(stamp({"role": "tool", "tool_call_id": id, "content": out}, ts))
    return rows


def managed(text):
    """Event log of a managed agent (open-hai): define_outcome, message, tool_use, tool_result, interrupt."""
    rows = []
    for r in lines(text):
        k, raw, ts = r.get("kind"), r.get("raw") or {}, r.get("time")
        if ts:
            ts = re.sub(r"\.\d+Z$", "Z", ts)
        if k == "define_outcome":
            body = raw.get("description") or ""
            if isinstance(raw.get("rubric"), dict) and raw["rubric"].get("content"):
                body += "\n\n" + raw["rubric"]["content"]
            rows.append(stamp({"role": "user", "content": body}, ts))
        elif r.get("role") == "user" and k == "message":
            rows.append(stamp({"role": "user", "content": plain(raw.get("content"))}, ts))
        elif k == "message":
            body = plain(raw.get("content"))
            if body.strip():
                rows.append(stamp({"role": "assistant", "content": body}, ts))
        elif k == "tool_use":
            c = call(raw["id"], raw["name"], raw.get("input") or {})
            if rows and rows[-1]["role"] == "assistant":
                rows[-1].setdefault("tool_calls", []).append(c)
            else:
                rows.append(stamp({"role": "assistant", "content": "", "tool_calls": [c]}, ts))
        elif k == "tool_result":
            out = []
            for p in raw.get("content") or []:
                if p.get("type") == "document":
                    out.append("\n".join(filter(None, [p.get("title"), (p.get("source") or {}).get("data")])))
                elif p.get("type") == "search_result":
                    out.append("\n".join(filter(None, [p.get("title"), p.get("source") if isinstance(p.get("source"), str) else None, plain(p.get("content"))])))
                else:
                    out.append(p.get("text") or "[%s]" % p.get("type"))
            rows.append(stamp({"role": "tool", "tool_call_id": raw["tool_use_id"], "content": "\n".join(out)}, ts))
    return rows


def tau2(text, tasks, mark=False):
    """Customers of one tau2 desk, one after another; the policy is the system message.

    With mark, the ids of calls begin with the task, for sources whose tasks repeat ids.
    """
    d = json.loads(text)
    policy = d["info"]["environment_info"]["policy"]
    sims = {s["task_id"]: s for s in d["simulations"]}
    rows = [{"role": "system", "content": policy}]
    for t in tasks:
        front = "t%s_" % t if mark else ""
        for m in sims[t]["messages"]:
            row = {"role": m["role"], "content": m.get("content") or ""}
            if m["role"] == "tool":
                row["tool_call_id"] = front + m["id"]
            calls = m.get("tool_calls")
            if calls and m["role"] == "assistant":
                row["tool_calls"] = [call(front + c["id"], c["name"], c["arguments"]) for c in calls]
            ts = m.get("timestamp")
            if ts:
                row["ts"] = ts if re.search(r"(Z|[+-]\d\d:\d\d)$", ts) else ts + "Z"
            rows.append(row)
    return rows
