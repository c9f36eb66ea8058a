#!/usr/bin/env python3
"""sample.py PACKS N SEED: N statements of the compacted content of prompts.

PACKS is a folder of pack.md files. Each output line is a JSON object: n, pack, label, block, and
text. A statement is one line below a label: a list item, a folded record, or a quoted line; or a
line that counts omitted records.
"""
import json, os, random, re, sys

folder, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
mark = re.compile(r"^\[ctxfs \d+: (.*)\]$")
found = []
for name in sorted(os.listdir(folder)):
    label, block, head = "", "", ""
    for line in open(os.path.join(folder, name), encoding="utf-8").read().split("\n"):
        if m := mark.match(line):
            label = "" if m[1] == "end" else m[1].split(".")[0]
            block = head = ""
            continue
        if line.startswith("# Context Block: "):
            block, head = line[17:], ""
            continue
        if line.startswith("# Day: ") or not line.strip():
            continue
        omitted = re.match(r"## \S+ left out: ", line)
        if not label and not omitted:
            continue
        text = line
        if block.startswith("key lines"):
            if line.startswith("["):
                head = line.split("]")[0] + "]"
            elif head:
                text = head + line
        found.append({"pack": name[:-3], "label": label, "block": block, "text": text})
random.Random(seed).shuffle(found)
for n, statement in enumerate(found[:count], 1):
    print(json.dumps({"n": n, **statement}, ensure_ascii=False))
