// Package segment is the inverted index of some records of an owner's sessions, in one file that
// never changes, and its parts: runs of records of a log, the postings of terms, rows of the records.
//
// [Chunk] collects records and writes a segment of them, [Merge] writes one of several. [Open] reads
// the part of one that stays in memory; [Segment.Find] and [Cursor] read the postings of a term. [Scope] is
// which records count. All that is read is checked: a file that differs from what was written returns
// [ErrDamaged]. A chunk and a cursor are of one goroutine; a segment is safe for concurrent reading.
//
// # Files, from top to bottom
//
//	merge.go     several segments become one
//	chunk.go     records become a segment
//	verify.go    all of a segment, read
//	scope.go     which records count
//	cursor.go    the postings of one term
//	write.go     the form of a segment
//	segment.go   a segment, read
//	postings.go  which records have a term
package segment
