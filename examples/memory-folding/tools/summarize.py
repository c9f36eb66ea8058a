#!/usr/bin/env python3
"""Fold the old part of a session into a short memory, on standard output.

The session is the directory that CTX_SESSION names. An iteration is one answer
of the assistant with the results of its calls, and before it what the user said;
the last --keep of them are left to the journal, what is before them is folded:

    Requests   each message of the user, one line
    Decisions  each sentence that begins with "Decision:"
    Files      what was written or edited, in order of the first time
    Trouble    results that speak of a failure, one line

Every line ends in the number of its record: context/line/12 has it in full.
The same history gives the same bytes. A record that looks strange is skipped.
"""
import argparse
import json
import os
import re
import sys

WIDTH = 160  # characters of a line at most


def records(path):
    """Yield (number, record) of a log, leaving out what is not an object."""
    try:
        log = open(path, encoding="utf-8", errors="replace")
    except OSError:
        return
    with log:
        for number, line in enumerate(log, 1):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                yield number, record


def text(record):
    """All text of a record: a string, or the text parts of a list."""
    content = record.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (p if isinstance(p, str) else p.get("text") if isinstance(p, dict) else None for p in parts)
    return "\n".join(t for t in texts if isinstance(t, str))


def calls(record):
    """Yield (name, arguments) of a record's tool calls; arguments is a dict."""
    listed = record.get("tool_calls")
    for call in listed if isinstance(listed, list) else []:
        if not isinstance(call, dict):
            continue
        inner = call.get("function") if isinstance(call.get("function"), dict) else call
        arguments = inner.get("arguments")
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                arguments = None
        yield str(inner.get("name")), arguments if isinstance(arguments, dict) else {}


def short(s):
    s = " ".join(s.split())
    return s if len(s) <= WIDTH else s[: WIDTH - 1].rstrip() + "…"


def old_part(log, keep):
    """The records before the last `keep` iterations, counted as the journal counts
    them: the last message of the user begins one before it is answered."""
    if keep == 0:
        return log
    begins, asked = [], False
    for i, (_, record) in enumerate(log):
        role = record.get("role")
        if role == "user" or role == "assistant":
            if not asked:
                begins.append(i)
            asked = role == "user"
    return log[: begins[-keep]] if len(begins) > keep else []


def fold(old):
    requests, decisions, trouble, files = [], [], [], {}
    for number, record in old:
        role, said = record.get("role"), text(record)
        if role == "user" and said.strip():
            requests.append(f"- {short(said)} ({number})")
        elif role == "assistant":
            for sentence in re.findall(r"(?:^|(?<=[.!?\s]))Decision: *(\S[^\n]*)", said):
                decisions.append(f"- {short(sentence)} ({number})")
            for name, arguments in calls(record):
                path = arguments.get("path")
                if isinstance(path, str) and re.search("write|edit|create|patch", name):
                    files.setdefault(path, number)
        elif role == "tool":
            for line in said.splitlines():
                if re.search(r"\b(FAILED|[A-Za-z]*Error|panic|fatal)\b", line):
                    trouble.append(f"- {short(line)} ({number})")
    changed = [f"- {short(path)} ({number})" for path, number in files.items()]
    return [("Requests", requests), ("Decisions", decisions), ("Files", changed), ("Trouble", trouble)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keep", type=int, default=5, help="how many iterations are not folded")
    parser.add_argument("--lines", type=int, default=20, help="the newest lines of each part that are kept")
    args = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")

    log = list(records(os.path.join(os.environ.get("CTX_SESSION", "."), "messages.jsonl")))
    old = old_part(log, max(0, args.keep))
    if not old:
        print("Nothing is long ago yet.")
        return
    print(f"What happened in records 1 to {old[-1][0]}. Any of them in full: context/line/NUMBER.")
    for title, lines in fold(old):
        if lines:
            print(f"\n{title}:")
            print("\n".join(lines[-max(1, args.lines):]))


if __name__ == "__main__":
    main()
