// Package process identifies the agent process that works in a session.
//
// Hooks call [Record] when a session begins. Record writes a note with the pid, start time, boot
// ID, and pid namespace of the agent program, so that a reused pid or a pid of another machine or
// container never matches. Notes are files of the user in the folder "agents" next to the directory
// of package jobs. A sweep removes the note of an ended process. An MCP server calls [Find] to get
// the session of the agent process that started the server. When the agent process of an active
// session has ended, [State] reports "idle", and [Sweep] writes that state to the session.
//
// # Files, from top to bottom
//
//	session.go  sessions and their agent processes
//	process.go  processes and their parents
package process
