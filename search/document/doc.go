// Package document holds the searchable form of a record: its words, its role and the tools of its calls
// or results. A [Reader] reads those of one log. Documents do not change; a reader is of one goroutine.
//
// # Files, from top to bottom
//
//	document.go  documents, and the reader of a log's
package document
