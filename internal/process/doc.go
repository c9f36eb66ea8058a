// Package process identifies the agent process that works in a session, so that a session of an
// ended agent shows as idle and an MCP server finds the session of the agent that started it.
//
//	hook at session start → Record → note: session, pid, start time, boot id, pid namespace
//	views, verbs          → State  → "idle" if the recorded process has ended
//	next hook             → Sweep  → writes "idle" to such sessions, removes the notes
//	MCP server            → Find   → active sessions of the agent process that started it
//
// # Decisions
//
//   - which ancestor is the agent program: agent and starters in process.go
//   - whether a process has certainly ended: ended in process.go. The start time, boot id, and pid
//     namespace prevent a match with a reused pid or another machine
//   - where notes are stored: notesDirs in session.go, the folder "agents" next to the directory of
//     package jobs. Only notes of the calling user count
//   - state of a session: State in session.go
//
// # Files, from top to bottom
//
//	session.go  sessions and their agent processes
//	process.go  processes and their parents
package process
