// Package segment is one file of the inverted index: the postings of some records of an owner's
// sessions. A segment never changes. [Chunk] collects records and writes a segment, [Merge] writes
// one of several. [Open] reads the part that stays in memory; [Segment.Find] and [Cursor] read the
// postings of a term. Package pack/recall uses segments for the records of one session.
//
// # Where it is decided
//
//   - Format of the file: write.go. Format of postings and size of a block: postings.go (blockLen).
//   - Order of the records in a segment: chunk.go (Chunk.order): the log that grew last first, its
//     newest record first.
//   - When segments are merged: merge.go (Due, FanIn). Omitted by a merge: runs that its
//     argument keep rejects.
//   - Which records count in a search: scope.go (Scope). Which blocks a walk skips: cursor.go
//     (Cursor.Pass, Cursor.Bound).
//   - When a file is damaged: segment.go (ErrDamaged, checksums on every read), verify.go (whole
//     file).
//
// A chunk and a cursor belong to one goroutine. A segment is safe for concurrent reading.
//
// # Files, from top to bottom
//
//	merge.go     merge of several segments
//	chunk.go     records on the way to a segment
//	verify.go    check of a whole segment
//	scope.go     records that count
//	cursor.go    postings of one term
//	write.go     format and writer
//	segment.go   reader
//	postings.go  format of postings
package segment
