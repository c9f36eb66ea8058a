// Package follower keeps the local copy of a session equal to the session's journal in the shared
// store, and commits what local writers add. A [Host] does so for all open sessions of one mount; a
// [Copy] is the only owner of one local copy.
//
//	writer → Copy.Commit → queue → batch of at most 64 rows (rows.go)
//	       → shared.Seal → Journals.Append, or AppendLocked after a conflict (commit.go)
//	       → Copy.absorb → Files.Apply → answer to the writer
//	other hosts' entries: Host.poll → Copy.catchUp: Read, Fence → absorb (copy.go)
//
// # Decisions
//
//   - A copy applies an entry only if it survives a fail-over: its own append was acknowledged, or
//     a fence on the same server followed the read, or the own append under the journal's lock did.
//   - After an unknown outcome, the same entry is sent again until a confirmed read finds it, or
//     another one in its place, or the deadline of the requests has passed.
//   - A request fails with shared.ErrUnavailable only if no statement with it was ever sent, or all
//     that were sent can no longer succeed. Otherwise it fails with shared.ErrUnknown.
//   - A host sends nothing if its last heartbeat is older than maxBeatAge.
//   - A copy is removed only after an entry of kind shared.End that continues its chain. If the
//     database lacks entries of the copy, the copy is [Ahead]; if it has others, [Forked]. Both can
//     be read; only Copy.Resolve ends them.
//   - A copy is hidden until it has reached the end of its journal once.
//
// # Promises
//
//   - The position of a copy moves back only by Resolve.
//   - After Commit returned nil, the copy of this host has the record, unless its disk failed.
//   - No operation waits longer than its context, and no lock is held while a statement runs.
//
// # Locks
//
// Copy.mu is held for local work only. Host.mu is taken last.
//
// # Files, from top to bottom
//
//	resolve.go  end of a divergence
//	commit.go   queue, batches, outcomes
//	host.go     heartbeat, gate, poll, status
//	copy.go     state of one copy: catch up, compare, apply
//	rows.go     rows of requests, ends of the logs
//	files.go    Files, the local copy on the disk; Mark and its text form
package follower
