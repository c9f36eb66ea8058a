#!/usr/bin/env python3
"""validate.py HISTORIES QUESTIONS: checks the form of histories and questions, and lists words of a proof that its messages lack."""
import collections, glob, json, os, re, sys

hist, quest = sys.argv[1:3]
bad, total, old_all, old_any, kinds, changed = 0, 0, 0, 0, collections.Counter(), 0


def fail(*a):
    global bad
    bad += 1
    print("FAIL", *a)


def text(r):
    return r["content"] + "\n" + "\n".join(c["function"]["name"] + " " + c["function"]["arguments"] for c in r.get("tool_calls", []))


def size(r):
    return len(r["content"]) + sum(len(c["function"]["arguments"]) for c in r.get("tool_calls", []))


for path in sorted(glob.glob(os.path.join(quest, "*.exam.json"))):
    exam = json.load(open(path, encoding="utf-8"))
    name = exam["history"]
    rows = [json.loads(l) for l in open(os.path.join(hist, name + ".jsonl"), encoding="utf-8")]
    open_calls, seen = [], set()
    for n, r in enumerate(rows, 1):
        if r["role"] not in ("system", "user", "assistant", "tool") or not isinstance(r["content"], str):
            fail(name, n, "role or content")
        if "ts" in r and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", r["ts"]):
            fail(name, n, "ts", r["ts"])
        if r["role"] == "tool":
            if r["tool_call_id"] not in open_calls:
                fail(name, n, "result without a preceding call")
            else:
                open_calls.remove(r["tool_call_id"])
            continue
        if open_calls:
            fail(name, n, "calls without result", open_calls)
            open_calls = []
        for c in r.get("tool_calls", []):
            if r["role"] != "assistant" or c["id"] in seen:
                fail(name, n, "call", c["id"])
            json.loads(c["function"]["arguments"])
            seen.add(c["id"])
            open_calls.append(c["id"])
    cut = exam["cut"]
    if not 0.8 * len(rows) <= cut <= len(rows):
        fail(name, "cut", cut, len(rows))
    if cut < len(rows) and rows[cut]["role"] == "tool":
        fail(name, "cut splits a call")
    acc, border = 0, cut
    while border and acc + size(rows[border - 1]) <= 14000:
        acc += size(rows[border - 1])
        border -= 1
    ids = set()
    for q in exam["questions"]:
        total += 1
        if q["id"] in ids or not q["must"] or not q["records"] or q["kind"] not in "goal rule decision value state tried open why".split() or not isinstance(q["changed"], bool):
            fail(name, q["id"], "form")
        ids.add(q["id"])
        if any(not 1 <= r <= cut for r in q["records"]):
            fail(name, q["id"], "records", q["records"])
            continue
        proof = "\n".join(text(rows[r - 1]) for r in q["records"])
        flat = re.sub(r"[,\\ ]", "", proof).lower()
        for w in re.findall(r"[\w#./@:-]*[\d_/#][\w#./@:-]*", q["reference"]):
            w = re.sub(r"[,\\ ]", "", w.strip(".:-/")).lower()
            if len(w) >= 3 and w not in flat:
                print("look", name, q["id"], w, q["records"])
        old_all += all(r <= border for r in q["records"])
        old_any += any(r <= border for r in q["records"])
        changed += q["changed"]
        kinds[q["kind"]] += 1
print("questions", total, "all proofs old", old_all, "some proof old", old_any, "changed", changed, dict(kinds), "failures", bad)
sys.exit(bad > 0)
