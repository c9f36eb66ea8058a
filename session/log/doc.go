// Package log implements the append-only logs of a session: messages.jsonl and events.jsonl, with
// their arrival rows and their index. A writer gives bytes of one open handle and gets whole
// records committed; a reader gets committed bytes, an index of the records, and a timeline of both
// logs.
//
//	s := log.NewStage(writer)      // of one open handle
//	n, err := s.Write(ctx, p, 0, true, key)
//	ix, err := log.Index()         // a snapshot of the records
//	t, err := messages.Timeline()  // both logs in one order
//
// # Path of a write
//
//	bytes of a handle
//	  → Stage.Write (stage.go)     joins bytes to whole records, stages the incomplete rest
//	  → checkLines (commit.go)     rules of package ctxabi; an invalid record ends the batch
//	  → commit (commit.go)         waits for the turn of the log
//	  → place (order.go)           detects a repeated request, orders the batch
//	  → write (order.go)           arrival row first, then data; rolls both back after a failure
//	  → advance (log.go)           publishes the new length; readers see the records
//
// # On disk
//
//	messages.jsonl .ctxfs/arrivals        .ctxfs/index        .ctxfs/tokens
//	events.jsonl   .ctxfs/arrivals.events .ctxfs/index.events .ctxfs/tokens.events
//
// Package arrival defines the rows, index_file.go the formats of index and token counts, which are
// caches. Package archive reads and writes the sealed part of a log.
//
// # Decisions
//
//   - position and order of a commit: place in order.go
//   - mixed valid and invalid lines in one write, a record without newline at close: stage.go
//   - an incomplete record moves from memory to a file above 64 KiB: [Limits] in set.go, put in
//     stage.go
//   - a repeated request is committed once: keys.go, the last [MaxKeys] requests of each log
//   - fsync: Sync in log.go; the early start of writeback: pace in turn.go
//   - a disk that failed (no appends until the store is reopened) or is full (reopened when the
//     disk has space): broken.go
//   - recovery at open (rows without data, data without a row, torn records): recover.go
//   - when logs are closed (5 minutes unused, or too few descriptors): the janitor in set.go
//   - sealing of records into a compressed part: seal.go, at least [SealMin] new bytes
//   - one order of messages and events, and events that duplicate a message: timeline.go
//   - the length of a log at an earlier time: LinesAt in prefix.go
//   - which call a tool result answers (at most 1,024 records back): index_calls.go
//   - when an index is loaded, extended, or rebuilt: index_load.go, index_build.go
//   - files of a log for a fork: copy.go; whole-log check for verify and fsck: audit.go
//
// # Promises
//
//   - A record is in the log whole or not at all. A returned Append survives the death of the
//     process, a returned Sync also a power loss.
//   - Readers see exactly [0, Len), and Len only grows.
//   - Recovery destroys nothing: it moves bytes that are no record to the quarantine.
//   - A loaded, an extended, and a rebuilt index are equal. A snapshot never changes. A [Timeline]
//     is a prefix of each later one.
//
// # Locks
//
// Appends wait for the turn of the log, a channel. [Hold] takes turns in the order messages,
// events. A seal holds sealing, and the turn while it swaps files. Lock order: Stage.mu, logIndex.mu
// of messages, logIndex.mu of events, Log.mu of messages, Log.mu of events, Root.Move, Root.Moving,
// Set.mu. The janitor only tries locks of a log.
//
// # Files to read first
//
//	stage.go     writes of one handle: from bytes to whole records
//	commit.go    batches: check, turn, commit
//	order.go     order of commits, rows and data on disk
//	recover.go   repair of the end of a log at open
//	timeline.go  messages and events in one order
package log
