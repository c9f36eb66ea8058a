#!/usr/bin/env python3
"""build.py SOURCES OUT [NAME...]: writes the histories that the file SOURCES lists. CLONES names the folder with the clones.

SOURCES is a Python file with HISTORIES. A converter is a function of SOURCES, conv.py, or more.py.
"""
import json, os, runpy, sys
import conv, more

sources, out, names = sys.argv[1], sys.argv[2], sys.argv[3:]
sys.path.append(os.path.dirname(os.path.abspath(sources)))
listed = runpy.run_path(sources)
os.makedirs(out, exist_ok=True)
for name, (repo, commit, path, form, args, part) in listed["HISTORIES"].items():
    if names and name not in names:
        continue
    text = conv.show(repo, commit, path)
    f = listed.get(form) or getattr(conv, form, None) or getattr(more, form)
    rows = conv.pair(f(text, *args))
    if part:
        rows = rows[part[0] - 1:part[1]]
    with open(os.path.join(out, name + ".jsonl"), "w", encoding="utf-8") as w:
        for r in rows:
            w.write(json.dumps(r, ensure_ascii=False) + "\n")
    print(name, len(rows), conv.size(rows), sum(r["role"] == "user" for r in rows))
