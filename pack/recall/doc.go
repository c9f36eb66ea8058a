// Package recall finds the parts of old records that matter for what is asked now, and that the pack does not show otherwise.
//
// # Files, from top to bottom
//
//	question.go    what answers a request that came last
//	pairs.go       questions with answers, calls with results
//	recall.go      Query: passages that matter for an agent at work
//	units.go       parts of a record, and what a question asks for
//	memo.go        what a look reuses of those before
//	terms_find.go  the records that have the words of a question
//	terms_fill.go  how the index of all records is made
//	terms_keep.go  its blocks on the disk
//	terms_open.go  its newest block
//	terms.go       the index, and its blocks
//	view.go        what stands in the pack already
//	among.go       which lines stand in its zones
//	index.go       the index of the newest old records
package recall
