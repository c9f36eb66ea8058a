// Package blob is content that a session keeps beside its history: what users stored under its own
// hash, and packs that were read.
//
// # On disk
//
//	.ctxfs/blobs/sha256-<hex>   what a user stored; the name is the SHA-256 of the content
//	.ctxfs/served/rows          a summed line for each pack that was read, as packs.jsonl shows it (served_row.go)
//	.ctxfs/served/<n>           a segment: frames of packs, each of which has what the one before it has not
//	                            (served_segment.go)
//
// # Promises
//
//   - A blob is there whole or not at all, survives the loss of power once [Stage.Flush] returned nil, and never changes.
//   - [Store.OpenBlob] and [Served.Pack] return no bytes that do not have the hash they were kept under.
//   - To ask for a blob is to use it: [Store.SweepBlob] holds up everybody who asks while it decides, so that no blob goes
//     that somebody has seen since.
//   - Nothing of what was served is synced. A row or a pack that lost power tore is not there; those in front of it are.
//
// # Locks
//
// Store.mu comes before Root.Move and is held for writing while a blob is judged and swept;
// Served.mu and Stage.mu come before Root.Move, too. Store.lookedMu is held for moments, with no
// other lock behind it.
//
// # Files, from top to bottom
//
//	served_check.go    packs that were read, checked
//	served_add.go      one more of them
//	served.go          all of them
//	served_expire.go   their end
//	served_segment.go  their bytes, which they share
//	served_row.go      their rows
//	stage.go           a blob that is being written
//	shared.go          blobs that other hosts have, too
//	blob.go            blobs under their hashes
package blob
