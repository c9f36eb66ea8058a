#!/bin/sh
# Rebuilds the histories of the exam "files and current truth" from local clones of their sources.
#
#	fetch.sh CLONES OUT
#
# CLONES holds one clone for each source, CLONES/OWNER/NAME (bare or with a work tree). The commits
# are in the table of README.md. OUT gets one file NAME.jsonl for each history: one message a line
# in the form of OpenAI Chat. The script fails if a file differs from its recorded sum.
set -eu
[ $# -eq 2 ] || { echo "usage: fetch.sh CLONES OUT" >&2; exit 2; }
mkdir -p "$2"
python3 - "$1" "$2" <<'PY'
import json, os, re, subprocess, sys

clones, out = sys.argv[1:]
MINI = ("gruckion/mini-swe-agent", "d12a71affd95403b036b2bdbd827349b77bfffb9")
WISE = ("Sarthib7/FundWise", "0fdc6fdc19440e7e6d9ee3a3a51bb19c243a9b13")
HOG = ("leolin84200704/posthog-impact-dashboard", "3adbaa8f38f78e94c7e1824e587ec03f6fd4db46")
TAU = ("codesque16/tau2-mermaid", "6c0f8a540ce9c40173c376cf7c614b3e444af905")
LUNA = ("Liu-Ruotian/agentdojo-luna-trajectories", "c5b64f393cf0f77bf9cb99577b0aba27c51314a6")


def show(source, path):
    repo = os.path.join(clones, source[0])
    return subprocess.check_output(["git", "-C", repo, "show", source[1] + ":" + path], text=True)


def call(id, name, args):
    text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def mini(task):
    """A trajectory of mini-swe-agent: the command in the text becomes a call, its output a result."""
    path = "swebench_results/20251118_gemini-3-pro-74pct/trajs/%s/%s.traj.json" % (task, task)
    rows, pending = [], None
    for n, m in enumerate(json.loads(show(MINI, path))["messages"]):
        c = m["content"]
        text = c if isinstance(c, str) else "".join(p.get("text", "") for p in c)
        if m["role"] == "assistant":
            block = re.search(r"```bash\s*\n(.*?)\n```", text, re.S)
            row = {"role": "assistant", "content": text}
            pending = None
            if block:
                pending = "call_%d" % n
                row["content"] = (text[:block.start()] + text[block.end():]).strip()
                row["tool_calls"] = [call(pending, "bash", {"command": block.group(1)})]
            rows.append(row)
        elif m["role"] == "user" and pending:
            rows.append({"role": "tool", "tool_call_id": pending, "content": text})
            pending = None
        else:
            rows.append({"role": m["role"], "content": text})
    return rows


def plain(content):
    if isinstance(content, str):
        return content
    return "\n".join(p.get("text") or "[%s]" % p.get("type") for p in content or [])


def claude(source, path):
    """A session of Claude Code without thinking, attachments, and sub-agents."""
    rows, last = [], None
    for line in show(source, path).splitlines():
        try:
            r = json.loads(line)
        except ValueError:
            continue
        m = r.get("message")
        if not isinstance(m, dict) or r.get("isSidechain"):
            continue
        parts = m["content"]
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
                row = {"role": "assistant", "content": ""}
                rows.append(row)
            row["content"] = "\n".join(filter(None, [row["content"]] + said))
            if calls:
                row.setdefault("tool_calls", []).extend(calls)
            last = m.get("id")
            continue
        for p in parts:
            if p["type"] == "tool_result":
                rows.append({"role": "tool", "tool_call_id": p["tool_use_id"], "content": plain(p.get("content"))})
        said = [p["text"] for p in parts if p["type"] == "text"]
        if said:
            rows.append({"role": "user", "content": "\n".join(said)})
        last = None
    return rows


def luna(*cases):
    """Cases of one desk, one after another. All have the same system prompt."""
    rows = []
    for group, domain, task in cases:
        listing = subprocess.check_output(["git", "-C", os.path.join(clones, LUNA[0]), "ls-tree", "-r", "--name-only",
            LUNA[1], "runs/2026-07-18/%s/%s/" % (group, domain)], text=True).split()
        path = next(p for p in listing if "/%s/%s/poison_top1/" % (domain, task) in p)
        for m in json.loads(show(LUNA, path))["messages"]:
            c = m.get("content")
            text = c if isinstance(c, str) else "\n".join(p.get("content") or "" for p in c or [])
            if m["role"] == "system" and rows:
                continue
            row = {"role": m["role"], "content": text}
            calls = [call(t["id"], t["function"], t["args"]) for t in m.get("tool_calls") or []]
            if m["role"] == "assistant" and calls:
                row["tool_calls"] = calls
            if m["role"] == "tool":
                row["tool_call_id"] = m.get("tool_call_id") or m["tool_call"]["id"]
            rows.append(row)
    return rows


def retail(run, *tasks):
    """Customers of one desk, one after another."""
    rows = []
    for task in tasks:
        rows += claude(TAU, "results/%s/task_%d.jsonl" % (run, task))
    return rows


HISTORIES = {
    "mpl-log-image": lambda: mini("matplotlib__matplotlib-20488"),
    "pytest-scope": lambda: mini("pytest-dev__pytest-6202"),
    "django-defaults": lambda: mini("django__django-11433"),
    "django-rename-index": lambda: mini("django__django-15695"),
    "sphinx-comments": lambda: mini("sphinx-doc__sphinx-8593"),
    "fundwise": lambda: claude(WISE, "claude-session.jsonl"),
    "posthog-impact": lambda: claude(HOG, "claude-session.jsonl"),
    "retail-desk-a": lambda: retail("sonnet_run_complete_dataset", 55, 87, 42, 23, 102),
    "retail-desk-b": lambda: retail("haiku_run_complete_dataset", 16, 30, 78, 28, 72, 98),
    "campus-desk": lambda: luna(("codex2", "university", "t15"), ("codex2", "university", "t18")),
    "travel-desk": lambda: luna(("codex1", "airport", "t12"), ("codex2", "ecommerce", "t12"),
        ("codex1", "ticketing", "t12"), ("codex1", "logistics", "t03")),
    "services-desk": lambda: luna(("codex1", "telecom", "t09"), ("codex2", "saas", "t03"), ("codex1", "telecom", "t12")),
}
for name, build in HISTORIES.items():
    with open(os.path.join(out, name + ".jsonl"), "w", encoding="utf-8") as f:
        for row in build():
            f.write(json.dumps(row, ensure_ascii=False) + "\n")
PY
cd "$2"
sha256sum -c <<SUMS
e54c2514326b69536f905e928747c545b15cc17231257a247d1c30b6567f7a84  campus-desk.jsonl
5d0461a42b6acbe941da56b5d3ef2c8dd5bfe29be43d77aea0efb1e507cd8008  django-defaults.jsonl
5369dfd6f139725d2ae6ac6215b8ba150ab4492d22f71dd8d16f79712304aca0  django-rename-index.jsonl
722faaf0196af252def2ee9f113792d18af74b26299178c809af90358a2350c3  fundwise.jsonl
4c4390a8ce0cff697a14ae49fbd0223e25103df33faf2d782ae204d9231c817f  mpl-log-image.jsonl
5f5dd6f7adc484ae6e8da0bf0bd0b6fea54a21de0151338b17419a31c79cc393  posthog-impact.jsonl
eeae86a7765957818d15a146847febef30092832f307fe9aa52de7dc75d7557e  pytest-scope.jsonl
eff3e95c844cb9519c2c394cf9e8e89f96d11bbeeebd99f9919671b40323c957  retail-desk-a.jsonl
96f0492169ede7a3d86ce482c2617b1c06d52e285bb94e32455197d4c9bac230  retail-desk-b.jsonl
871c2d9618aee1c1e4fa6e0a7a33f566438b1e0edf8f215e6f2e009425822a6c  services-desk.jsonl
44f301164dea8ac6401d8215698eba8589a477def29f31ca4de0f42d9a9d8221  sphinx-comments.jsonl
4e9fb5c15fb7fdb946e9aacc19fe777eecf110d73e3f46992f89eceee2f5361b  travel-desk.jsonl
SUMS
