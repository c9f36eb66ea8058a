"""name: (repository, commit, path, converter, its arguments, (first, last) message or None)"""
TAU = "web/leaderboard/public/submissions/toolorchestra_nvidia_2025-12-02/trajectories/toolorchestra_retail_gpt-5_1trial.json"
GEM = ".gemini/tmp/f360e83f2bc3173b34efefec26cf967c5e109b1f4df8dd2354df956f383e7d08/chats/session-2026-01-30T06-08-7befeae5.json"
HISTORIES = {
    "penny-dashboard": ("pinion05/agent-complex-task", "80e23d89937559d6a63940d1f62c49bbc1bd785b", "sessions/03-raddit-dashboard-pr/session.jsonl", "pi", (), (1, 499)),
    "hate-corpus": ("FrancoBertoldiMariglio/conversacion-act1-pln", "294bfa97f075911f1e6cf077a22bddaf1c8fa68b", "session.jsonl", "claude", (), None),
    "proto-deps": ("victoryforphil/dark-factory", "65455d08a318249d4626917c438f22a03882e002", "docs/chats/opencode/session__kind-meadow__ses_39b9a333bffeVNXMK6bSZru9Uq.json", "opencode", (), None),
    "bhavana": ("ikihin/bhavana", "9dca1608970308ef3b1a780dd01f0b673fde4676", "claude-session.jsonl", "claude", (), None),
    "figma-page": ("metaphi-agent/figma-eval-010ac575-1280-41fe-be26-130311bef5ed-gemini_cli", "621398026d9337ec4435c8678f6343453e89a4dd", GEM, "gemini", (), None),
    "raveera": ("Krosss0001/rave-era-project", "0ffdd2ac55fa2e41f1fae7e12ecdb8dbb02fc4e1", "codex-session.jsonl", "codex", (), (140, 216)),
    "orders-desk": ("silas-blume/tau2-bench-thesis", "a6712dee40f6289dfc689e2fba8edc512b30887b", TAU, "tau2", (["33", "9", "59", "95", "108", "53"],), None),
    "provenance-lib": ("specstoryai/getspecstory", "210d6095c58e26c49ca8093789c491ebe8f28203", "specstory-cli/.specstory/history/2026-02-10_14-21-48Z-ok-read-at-docs.md", "specstory", (), None),
    "sql-adapters": ("BjornNordblom/pocketflow-text2sql-gui", "fa36619313c0eb9605ca446524c7c0b111af6b59", ".aider.chat.history.md", "aider", (), (80, 202)),
    "pointing-audit": ("open-hai/effect-of-offset-correction-and-cursor-on-mid-b3nz", "344a0db7e57b5599f6aae0117fbd3d76fb8b7731", "transcript.jsonl", "managed", (), (1, 130)),
    "subtitle-hunt": ("pinion05/agent-complex-task", "80e23d89937559d6a63940d1f62c49bbc1bd785b", "sessions/01-youtube-transcript-extraction/session.jsonl", "pi", (), (209, 352)),
}
