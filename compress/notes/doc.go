// Package notes derives notes from records: facts, decisions, items to do, files, and a summary.
// [Find] reads one record and returns its findings. A [State] folds findings in the order of the
// history into rows. Package pack/section stores the findings and folds them.
//
//	Record ─► OwnWords: without text that programs inserted             own.go
//	       ─► sentencesOf: sentences, items, printed and pasted lines   reader.go
//	       ─► phrases of phrases.txt ─► Finding                         find.go
//	Findings ─► State.Add: rows, newest first                           state.go
//
// # Where it is decided
//
//   - Which text is a sentence, and which is code, a quotation, or a paste: reader.go. Lines of
//     results: quotes.go (Quotes).
//   - Facts, which are sentences of the user: rules and preferences in rules.go (IsRule), values in
//     values.go.
//   - Decisions: decisions.go. Yes to a proposal: decisions.go (acceptance). Consent to a single act,
//     which is no decision: decisions.go (isChoice). Replies to question tools: replies.go.
//   - Which statements of the user a later one changes: changes.go, and its rules: changes.txt,
//     change_rules.go, change_runs.go (scripts without spaces). Nothing else decides that.
//   - Items to do: todo.go. Changes of files, and documents of the agent: files.go. Events: events.go.
//   - Whether a message of the user is a request, a reply, or idle: sense.go (SenseOf). Conclusions and
//     the user's words: said.go. Exact values of a summary: summary_values.go.
//   - How many rows stay: state.go. When stored findings are of no use: notes.go (FindVersion).
//
// Find knows only the one record, so its findings can be stored. Precision comes before recall: a
// sentence is taken verbatim or not at all. All phrases are in phrases.txt; they are mostly
// English and some German, and rules also have other languages.
//
// # Own code
//
// The bytes of a pack must not change with a model or a library, so rules over phrases are own
// code.
//
// # Files to read first
//
//	notes.go   records, findings, and their kinds
//	find.go    Find: one record
//	reader.go  sentences of a text
//	rules.go   standing rules, as an example of rules over phrases
//	state.go   State: rows from findings
package notes
