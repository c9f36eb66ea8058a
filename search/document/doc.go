// Package document is the searchable form of a record: its words, its role, and the tools of its
// calls or results. A [Reader] reads the records of one log as a [Document] each for package
// search.
//
// document.go decides which words of a record are indexed (Document.Terms), how JSON is unescaped
// (Document.words), and how a result gets the name of its tool (Reader.nameOf). A Document does not
// change. A Reader belongs to one goroutine. It fails with the error of a log that cannot be read.
//
// # Files, from top to bottom
//
//	document.go  Document, and the Reader of a log
package document
