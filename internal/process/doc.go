// Package process identifies the agent process that works in a session.
//
// Hooks call [Record] when a session begins. It notes the process of the agent program by pid, start time, boot and pid namespace, so that
// neither a reused pid nor a pid of another machine or container is taken for it. Notes are files of the user, in "agents" next to the
// directory of package jobs; they go when the process has ended. An MCP server calls
// [Find], which returns the session of the agent process that started the server. A session is no longer active when its agent process
// has ended: [State] reports that, [Sweep] writes it.
//
// # Files, from top to bottom
//
//	session.go  sessions and their agent processes
//	process.go  processes and their parents
package process
