// Package hook answers the hooks of Claude Code, Codex and Gemini CLI, and those of the plugin for opencode: it has the turn
// recorded in a session of a mount, and brings back to an agent what earlier work left.
//
// [Answer] is all of it. What a host writes and reads is JSON, by its public documentation; the event in it says what is
// to be done:
//
//	SessionStart                         a context: where the memory is, and what is in it; after a resume only what the
//	                                     conversation does not have
//	PreCompact, PostCompact, Stop        the transcript is imported
//	PreCompress, AfterAgent              the same, as Gemini CLI calls them
//	BeforeAgent                          of Gemini CLI: the context, where the conversation has none yet
//	SessionEnd                           the transcript is imported, and the session is done
//
// The session is the one of $CTXFS_SESSION, else it has the name that the host has for the conversation.
//
// # Promises
//
// A hook works through a mount alone, as the agent does, and touches none before its daemon has answered. It answers in
// time: an import that takes longer goes on in a process of its own ([Work]), one for each transcript, so that no
// record is imported twice and none is missed; what goes wrong there the next hook says. A context has fewer
// characters than a host shows, and stands between the marks of [ctxabi.Told].
//
// # Files, from top to bottom
//
//	hook.go     the answer
//	context.go  what an agent is told
//	told.go     what its conversation has of that
//	later.go    imports that go on behind the answer
//	gemini.go   what is otherwise in Gemini CLI
//	input.go    what a host writes, and which program and session it is about
package hook
