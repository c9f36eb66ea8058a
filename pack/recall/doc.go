// Package recall finds parts of old records that matter for the current request and that the pack
// does not show otherwise. Package pack gives a [Query] and a number of tokens; Passages and
// Answers return framed [Passage] values in the order of the records.
//
//	newest record is the user's ─► Query.Answers    question.go: units of all records
//	the agent works             ─► Query.Passages   recall.go: passages of compacted records
//	both ─► without lines that the pack shows       view.go, among.go
//
// # Where it is decided
//
//   - Whether the request or the agent's work is the query, and how many tokens recall gets:
//     pack/recall_block.go.
//   - Rank of passages while an agent works: recall.go (Query.rank). Window of old records:
//     index.go (recallWindow).
//   - Rank of answers to a request: question.go (answers.rank). Whether it is a question: units.go
//     (Asks).
//   - Question with its answer, call with its result: pairs.go. Units of a text: units.go.
//   - Whether a line is in the pack already: view.go; in zones: among.go. Whether the user changed
//     a statement: pack/journal/changed.go.
//   - Index of all terms: terms_fill.go builds it, terms_find.go searches it, terms_keep.go stores
//     blocks of 8192 records, terms_open.go holds the newest block.
//
// The index answers for each prefix of a history as one that was built from that prefix. It saves
// time and changes no result. [Terms] is safe for concurrent use; a [Memo] belongs to one
// goroutine.
//
// # Files to read first
//
//	recall.go    Query.Passages: passages while an agent works
//	question.go  Query.Answers: passages for a request
//	index.go     window of old records
//	terms.go     index of all records
//	view.go      lines that the pack shows already
package recall
