// Package eval measures packs without a model, for `ctxfs eval`. [Run] gets sessions ([Load]) and
// [Options], replays each session, builds packs at cuts through it, and compares them with the
// messages that the agent wrote next. docs/eval.md defines each figure.
//
//	Load (load.go, set.go) → Session → Run (run.go) → replay.run (replay.go)
//	  → cuts: the agent speaks next, and the history exceeds the budget
//	  → Method.Pack (method.go: compiled.go for ctxfs, baselines.go for the others)
//	  → state.go (cost), past.go (identifiers needed next), prefix.go, outputs.go, questions.go
//	  → means over cuts, then over sessions (run.go) → Result.WriteMarkdown (report.go)
//
// # Decisions
//
//   - Methods: makers (method.go). All get the same history, the same rendered records, and exact
//     token counts, so that only the selection differs.
//   - Cuts: cuts, ahead (replay.go); the next five messages of the agent show its needs.
//   - Identifiers and words: words.go. A word is a run of letters, digits, and / . _ : @ # -. An
//     identifier has 4 to 120 characters and a mark, a letter with a digit, or camelCase; or at
//     least three digits without letters.
//   - Context of an identifier: lines.go. It is kept in a line with at least three fifths of the
//     words of one of its earlier lines, and little else. A line of one word counts with the line
//     before.
//   - Arguments of calls are unescaped first; in other text an escape ends a word: escapes.go.
//   - Half of the sessions to tune by and half to judge by: stretches.go.
//   - Recall of derived notes: RunDerived (derived.go), with planted phrases of
//     derived_phrases.txt.
//   - Files that count as a session: load.go; one session with questions: set.go.
//
// Package exam asks readers. Tests in floors_test.go hold the lower bounds of the figures.
//
// The verb eval is in eval/cli.
//
// # Files to read first
//
//	run.go       Options, Run, Result
//	replay.go    one session, cut by cut
//	method.go    Method and the list of methods
//	compiled.go  packs of ctxfs
//	lines.go     comparison of lines
package eval
