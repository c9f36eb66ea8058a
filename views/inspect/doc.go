// Package inspect says what the packs of a session are and were: where each record stands and how it came there, what
// changed from one pack to another, and what tokens went into which part of it over time.
//
// It decides nothing. All that it says is read from pack.md and pack.json of the moments in question, which a [Source]
// gives: from a store, or from the files of a mount. Nothing is changed by looking.
//
// # Moments
//
// A moment is a number of messages: the pack at n is that of the first n records of messages.jsonl, with today's files. So a
// record that came with message n is first seen in the pack at n.
//
// # Errors
//
// Whoever asks for a record, a block, a moment or a pack that is not there gets ctxabi.ErrNotFound, and ctxabi.ErrMalformed for what is none.
// All other errors are those of the [Source]: of reading a store, or the files of a mount.
//
// # What a cache would give
//
// A model call is an assistant record; its request is the pack at the number of records before it. Of a request a provider
// with a prefix cache has the blocks and records in front of its footer with which the request before it began, too;
// that is cached, what else stands in front of the footer is written to the cache, and the footer is fresh.
//
// # Files, from top to bottom
//
//	stats.go    what packs were made of over time
//	usage.go    what a provider recorded beside it
//	why.go      where a record stands, and how it came there
//	block.go    what became of a block
//	calls.go    calls of a model, and what a cache has of them
//	diff.go     what changed from one pack to another
//	source.go   where packs and records come from: a store
//	mounted.go  a mount
//	pack.go     one pack, and the places in it
//	parts.go    pack.md, taken apart
//	address.go  the addresses of records
package inspect
