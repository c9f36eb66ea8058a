// Package blob stores content of a session other than records: blobs that users stored under their
// own hash ([Store]), and packs that were read ([Served]). Package session offers both; package fs
// shows them in context/dedup/blob and in context/packs.jsonl and context/served.
//
//	a user writes a blob    → NewBlobStage, Flush (stage.go) → hash equals name? → .ctxfs/blobs/
//	a user opens a blob     → OpenBlob (blob.go) → content with a verified hash
//	a pack was read         → Served.Add (served_add.go) → row, frame of a segment; old rows go
//	a user opens old packs  → Served.Pack (served.go) → frames joined, hash verified
//
// # On disk
//
//	.ctxfs/blobs/sha256-<hex>   one blob; the name is the SHA-256 of the content
//	.ctxfs/served/rows          one line, with a checksum, a pack that was read (served_row.go)
//	.ctxfs/served/<n>           a segment: frames, each with the difference to the pack before
//	                            (served_segment.go)
//
// # Decisions
//
//   - valid name and content of a blob, partial writes, close: stage.go
//   - a blob's time of last use: BlobUsed in blob.go; permission to remove it: RemoveBlob
//   - whether a pack is kept (pack_ttl of gc.policy), and removal of old rows: served_add.go
//   - bytes that the collector could free: served_expire.go
//   - when a new segment begins (256 frames, size, age, or a pack that is mostly new):
//     served_segment.go
//   - checks for fsck: served_check.go
//
// The collector of package gc decides which blobs go. [Store.SweepBlob] blocks all lookups of a
// blob while it decides, so that it removes no blob that a user has seen in the meantime.
//
// # Promises
//
// A blob exists whole or not at all, survives a power loss after [Stage.Flush] returned nil, and
// never changes. Reads return no bytes with another hash. Packs that were read are not synced: a
// row or pack that a power loss tore is ignored.
//
// # Locks
//
// Store.mu comes before Root.Move and is held for writing while a blob is judged and swept.
// Served.mu and Stage.mu come before Root.Move, too. Store.lookedMu is a leaf.
//
// # Files, from top to bottom
//
//	served_check.go    checks of packs that were read
//	served_add.go      adds a pack and drops old ones
//	served.go          packs of a session that were read
//	served_expire.go   expiry, and a pass over all packs
//	served_segment.go  segments: frames of similar packs
//	served_row.go      rows of context/packs.jsonl
//	stage.go           a blob that is being written
//	blob.go            blobs under their hashes
package blob
