// Package recall finds parts of old records that matter for the current request and that the pack
// does not show otherwise. Package pack gives a [Query] and a number of tokens; Query.Passages
// returns framed [Passage] values in the order of the records.
//
//	request, newest records ─► Terms.find: best records of the whole history   terms_find.go
//	best records ─► units by score                                             turn.go, units.go
//	units ─► passages that the pack lacks, with the other half of each         choose.go, pairs.go
//
// # Where it is decided
//
//   - Number of tokens: pack/recall_block.go. Text that is searched for, and how often a search takes
//     place: recall.go (Query.ranking, Query.textUpTo).
//   - Rank of records: terms_find.go (gainOf). Rank of their units: recall.go (ranking.rank),
//     turn.go (turn.score). Share of the best score below which a unit is omitted: recall.go
//     (answerShare).
//   - Whether a request is a question: units.go (Asks). Units of a text: units.go (unitsOf).
//   - Question with its answer, call with its result: pairs.go.
//   - Whether the pack shows a line: view.go. Whether a later write replaced the content: choose.go
//     (chooser.isReplaced). Whether the user changed a statement: pack/journal/changed.go.
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
//	recall.go       Query.Passages: search and ranking
//	pairs.go        question with its answer, call with its result
//	choose.go       parts of records that the pack lacks
//	view.go         lines that the pack shows already
//	turn.go         a record that may be recalled
//	units.go        units of a text
//	memo.go         index, last search, and journal of a former pack
//	terms_find.go   search in the index of all records
//	terms_fill.go   construction of the index
//	terms.go        Terms: index of all records
//	terms_block.go  one block of the index, and its file
package recall
