// Package search finds records again by what they say. It promises:
//
//   - An index of each session's records, in .ctxfs/search of the session: made when somebody asks, brought up to date by what is new alone,
//     rebuilt where it is lost or damaged. Appends and packs never wait for it.
//   - Ranked excerpts, word by word, each with the record it stands in, within a number of tokens.
//   - The same for all sessions of an agent and of an owner, and never for those of another owner.
//
// Searches fail with ctxabi.ErrMalformed when the query is wrong, with the error of the context when that ends, and with ctxabi.ErrIO when the
// records cannot be read. An index that is damaged, or not made yet, is no error: the [Result] says what was not looked at.
//
// # Files, from top to bottom
//
// Looking:
//
//	owner.go          all sessions of an owner
//	search.go         one session
//	match.go          the best records of all segments
//	walk.go           a walk over the postings
//	cursor.go         the postings of one term
//	render.go         the answer as text
//	with.go           what belongs to a hit
//	rank.go           the order of the best records, and which of them are one hit
//	redaction.go      without secrets
//	query.go          what is looked for
//
// Indexing:
//
//	forget.go         an index that is removed
//	check.go          the files of an index, checked
//	index_build.go    an index is made and saved
//	index_read.go     the newest records
//	merge.go          several segments become one
//	chunk.go          records become a segment
//	engine.go         the indexes in memory
//	index.go          the index of a session
//	manifest.go       what it consists of
//	segment_write.go  the form of a segment
//	segment.go        a segment, read
//	postings.go       which records have a term
//	text.go           what of a record is found
package search
