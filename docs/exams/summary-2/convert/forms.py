"""Converters for Toolathlon and for Cursor transcripts of SpecStory."""
import html, json, re
from conv import call, plain


def toolathlon(text):
    """{"messages":[OpenAI Chat]}; a result is a JSON text block or a list of them."""
    rows = []
    for m in json.loads(text)["messages"]:
        c = m.get("content")
        if not isinstance(c, str):
            c = plain(c)
        if m["role"] == "tool":
            try:
                d = json.loads(c)
                if isinstance(d, dict) and d.get("type") == "text":
                    c = d["text"]
                elif isinstance(d, list) and d and all(isinstance(p, dict) and p.get("type") for p in d):
                    c = "\n".join(p.get("text") or "[%s]" % p["type"] for p in d)
            except ValueError:
                pass
            rows.append({"role": "tool", "tool_call_id": m["tool_call_id"], "content": c})
            continue
        row = {"role": m["role"], "content": c or ""}
        if m.get("tool_calls"):
            row["tool_calls"] = [call(k["id"], k["function"]["name"], k["function"]["arguments"] or "{}") for k in m["tool_calls"]]
        rows.append(row)
    return rows


def sections(body):
    """Splits text at lines that are '---', except inside code fences."""
    out, fence = [[]], False
    for line in body.splitlines():
        if line.startswith("```"):
            fence = not fence
        if line.strip() == "---" and not fence:
            out.append([])
        else:
            out[-1].append(line)
    return ["\n".join(p) for p in out]


def cap(out):
    """Shortens a result of more than 16,000 characters to its first and last 6,000."""
    if len(out) <= 16000:
        return out
    return "%s\n[... %d characters left out by the conversion ...]\n%s" % (out[:6000], len(out) - 12000, out[-6000:])


def continues(rows):
    """Reports whether the last message is text of the assistant without calls."""
    return bool(rows) and rows[-1]["role"] == "assistant" and not rows[-1].get("tool_calls")


def say(rows, text):
    """Appends text of the assistant."""
    if continues(rows):
        rows[-1]["content"] += "\n\n" + text
    else:
        rows.append({"role": "assistant", "content": text})


def use(rows, id, name, arg, out):
    """Appends a call and its result."""
    if not continues(rows):
        rows.append({"role": "assistant", "content": ""})
    rows[-1]["tool_calls"] = [call(id, name, {"input": arg})]
    rows.append({"role": "tool", "tool_call_id": id, "content": cap(out)})


def cursor(text):
    """Markdown of SpecStory for Cursor (old form): 'Tool use: **name**' starts a call, the rest of its block is the result."""
    rows, n = [], 0
    blocks = re.split(r"^_\*\*(User|Assistant|Agent)([^*\n]*)\*\*_$", text, flags=re.M)
    for who, body in zip(blocks[1::3], blocks[3::3]):
        if who == "User":
            body = re.sub(r"\n---\s*$", "", body.rstrip()).strip()
            if body:
                rows.append({"role": "user", "content": body})
            continue
        body = re.sub(r"<think>.*?</think>", "", body, flags=re.S)
        for part in sections(body):
            part = part.strip()
            if not part:
                continue
            t = re.match(r"(?:<tool-use[^>]*>\s*)?(?:<details>\s*<summary>)?\s*Tool use: \*\*([^*]+)\*\*(.*)", part, re.S)
            if not t:
                say(rows, part)
                continue
            n += 1
            name, rest = t.group(1), re.sub(r"</?(details|summary|tool-use)[^>]*>", "", t.group(2)).strip()
            arg, out = rest.split("\n", 1) if "\n" in rest else (rest, "")
            arg, out = arg.strip(" •"), out.strip()
            if name == "run_terminal_cmd":
                k = re.match(r"```bash\n(.*?)\n```\s*(.*)", rest, re.S)
                if k:
                    arg, out = k.group(1), k.group(2)
            use(rows, "call_%d" % n, name, arg, out)
    return rows


def cursor2(text):
    """Markdown v2.1 of SpecStory for Cursor: <tool-use> elements; the empty element that repeats each call is omitted."""
    rows, n = [], 0
    blocks = re.split(r"^_\*\*(User|Agent)([^*\n]*)\*\*_$", text, flags=re.M)
    for who, body in zip(blocks[1::3], blocks[3::3]):
        body = re.sub(r"<think>.*?</think>", "", body, flags=re.S)
        body = re.sub(r"\n---\s*$", "", body.rstrip()).strip()
        if not body:
            continue
        if who == "User":
            rows.append({"role": "user", "content": body})
            continue
        pos = 0
        found = list(re.finditer(r'<tool-use data-tool-type="[^"]*" data-tool-name="([^"]*)">(.*?)</tool-use>', body, re.S))
        for t in found + [None]:
            said = body[pos:t.start() if t else len(body)].strip()
            if t:
                pos = t.end()
            if said and said != "---":
                say(rows, said)
            if not t:
                break
            inner = re.sub(r"</?details>", "", t.group(2)).strip()
            m = re.match(r"<summary>Tool use: \*\*[^*]*\*\*\s*(.*?)</summary>(.*)", inner, re.S)
            title, out = (m.group(1).strip(" •\n"), m.group(2).strip()) if m else ("", inner)
            if not title and not out:
                continue
            n += 1
            arg = title
            p = re.match(r"Parameters:\s*```json\n(.*?)\n```\s*(.*)", out, re.S)
            k = re.match(r"```bash\n(.*?)\n```\s*(.*)", out, re.S)
            if p:
                arg, out = (title + "\n" + p.group(1)).strip(), p.group(2)
            elif k and t.group(1).startswith("run_terminal"):
                arg, out = k.group(1), k.group(2)
            use(rows, "call_%d" % n, t.group(1), html.unescape(arg), html.unescape(out).strip())
    return rows
