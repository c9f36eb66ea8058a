// Package acts keeps what calls did to things that are not files: a changed reservation, a closed
// ticket, a sent message. [State.Apply] takes the next record; [State.Lines] returns a line for
// each act with what it changed. Package pack/journal shows the lines.
//
// # Where it is decided
//
//   - Which call is an act: state.go (State.after). A tool with a verb of reading or thinking in
//     its name (get, search, calculate) does not act, nor does a shell, a test, or a file tool.
//   - Which act replaces an earlier one (same tool, same object): state.go (State.with).
//   - Which object a call is about: object.go (idOf). Text of the line: state.go (State.after):
//     the values that differ from the newest earlier result about the object (object.go: changed).
//     A failed call, or a result that is no JSON object, gives the first line of the result.
//   - Limits: state.go (MaxActs), object.go (maxRead, maxLeaves). Length of the lines: lines.go.
//
// A State is a value; Apply does not change its receiver.
//
// # Files, from top to bottom
//
//	lines.go   line of each act
//	state.go   State and its acts
//	setting.go fields that a call sets, and whether a later call replaces them
//	object.go  values of a JSON object, and their differences
package acts
