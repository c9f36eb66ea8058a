// Package recall finds the parts of old records that matter for what is asked now, and that the pack does not show otherwise.
//
// # Files, from top to bottom
//
//	recall.go  Query: passages that answer what is asked
//	memo.go    what a look reuses of those before
//	view.go    what stands in the pack already
//	index.go   the index of old records
package recall
