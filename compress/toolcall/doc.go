// Package toolcall reads calls of tools and their results. [Open.Next] pairs the results of a
// record with their calls; the other functions say what one call does and how it ended. The sections
// of a prompt (pack/section) and package notes use it. All functions are pure.
//
// # Where it is decided
//
//   - Which result answers which call, and how many calls are open: pair.go (Open.Next, maxOpen).
//   - Script of a call: script.go (Script). Pipelines of a script, their directories and
//     here-documents: steps.go (Steps). Wrappers such as sudo and timeout: argv.go (Unwrapped).
//   - Effect of a tool on a file, by its name: file.go (FileAct). Files of a patch: patch.go
//     (PatchedFiles).
//   - Whether a call succeeded, failed, was stopped, or was refused: ended.go (StatusOf,
//     TellsFailure).
//   - Shortened arguments of earlier calls: arguments.go (Shortened).
//   - Text that tools write around an output: frame.go (Body).
//
// Steps splits a script at its separators and does not interpret it.
//
// # Files, from top to bottom
//
//	pair.go    calls and their results
//	script.go  script of a call
//	steps.go   pipelines of a script
//	argv.go    wrappers of commands
//	file.go    effect of a tool on a file
//	patch.go   files of a patch
//	ended.go   end of a call
//	frame.go   frames around outputs
//	arguments.go   arguments, shortened
package toolcall
