#!/usr/bin/env python3
"""Converters to OpenAI Chat messages, one per line. Words are not edited."""
import json, os, re, subprocess

CLONES = os.environ["CLONES"]


def repo_dir(repo):
    for d in (os.path.join(CLONES, repo), os.path.join(CLONES, repo.replace("/", "+"), "repo"), os.path.join(CLONES, repo.replace("/", "+"))):
        if os.path.isdir(d):
            return d
    raise SystemExit("no clone of " + repo)


def show(repo, commit, path):
    return subprocess.check_output(["git", "-C", repo_dir(repo), "show", commit + ":" + path]).decode("utf-8", "replace")


def call(id, name, args):
    text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def plain(content):
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    out = []
    for p in content:
        if isinstance(p, str):
            out.append(p)
        else:
            t = p.get("text")
            if t is None:
                t = "" if p.get("type") in ("thinking", "reasoning") else "[%s]" % p.get("type")
            out.append(t)
    return "\n".join(out)


def stamp(row, ts):
    if isinstance(ts, (int, float)):
        import datetime
        if ts > 1e11:
            ts = ts / 1000
        ts = datetime.datetime.fromtimestamp(ts, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if ts:
        row["ts"] = ts
    return row


def lines(text):
    for line in text.splitlines():
        line = line.strip()
        if not line:
            continue
        try:
            r = json.loads(line)
        except ValueError:
            continue
        if isinstance(r, dict):
            yield r


def claude(text):
    """Claude Code JSONL without thinking, attachments, meta rows and sub-agents."""
    rows, last, seen = [], None, set()
    for r in lines(text):
        m = r.get("message")
        if not isinstance(m, dict) or r.get("isSidechain") or m.get("role") not in ("user", "assistant"):
            continue
        if r.get("uuid"):
            if r["uuid"] in seen:
                continue
            seen.add(r["uuid"])
        ts = r.get("timestamp")
        parts = m.get("content")
        if isinstance(parts, str):
            parts = [{"type": "text", "text": parts}]
        if m["role"] == "assistant":
            said = [p["text"] for p in parts if p["type"] == "text" and p["text"].strip()]
            calls = [call(p["id"], p["name"], p["input"]) for p in parts if p["type"] == "tool_use"]
            if not said and not calls:
                continue
            if last and last == m.get("id") and rows[-1]["role"] == "assistant":
                row = rows[-1]
            else:
                row = stamp({"role": "assistant", "content": ""}, ts)
                rows.append(row)
            row["content"] = "\n".join(filter(None, [row["content"]] + said))
            if calls:
                row.setdefault("tool_calls", []).extend(calls)
            last = m.get("id")
            continue
        for p in parts:
            if p["type"] == "tool_result":
                rows.append(stamp({"role": "tool", "tool_call_id": p["tool_use_id"], "content": plain(p.get("content"))}, ts))
        said = [p["text"] for p in parts if p["type"] == "text"]
        if said and not r.get("isMeta"):
            rows.append(stamp({"role": "user", "content": "\n".join(said)}, ts))
        if any(p["type"] == "tool_result" for p in parts) or said:
            last = None
    return rows


def codex(text):
    """Codex rollout JSONL (both with and without the payload envelope)."""
    rows = []
    for r in lines(text):
        ts = r.get("timestamp")
        p = r.get("payload") if "payload" in r else r
        if r.get("type") not in (None, "response_item") and "payload" in r:
            continue
        t = p.get("type")
        if t == "message":
            body = "\n".join(c.get("text", "") for c in p.get("content") or [] if c.get("text"))
            if not body.strip():
                continue
            role = {"developer": "system"}.get(p["role"], p["role"])
            rows.append(stamp({"role": role, "content": body}, ts))
        elif t in ("function_call", "custom_tool_call"):
            args = p.get("arguments") if t == "function_call" else json.dumps({"input": p.get("input")}, ensure_ascii=False)
            c = call(p["call_id"], p["name"], args)
            if rows and rows[-1]["role"] == "assistant":
                rows[-1].setdefault("tool_calls", []).append(c)
            else:
                rows.append(stamp({"role": "assistant", "content": "", "tool_calls": [c]}, ts))
        elif t in ("function_call_output", "custom_tool_call_output"):
            out = p.get("output")
            if isinstance(out, dict):
                out = out.get("content") or json.dumps(out, ensure_ascii=False)
            elif isinstance(out, list):
                out = plain(out)
            rows.append(stamp({"role": "tool", "tool_call_id": p["call_id"], "content": out or ""}, ts))
    return rows


def pi(text):
    """Sessions of pi: rows of type message with roles user, assistant, toolResult."""
    rows = []
    for r in lines(text):
        m = r.get("message")
        if r.get("type") != "message" or not isinstance(m, dict):
            continue
        ts = r.get("timestamp")
        c = m.get("content")
        parts = [{"type": "text", "text": c}] if isinstance(c, str) else (c or [])
        said = "\n".join(p["text"] for p in parts if p.get("type") == "text" and p.get("text", "").strip())
        if m["role"] == "user":
            if said:
                rows.append(stamp({"role": "user", "content": said}, ts))
        elif m["role"] == "assistant":
            calls = [call(p["id"], p["name"], p.get("arguments", {})) for p in parts if p.get("type") == "toolCall"]
            if said or calls:
                row = stamp({"role": "assistant", "content": said}, ts)
                if calls:
                    row["tool_calls"] = calls
                rows.append(row)
        elif m["role"] == "toolResult":
            rows.append(stamp({"role": "tool", "tool_call_id": m["toolCallId"], "content": plain(parts)}, ts))
    return rows


def gemini(text):
    """Chat files of Gemini CLI: {"messages":[{"type":"user|gemini","content","toolCalls":[...]}]}.

    Rows of the user that only repeat function responses are omitted.
    """
    rows = []
    for m in json.loads(text)["messages"]:
        ts = m.get("timestamp")
        c = m.get("content")
        body = plain(c)
        if m["type"] == "user":
            if isinstance(c, list) and all(isinstance(p, dict) and "text" not in p for p in c):
                continue
            rows.append(stamp({"role": "user", "content": body}, ts))
        elif m["type"] == "gemini":
            calls = m.get("toolCalls") or []
            row = stamp({"role": "assistant", "content": body}, ts)
            if calls:
                row["tool_calls"] = [call(c["id"], c["name"], c.get("args", {})) for c in calls]
            rows.append(row)
            for c in calls:
                out = []
                for p in c.get("result") or []:
                    resp = (p.get("functionResponse") or {}).get("response") if isinstance(p, dict) else p
                    if isinstance(resp, dict):
                        resp = resp.get("output") or resp.get("error") or json.dumps(resp, ensure_ascii=False)
                    out.append(resp if isinstance(resp, str) else json.dumps(resp, ensure_ascii=False))
                rows.append(stamp({"role": "tool", "tool_call_id": c["id"], "content": "\n".join(out)}, c.get("timestamp") or ts))
    return rows


def pair(rows):
    """Drops results without calls and moves each result behind its call, in the order of the calls."""
    results = {}
    for r in rows:
        if r["role"] == "tool":
            results.setdefault(r["tool_call_id"], r)
    out, used = [], set()
    for r in rows:
        if r["role"] == "tool":
            continue
        if r.get("tool_calls"):
            keep = [c for c in r["tool_calls"] if c["id"] in results and c["id"] not in used]
            used.update(c["id"] for c in keep)
            r = dict(r)
            if keep:
                r["tool_calls"] = keep
            else:
                del r["tool_calls"]
                if not r["content"]:
                    continue
            out.append(r)
            out.extend(results[c["id"]] for c in keep)
        else:
            out.append(r)
    return out


def size(rows):
    return sum(len(r["content"]) + sum(len(c["function"]["arguments"]) for c in r.get("tool_calls", [])) for r in rows)
