package blocks

// A little agent's home, for tests of what is chosen from it.

func homeFile(path, data string) File { return File{Path: path, Data: []byte(data)} }

func sampleKnowledge() []File {
	return []File{
		homeFile("knowledge/auth.md", `# Authentication

The gateway issues JWTs that live for one hour.

## Token refresh

Clients call POST /v1/token/refresh with the refresh token. The server answers 401
when it expired; then the user must log in again.

`+"```go\nclient.refreshToken(ctx)\n```"+`

## Sessions

Sessions are stored in Redis under sess:<id>, for 30 days.
`),
		homeFile("knowledge/deploy.md", `---
title: How we deploy
tags: [release, kubernetes, rollback]
---
# Deployment

We deploy with Helm from the main branch. A rollback is:

`+"```sh\nhelm rollback api 1\n```"+`

## Migrations

Database migrations run by hand, before the deployment: make migrate ENV=prod.
`),
		homeFile("knowledge/billing.md", "# Billing\n\nInvoices are made on the first of each month by cron job invoice-run.\n\nAmounts are integers in cents; never use floats.\n"),
		homeFile("knowledge/frontend.md", "# Frontend\n\nComponents live in web/src/components. Use the Button of the design system.\n\nState is kept in Zustand stores.\n"),
		homeFile("knowledge/日本.md", "# 日本語\n\n請求書は毎月一日に作成されます。\n"),
		{Path: "knowledge/broken.bin", Reason: "it is not text"},
		homeFile("knowledge/empty.md", " \n"),
	}
}

func sampleMemory() []File {
	return []File{
		homeFile("memory/MEMORY.md", "# What to remember\n\n- The user prefers tabs over spaces.\n- Never push to main without asking.\n- The staging database is shared; ask before migrations.\n- Tests of the billing service need Docker.\n"),
		homeFile("memory/user.md", "---\nname: user\ndescription: who the user is\n---\n\nAda is the maintainer of the auth service. She reviews in the mornings.\n"),
		homeFile("memory/2026-03-retry.md", "In March the token refresh failed daily, because the gateway closes idle connections.\n\nThe fix was to retry once with a new connection.\n"),
	}
}

func samplePlaybooks() []File {
	return []File{
		homeFile("playbooks/bugfix.md", "---\nwhen: something fails or a bug is reported\n---\n1. Reproduce it with a failing test.\n2. Fix it.\n3. Run all tests.\n"),
		homeFile("playbooks/release.md", "---\nwhen: a version is released\ntriggers: [cut a release, publish version]\n---\n1. Update CHANGELOG.md.\n2. Tag the commit.\n"),
		homeFile("playbooks/migration.md", "# Changing the database\n\nWrite the migration, run it on staging, then deploy.\n"),
	}
}

func sampleSkills() []File {
	return []File{
		homeFile("skills/review/SKILL.md", "---\nname: go-review\ndescription: Reviews Go code\n---\n# Review\n\nLook for races first.\n"),
		homeFile("skills/review/checklist.md", "Is not a skill itself.\n"),
		homeFile("skills/pdf.md", "Use pdftotext.\n"),
		homeFile("skills/always.md", "---\nalways: true\n---\nAnswer in English.\n"),
		homeFile("skills/off.md", "---\nactive: false\n---\nNever shown.\n"),
		homeFile("skills/notes.json", "{}"),
	}
}
