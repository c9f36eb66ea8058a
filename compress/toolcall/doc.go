// Package toolcall reads calls of tools and their results. [Open.Next] pairs the results of a
// record with their calls; the other functions say what one call does and how it ended. The sections
// of a prompt (pack/section) and package notes use it. All functions are pure.
//
// # Where it is decided
//
//   - Which result answers which call, and how many calls are open: pair.go (Open.Next, maxOpen).
//   - Script of a call: script.go (Script). Pipelines of a script, their directories and
//     here-documents: steps.go (Steps). Wrappers such as sudo and timeout: argv.go (Unwrapped).
//   - Files of a call and what it does to them: files.go (FileUses). It is the only reader of paths in
//     arguments, patches, and scripts.
//   - Whether a call succeeded, failed, was stopped, or was refused: ended.go (StatusOf,
//     TellsFailure, ObjectFails). Text that tools write around an output: ended.go (Body).
//   - Shortened arguments of earlier calls: arguments.go (Shortened).
//
// Steps splits a script at its separators and does not interpret it.
//
// # Files, from top to bottom
//
//	arguments.go  arguments, shortened
//	trees.go      directories and working trees that a script changes
//	files.go      files of a call
//	ended.go      end of a call
//	script.go     script of a call
//	steps.go      pipelines of a script
//	argv.go       wrappers of commands
//	pair.go       calls and their results
package toolcall
