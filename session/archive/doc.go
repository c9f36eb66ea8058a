// Package archive is the sealed parts of a log: records that were packed into files of their own,
// and the log as one file over these parts and the tail behind them, which alone is written to.
//
// # On disk
//
//	messages.jsonl.<n>.zst   a part, in Zstandard's seekable format (format.go)
//	.ctxfs/segments          the list of parts, which says where the tail begins (list.go); derived from the parts
//
// The numbers of parts grow and leave gaps. A part never changes, so that a fork may have it under
// a name of its own.
//
// # Promises
//
//   - Offsets and sizes are those of the log, wherever its bytes are: sealing changes nothing that [Data] reads.
//   - A frame is checked against its SHA-256 whenever it is inflated. What does not fit is a [DamageError], which names
//     the bytes of the log that cannot be read; others can be.
//   - While a part takes the place of raw records the list says that it is pending. Whatever a crash leaves, [Open] finds
//     out which of both the tail is by where the arrival rows say that the log ends ([Rows]); where both are there, the
//     raw records win. A part with records that the log does not have is moved to the quarantine.
//   - A part that has no file is read from the [Source] of the log, and checked as others are. What cannot be fetched now is
//     [ErrAway], and no damage: nothing stands in for it.
//   - A list that is lost, or older than the parts, is made again from what the parts say about themselves.
//
// # Locks
//
// Data.mu is held by whoever reads or writes the log, and for writing while the tail is swapped.
// Its parts, pending and redundant change only by opening and by sealing, of which one goes on at a
// time. Part.mu guards a part's table, and the lock of [Cache] its frames; each is taken last, as that of [Windows] is. A
// part that is opened by its name takes Root.Moving for reading.
//
// # Files, from top to bottom
//
//	swap.go    raw records give way to a sealed part
//	open.go    a log with its parts and its tail
//	settle.go  what a crash left
//	data.go    parts and tail as one file
//	view.go    bytes of the tail that nothing copies
//	list.go    the list of parts
//	plain.go   a log without a store
//	part.go    one part, and the frames in memory
//	source.go  parts that have no file
//	format.go  the bytes of a part
//	names.go   names of parts
package archive
