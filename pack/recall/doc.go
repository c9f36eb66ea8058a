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
//   - Whether a line is in the pack already: view.go; in zones: among.go. Whether a later write
//     replaced the content: index.go (Query.isReplaced). Whether the user changed a statement:
//     pack/journal/changed.go.
//   - Index of all terms: terms_fill.go builds it, terms_find.go searches it. A block of 32 to 8192
//     records is a segment of the search index, which terms_block.go stores and merges. When records
//     are indexed: pack/builder/room.go (indexAhead).
//
// The index answers for each prefix of a history as one that was built from that prefix. It saves
// time and changes no result. [Terms] is safe for concurrent use; a [Memo] belongs to one
// goroutine.
//
// # Files, from top to bottom
//
//	question.go     Query.Answers: passages for a request
//	pairs.go        question with its answer, call with its result
//	recall.go       Query.Passages: passages while an agent works
//	memo.go         what one pack reuses of the packs before it
//	view.go         lines that the pack shows already
//	terms_find.go   search in the index of all records
//	terms_fill.go   construction of the index
//	terms.go        Terms: index of all records
//	terms_block.go  one block of the index, and its file
//	index.go        window of old records
//	among.go        lines in texts that join several
//	units.go        units of a text
package recall
