"""name: (repository, commit, path, converter, its arguments, (first, last) message or None)"""
from forms import cursor, cursor2, toolathlon

AVD = "projects/-home-cwtrocks-avd/sessions/2764ab64-a860-4e1a-a7be-cd583680b76b.jsonl"
BSC = ".specstory/history/2025-10-14_22-20Z-leia-o-plano-e-aguarde-instruções.md"
DESK = ["21", "35", "15", "20", "33", "23", "39", "22", "25"]
HISTORIES = {
    "airline-desk": ("WhissleAI/tau2-bench-w", "bfcb460d2b790a2c742cdc579bea9215409ec6e2", "results/whissle/airline_run1.json", "tau2", (DESK, True), None),
    "avd-root": ("austinweitao/claude-backup", "9fbf6756e58e9ad057efa25fc41ddce7d1b821bc", AVD, "claude", (), (1, 277)),
    "bsc-tests": ("hpm27/agente-bsc-rag", "e1ac36698c40e34932aa7681e393462d57a28ac1", BSC, "cursor", (), (1, 144)),
    "campaign-audit": ("shastrysamarth/01-campaign-audit", "ac173d0f58fe03c0fcebd6a9fe902db7b4a63b38", "transcript.jsonl", "claude", (), (1, 201)),
    "capital-game": ("w12z/Cap", "e0623713af23c1fe73b4b19beacb290f1839c4cc", "opencode-session.json", "opencode", (), (1, 279)),
    "faraday": ("Arjo67-tech/black-hole-faraday-reconstruction-", "cbca7de3a6ef1fdaa6f0bc6449b2ec6825d44d2c", ".aider.chat.history.md", "aider", (), None),
    "finance-groups": ("bhanu7410/personal_finance", "90ee8d2b7aa930c5f9f7984554ed6d60ebc3bc9e", "gemini_session.json", "gemini", (), (1, 182)),
    "finhealth-spec": ("VinayakHegde/customer-financial-health", "1450900d383de1214cb59ac8b532014b088a9000", ".specstory/history/2026-06-10_19-45-50Z-tech-spec.md", "cursor2", (), (1, 224)),
    "skill-paper": ("LHL3341/ResearchOS", "da5ff32dd51759a0f5e4441a604d9094e8832de6", "conversation.jsonl", "claude", (), (1, 193)),
    "travel-claims": ("WaitHZ/toolathlon-traj-website", "3bf7d62c650019de4508278a4637a3ca369c6a90", "trajs/claude-4.5-sonnet_travel-expense-reimbursement.json", "toolathlon", (), (1, 150)),
    "welpy": ("mode89/welpy", "bf53f7ff66d1b753b8758f89f9e958bf26209fc4", "session.jsonl", "pi", (), (1, 131)),
    "will-it-rain": ("AlexandreVassard/will-it-rain", "fd25cae8217485bbdd372cae37cee7f73fb2fbeb", "claude.jsonl", "claude", (), (1, 308)),
}
