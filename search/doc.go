// Package search finds records again by what they say. It promises:
//
//   - One index of all sessions of an owner, in the owner's internal directory: made when somebody asks, brought up to date by
//     what is new alone, rebuilt where it is lost or damaged. Appends and packs never wait for it. A session that is removed is
//     found no more from that moment on, and its words leave the files soon after.
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
//	session.go        one session, and what a search does about a damage
//	search.go         the hits
//	with.go           what belongs to a hit
//	rank.go           the order of the best records, and which of them are one hit
//	redaction.go      without secrets
//	match.go          the best records of all segments
//	walk.go           a walk over the postings
//	render.go         the answer as text
//	query.go          what is looked for
//
// Indexing:
//
//	check.go          the files of an index, checked
//	index_read.go     new records are read
//	index_build.go    the builder
//	tidy.go           segments are merged, and rid of removed sessions
//	save.go           what was read goes to the disk
//	changes.go        which sessions are not as they were
//	engine.go         the indexes in memory
//	index.go          the index of an owner
//	sessions.go       its sessions at one moment
//	manifest.go       what it consists of
package search
