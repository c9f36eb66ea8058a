// Package notes derives notes from records: facts, decisions, items to do, files, and a summary.
// [Find] reads one record and returns its findings. A [State] folds findings in the order of the
// history into rows. Package pack/section stores the findings and folds them.
//
//	Record ─► OwnWords: without text that programs inserted     own.go
//	       ─► prose: sentences and list items                   prose.go, clauses.go
//	       ─► rules by phrases of phrases.txt ─► Finding        find.go, facts.go, decisions.go
//	Findings ─► State.Add: replace, accept, bound ─► rows       state.go, rows.go, bound.go
//
// # Where it is decided
//
//   - Statements of a sentence: facts.go (rules, preferences, permissions), values.go and
//     statements.go (values). Choices and proposals: decisions.go. Yes to a proposal:
//     acceptance.go. Consent to a single act, which is no rule: consent.go.
//   - Items to do: todo.go (lists and words), tasks.go (numbered items). Replies to question tools:
//     replies.go.
//   - Sentences without a statement (questions, guesses, quotations, code, logs): clauses.go,
//     prose.go.
//   - Which statements of the user a later one changes: changes.go, and its rules: change_rules.go,
//     change_runs.go (scripts without spaces). Nothing else decides that. How many rows stay:
//     bound.go.
//   - Changes of files: files.go, touched.go. Statements of events: events.go.
//   - Whether a message of the user is a request, a reply, or idle: sense.go (SenseOf). Sentences
//     that zones show: said.go. Standing rules: standing.go (IsRule).
//   - When stored findings are of no use: notes.go (FindVersion).
//
// Find knows only the one record, so its findings can be stored. Precision comes before recall: a
// sentence is taken verbatim or not at all. Phrases are mostly English and some German; other
// languages have no findings. Each rule in a table has an example and a counterexample, which are
// its tests.
//
// # Own code
//
// The bytes of a pack must not change with a model or a library, so rules over phrases are own
// code.
//
// # Files to read first
//
//	notes.go  records, findings, and their kinds
//	find.go   Find: one record
//	state.go  State: rows from findings
//	facts.go  rules for facts, as an example of a table
//	prose.go  sentences of a text
package notes
