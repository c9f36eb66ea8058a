// Package carry brings a session of one host into a cluster, and takes one out of it again. The session stays the
// same: its id, bytes, arrival rows and chains, its settings, notes, children, blobs and kept content, so also its head
// and its packs.
//
//	c := carry.New(carry.Options{Engine: e, Host: h, Commit: …, View: …})
//	err := c.Publish(ctx, x)    // x is in the cluster
//	err = c.Withdraw(ctx, x)    // x is of this host alone
//
// # Publish
//
//  1. x is frozen: .ctxfs/journal says where a copy of it would stand.
//  2. All of it is put among the objects: parts of its logs, blobs, and a snapshot.
//  3. If the cluster has a journal of x, from an earlier life, an entry behind its end names the snapshot.
//  4. One entry of the owner's journal gives x its name. Without 3 it has x as parked in the snapshot, so
//     that x has no journal until somebody appends.
//
// Step 4 is the moment: before it x is of this host alone, behind it x is in the cluster, and what this host has is
// a copy like others. All before it may be done again.
//
// # Withdraw
//
//  1. An entry ends the journal. Whoever appends is in front of it, or refused. It has the name of this host,
//     which alone may go on.
//  2. What lies among the objects is fetched, and all is synced.
//  3. [MarkerFile] notes where the journal ended.
//  4. An entry of the owner's journal removes the name. Who keeps names on this host asks [Keep], and leaves the
//     session where it is; on others it is removed as one that somebody has removed.
//
// Step 4 is the moment. Between 1 and 4 x can be read on all hosts and changed by none; Withdraw, called again, goes
// on. A session that was withdrawn can be changed on its host ([IsLocal]), as long as it is not frozen, and published
// again: its numbers go on behind where its journal ended, so that a copy that missed all of it finds the new life newer.
//
// # Files, from top to bottom
//
//	move.go      a session of a store that is of no cluster
//	publish.go   a session into the cluster
//	withdraw.go  a session out of it
//	journal.go   entries of its journal
//	marker.go    what a session's directory says of it
package carry
