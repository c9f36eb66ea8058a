// Package mcp lets a program that speaks the Model Context Protocol use a
// session: append, pack, search, why, read, and the agent's memory. It is a
// client of the mount like any other: it reads and writes files, and what the
// files refuse it refuses, with the reason that they give.
//
// # What it promises
//
//   - One server speaks to one client, over one pair of streams ([Serve]), and
//     ends when the client closes them. It keeps nothing: whatever other
//     programs do to the session, through files or through a server of their
//     own, is seen by the next call.
//   - A call that is refused is a tool error whose text says what was wrong and
//     what to do; of files it is the row of context/errors.jsonl. The protocol's
//     own errors are left for calls that are none.
//   - What was appended is known by its line numbers, whoever else appends at
//     the same time. Of several records those before a refused one are kept, and
//     the error says which.
//   - A model reads the whole answer whether its host passes on the text, or in
//     its place the structure where there is one. Where nothing is there, words say so.
//   - An answer has a bounded size ([Config.MaxAnswer]); what is cut off is named
//     by the call that reads on, and by the path of the file.
//   - A call that was cancelled is given up at once.
//
// # The session
//
// [Config.Session] selects it when the client introduces itself. The choice is final until the
// server ends, unless hooks of the client may still start another session ([Chosen.Told]): then the
// first call that uses a session makes the choice final. If several sessions are possible, the
// server refuses such a call and keeps the choice open. The first call that needs the session
// creates its directory, so a client that only lists the tools creates nothing.
//
// # Files, from top to bottom
//
//	server.go     the server and its client
//	tools.go      the tools
//	resources.go  the resources
//	append.go     records from a client
//	read.go       files for a client
//	watch.go      who waits for a file that changes
//	snippet.go    what an agent is told of its memory
//	session.go    the session's files
//	answer.go     the shape of answers
//	frames.go     messages line by line
//	drain.go      the end of the input
package mcp
