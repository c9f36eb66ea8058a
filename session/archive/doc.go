// Package archive reads and writes the sealed part of a log: records that were compressed into
// files of their own. For package log it presents these files and the uncompressed tail as one file
// with unchanged offsets ([Data]).
//
//	log bytes 0 ─────────────────────────────────────────────► Len
//	          │ part 1      │ part 2      │ tail              │
//	          messages.jsonl.1.zst  .2.zst  messages.jsonl
//	read → Data.ReadAt (data.go) → Part.ReadAt (part.go) → frame, checked, in a cache of 8 MiB
//	                             → tail file
//	seal (Seal in package log) → Write (format.go) → NamePart, ReplaceTail (swap.go)
//	open → ReadList, Open (open.go) → settle (settle.go)
//
// # Decisions
//
//   - format of a part (Zstandard's seekable format) and frame size: format.go
//   - where the tail begins: the list .ctxfs/segments, see list.go. A lost or old list is rebuilt
//     from the parts
//   - raw or sealed records after a crash in the middle of a seal: settle.go. It compares the tail
//     with the length in the arrival rows ([Rows]). If both copies exist, the raw records win
//   - number and name of a part: NamePart in swap.go, names.go. Numbers grow and may have gaps
//   - damaged frames: part.go. A [DamageError] names the unreadable bytes; other frames stay
//     readable
//   - a log file read without a store, as by zstdcat: plain.go; memory-mapped reads: view.go
//
// Package log decides when to seal (Seal) and verifies the new part before it replaces raw records.
//
// A part never changes, so a fork may link it. Each read verifies a frame against its SHA-256 when
// it is decompressed. A part with records that the log does not have is moved to the quarantine.
//
// # Locks
//
// Readers and writers of the log hold Data.mu; the swap of the tail holds it for writing. Only an
// open and a seal change the lists of parts, and only one of them runs at a time. Part.mu guards
// the frame table of a part. Part.mu, the lock of [Cache], and the lock of [Windows] are taken
// last. Opening a part by name takes Root.Moving for reading.
//
// # Files, from top to bottom
//
//	swap.go    a part replaces raw records
//	open.go    parts and tail of a log at open
//	settle.go  state of parts and tail after a crash
//	data.go    parts and tail as one file
//	view.go    mapped bytes of the tail
//	list.go    list of parts
//	plain.go   reads of a log without a store
//	part.go    one part, and the cache of frames
//	format.go  format of a part
//	names.go   file names of parts
package archive
