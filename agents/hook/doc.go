// Package hook answers the hooks of Claude Code, Codex, and Gemini CLI, and of the opencode plugin,
// for `ctxfs hook`. [Answer] gets the JSON that the host writes, records the conversation in a
// session of a mount, and writes the memory that the agent should know.
//
//	JSON → readInput (input.go) → Answer (hook.go)
//	  SessionStart                    → contextFor (context.go): the memory; after a resume only
//	                                    the part that the conversation lacks (told.go), after a
//	                                    compaction the omissions of its summary (omissions.go)
//	  PreCompact, PostCompact, Stop   → keep (later.go): imports the transcript
//	  PreCompress, AfterAgent         → the same for Gemini CLI
//	  BeforeAgent                     → Gemini CLI: the memory, once per conversation (gemini.go)
//	  SessionEnd                      → imports the transcript and marks the session done
//
// # Decisions
//
//   - Session of a hook: input.session (input.go): $CTXFS_SESSION, else the host's conversation
//     name.
//   - Text and size of the memory: context.go (maxContext, sections), package brief. After a
//     resume, only notes and pins that the conversation lacks: resumed (told.go).
//   - After a compaction: choice of the host's summary, and rules for an omission: omissions.go.
//   - Time limit: a hook waits for part of Options.Time (patience in hook.go). An import that takes
//     longer continues in its own process ([Work] in later.go, package jobs); the next hook reports
//     its failure.
//   - Names of events and programs: input.go.
//
// A hook uses the mount like an agent, and touches it only after the daemon has answered. Package
// jobs serializes imports of one transcript, so that no record is imported twice.
//
// # Files, from top to bottom
//
//	hook.go       Answer, one case per event
//	context.go    memory text for an agent
//	told.go       memory text that the conversation already contains
//	omissions.go  rules, decisions, and facts that the host's summary omits
//	later.go      imports, also after the answer
//	gemini.go     differences of Gemini CLI
//	input.go      input of a host: program, event, session, transcript
package hook
