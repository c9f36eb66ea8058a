#!/usr/bin/env python3
"""build.py OUT [NAME...]: writes the histories. CLONES names the folder with the clones."""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import conv, more
from sources import HISTORIES

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
for name, (repo, commit, path, form, args, part) in HISTORIES.items():
    if sys.argv[2:] and name not in sys.argv[2:]:
        continue
    text = conv.show(repo, commit, path)
    f = getattr(conv, form, None) or getattr(more, form)
    rows = conv.pair(f(text, *args))
    if part:
        rows = rows[part[0] - 1:part[1]]
    with open(os.path.join(out, name + ".jsonl"), "w", encoding="utf-8") as w:
        for r in rows:
            w.write(json.dumps(r, ensure_ascii=False) + "\n")
    print(name, len(rows), conv.size(rows), sum(r["role"] == "user" for r in rows))
