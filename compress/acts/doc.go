// Package acts keeps what calls did to things that are no files: a reservation that was changed, a
// ticket that was closed, a message that was sent. Each is one line with what it changed.
//
// A [State] is folded over records, of which it reads calls and results alone. A call acts if its tool's
// name has no verb of reading or thinking (get, search, calculate), and if it is no call of a shell, a test
// or a file. Of a result that is a JSON object the line has the values that differ from those of the newest
// earlier result about the same object, of any tool: what the call changed. Of another result it has the
// first line; of a call that failed, the reason. An act takes the place of an earlier one by the same tool on
// the same object.
//
// # Files, from top to bottom
//
//	lines.go   a line for each act
//	state.go   State
//	object.go  what a JSON object says, and what differs
package acts
