// Package verdicts keeps the newest result of each command that decides something: a test, a build, an
// installation, a run of a program. Each is one line with its counts and what failed.
//
// A [State] is folded over records, of which it reads calls and results alone. A verdict takes the place of
// an earlier one of the same command, and of one that it includes; one that failed is mended when a
// later run of the same program on the same target, or of more, succeeds ([notes.Action.Mends]).
// [Read] reads what test runners, compilers and package managers print; its rules stand in a table
// (rules.go), each with a line that it is for, which are its tests. What the lines of logs say otherwise is
// decided by [result.FailureLine].
//
// # Files, from top to bottom
//
//	lines.go    a line for each verdict
//	state.go    State
//	report.go   Read
//	rules.go    what tools print
//	first.go    what a line begins with
package verdicts
