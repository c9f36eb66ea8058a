// Package hook answers the hooks of Claude Code and Codex: it has the turn recorded in a session of a mount, and brings
// back to an agent what earlier work left.
//
// [Answer] is all of it. What a host writes and reads is JSON, by its public documentation; the event in it says what is
// to be done:
//
//	SessionStart                         a context: where the memory is, and what is in it (context.go); after a resume
//	                                     only what the conversation does not have (told.go)
//	PreCompact, PostCompact, Stop        the transcript is imported
//	SessionEnd                           the transcript is imported, and the session is done
//
// The session is the one of $CTXFS_SESSION, else it has the name that the host has for the conversation.
//
// # Promises
//
// A hook works through a mount alone, as the agent does, and touches none before its daemon has answered. Of two hooks
// of one session one waits for the other, so that no record is imported twice. A context has fewer characters than a host
// shows. How long a host waits is the caller's business: Answer itself ends when its work is done.
package hook
