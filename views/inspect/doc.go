// Package inspect explains packs, for `ctxfs why`, `diff`, and `stats`, and for web and top: the
// place of each record, the differences of two packs, and the tokens of each part over time. It
// decides nothing about packs. A [Source] returns pack.md and pack.json of a moment, from a store
// ([FromStore]) or a mount ([FromMount]), and the records of both logs.
//
//	Source (source.go, mounted.go) → NewPack (pack.go, parts.go) → Pack
//	  → History.Why (why.go): place of a record and how it got there
//	  → History.Block (block.go): result for one block
//	  → Compare (diff.go): changes between two packs
//	  → Stats (stats.go, usage.go, calls.go): tokens, cache, and cost over time
//
// # Decisions
//
//   - A moment n is the pack of the first n records of messages.jsonl, with the files of today. A
//     record that arrives with message n is first in the pack at n.
//   - Cached tokens of a call: call, shared (calls.go). A call is an assistant record; its request
//     is the pack before it. The blocks and records before the footer that the preceding request
//     began with count as cached, the rest before the footer as written, the footer as fresh.
//   - Recorded token usage of a provider, and its match with packs that were read: usage.go
//     (History.Recorded). Calls and points in time
//     that a long session shows: evenly (calls.go).
//   - Forms of an address such as messages:57 or e12: ParseRecords (address.go).
//   - Places of records in pack.md: parts.go.
//   - A block is identified by its name and its range. Within an epoch each compaction appends
//     blocks that have the names of earlier ones and another range, its generation (generation.go).
//
// A missing record, block, moment, or pack is ctxabi.ErrNotFound, malformed input is
// ctxabi.ErrMalformed. All other errors come from the Source.
//
// # Files, from top to bottom
//
//	stats.go       tokens, epochs, and tools over time
//	usage.go       token usage that a provider recorded
//	why.go         place and path of a record
//	block.go       result for one block
//	calls.go       model calls and cache hits
//	diff.go        changes between two packs
//	generation.go  blocks that share a name
//	source.go      Source, packs of a store
//	mounted.go     packs of a mount
//	pack.go        one pack and its places
//	parts.go       pieces of pack.md
//	address.go     addresses of records
package inspect
