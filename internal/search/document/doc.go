// Package document is a record as far as it can be found: its words, who says it, which tools it has to
// do with. A [Reader] reads those of one log. Documents do not change; a reader is of one goroutine.
//
// # Files, from top to bottom
//
//	document.go  documents, and the reader of a log's
package document
