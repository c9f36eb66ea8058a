// Package runs keeps the last result of each command and of each call that acts outside of the
// workspace. It says "passed" or "failed" only if a status or the output says so; otherwise a
// command "ended", with its last line.
//
//	call and result ─► runOf: key, name, outcome       run.go (commands command.go, tools tool.go)
//	output          ─► judge: passed, failed, or none  judge.go, with rules.go and counts.go
//	State.Apply     ─► replaces, closes, evicts        state.go
//	State.Lines     ─► lines for a prompt              lines.go
//
// # Where it is decided
//
//   - Which calls are runs: command.go (classOf), tool.go (isReading). Commands that only read or
//     move files count only if they fail.
//   - Which look-ups are shown: tool.go (isLookUp). A call that changes the object removes the
//     look-up: state.go (run.changes). Look-ups have the lowest priority for tokens.
//   - Which result replaces an earlier one: run.key. The command line as written, its directory, and
//     no filter of its output belong to it; for a tool the arguments that identify an object.
//   - Which success ends the failure of another command: command.go (command.covers).
//   - Which line of an output is a result, and which one is a reason: rules.go, one example and one
//     counterexample for each rule.
//   - Which fields of a JSON result are shown: fields.go, by the classes of package result. Which
//     call overwrites the fields that an earlier call set: setting.go.
//
// # Files, from top to bottom
//
//	lines.go    lines for a prompt
//	state.go    State: last results, and what ends a failure
//	run.go      run of a call
//	command.go  command line that a script is for
//	setting.go  fields that a call sets
//	tool.go     calls of other tools
//	judge.go    what an output says
//	rules.go    lines of results and failures
//	counts.go   figures of summaries
//	fields.go   fields of JSON results
package runs
