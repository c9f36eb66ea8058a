// Package runs keeps the last result of each command and of each call of another tool. It says
// "passed" or "failed" only if a status or the output says so; otherwise a command "ended", with its
// last line.
//
//	call and result ─► runOf: key, name, outcome       run.go (tools), command.go (shells)
//	output          ─► judge: passed, failed, or none  output.go
//	State.Apply     ─► replaces, closes, evicts        state.go
//	State.Lines     ─► lines for a prompt              state.go
//
// # Where it is decided
//
//   - Which calls are runs: cover.go (isQuiet), run.go (toolRun). Commands and tools that only read
//     or change files are listed only if they fail.
//   - Which result replaces an earlier one: run.key. For a command it contains its directory and its
//     text without filters of its output, for a tool the arguments that identify an object. Of a script
//     with tests, builds, or checks, only their command lines count (testLines).
//   - Which success ends the failure of another command: cover.go.
//   - Which line of an output is a result: output.go (rules).
//   - Which field a call sets that an earlier call set: setting.go.
//
// # Files, from top to bottom
//
//	state.go    State: last results, and their lines
//	setting.go  fields that a call sets
//	run.go      run of a call
//	command.go  run of a shell script
//	cover.go    commands that do more than others
//	output.go   what an output says
package runs
