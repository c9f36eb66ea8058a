// Package mcp serves the Model Context Protocol for one session (`ctxfs mcp`): tools append, pack,
// search, why, read, and save_summary, the agent's memory, and resources. [Serve] gets a [Config] and one pair of
// streams, and returns when the client closes them. The server is a client of the mount and keeps
// no state of its own.
//
//	stdin → drain.go → frames.go (one message a line) → SDK → server.go
//	  → tool (tools.go, append.go, read.go) or resource (resources.go)
//	  → session.go, files of the mount → answer.go (size limit) → stdout
//
// # Decisions
//
//   - Session of a client: [Chosen] in session.go. Config.Session selects it when the client
//     introduces itself (server.go). The choice is final unless hooks of the client may still start
//     another session; then the first call that needs a session makes it final. If several sessions
//     are possible, such a call is refused. That call also creates the session's directory.
//   - Tools and their parameters: tools.go, append.go. Commands of the memory: package memory.
//   - Line numbers of appended records: find (append.go).
//   - Paths that read accepts: where (read.go). Size of an answer: Config.MaxAnswer, cut in
//     answer.go.
//   - Refusals: a tool error with the reason from context/errors.jsonl (append.go, read.go).
//     Protocol errors are for malformed messages only (frames.go).
//   - Calls after the end of input: answered for up to a minute (drain.go). Cancelled calls: await
//     (answer.go). Notices of changes: watch.go.
//
// # Files, from top to bottom
//
//	server.go     Config, Serve, introduction of a client
//	tools.go      tools
//	resources.go  resources and subscriptions
//	append.go     append of records
//	read.go       read of files
//	watch.go      changes of watched files
//	snippet.go    text about the memory for a system prompt
//	session.go    choice and files of the session
//	answer.go     form and size of answers
//	frames.go     messages, one a line
//	drain.go      end of the input
package mcp
