// Package toolcall reads calls of tools and their results. [Open.Next] pairs the results of a
// record with their calls; the other functions say what one call does and how it ended. Packages
// ledger, verdicts, acts, and notes use it. All functions are pure.
//
// # Where it is decided
//
//   - Which result answers which call, and how many calls are open: pair.go (Open.Next, maxOpen).
//   - Script of a call: script.go (Script). Wrappers such as sudo and timeout: argv.go (Unwrapped).
//   - Effect of a tool on a file, by its name: file.go (FileAct).
//   - Whether a call succeeded, failed, was stopped, or was refused: ended.go (StatusOf, HowEnded,
//     End.Failed).
//   - Shortened arguments of earlier calls: arguments.go (Shortened).
//   - Text that tools write around an output: frame.go (Body).
//
// # Files, from top to bottom
//
//	pair.go    calls and their results
//	script.go  script of a call
//	argv.go    wrappers of commands
//	file.go    effect of a tool on a file
//	ended.go   end of a call
//	frame.go   frames around outputs
//	arguments.go   arguments, shortened
package toolcall
