// Package verdicts keeps the newest result of each command that decides something: a test, a build,
// an installation, a run of a program. [State.Apply] takes the next record; [State.Lines] returns a
// line for each verdict, with counts and failures. Package pack/journal shows the lines.
//
// # Where it is decided
//
//   - Which calls give a verdict, and how a call ended: state.go (State.after, verdictOf).
//   - Which verdict replaces an earlier one: state.go (Verdict.same, Verdict.includes). Which
//     success makes up for a failure: compress/notes (Action.Mends).
//   - Meaning of the output of test runners, compilers, package managers: rules.go (rules), each
//     with a line as its test; read by report.go (Read). Other lines of logs: [result.FailureLine].
//   - Order and length of the lines: lines.go. Number of verdicts: state.go (MaxVerdicts).
//
// A State is a value; Apply does not change its receiver. It reads only calls and results.
//
// # Files, from top to bottom
//
//	lines.go    line of each verdict
//	state.go    State and its verdicts
//	report.go   Read: tests and errors in an output
//	rules.go    formats of tools
//	first.go    rules by the first byte of a line
package verdicts
