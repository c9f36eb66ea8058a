// Package tend keeps a cluster small and its sessions quick to open: hosts put the records of sessions
// among the objects and name snapshots in the journals; a maintainer trims what snapshots have, parks
// journals that nobody appends to, and removes objects that nothing names.
//
//	shelf := tend.NewShelf(tend.ShelfOptions{Engine: e, Host: "a"})
//	h := host.New(host.Options{…, Handlers: shelf.Handlers(), Restore: shelf.Restore, Parked: shelf.Parked})
//	s, err := session.Open(dir, session.Options{Committer: h, Parts: shelf.Parts()})
//	shelf.Run(ctx, h)                          // on each host
//
//	t := tend.New(tend.Options{Engine: e, …}) // of the maintenance user, in ctxfs cluster serve
//	report, err := t.Round(ctx)
//
// # What hosts do
//
// Every few seconds a host looks at the copies that are open and whose home it is. If a session has
// [SnapshotEntries] entries or [SnapshotBytes] bytes of records more than its last snapshot, the host puts
// what is not shared yet among the objects, in parts of 1 to 16 MiB, and commits a row P for each; then it
// holds the session for a moment, takes a snapshot, and commits a row S. The row stands right behind the
// entries that the snapshot has. A host that cannot do it tries again later, a while later if it fails.
//
// What the journal says of parts and of its last snapshot stands in .ctxfs/shared on every host
// ([bulk.Shared]).
//
// A copy that finds the next entry trimmed, or the journal empty, goes on from the snapshot that the first
// entry names, or else from the one under which the owner's journal has it as parked. What users have open
// stays open, and no record that was shown is lost.
//
// # What the maintainer does
//
//	trim     a journal below its last snapshot that was there at the look before, once that snapshot
//	         was read back and all it names is there
//	owners   journals of owners are checkpointed, which trims them (package names)
//	park     a journal that had the same end for [ParkAfter]: all of it is read into a store of its own,
//	         a snapshot is taken, a row "park" in the owner's journal names it, and the entries go
//	collect  objects that nothing named at each look of [bulk.KeepFor], and journals of sessions that
//	         have had no name for so long
//
// Entries go with the sequence that they were looked at under, never all of a subject: what is appended
// meanwhile stays. A host that appends to a parked journal puts the row S of that snapshot in front, behind
// sequence 0, so that of two hosts that do, one gets the conflict. Numbers and chains go on.
//
// How long something was so is measured by the one maintainer that looks, from the moment at which it saw it first; it
// stands in a file of its machine. The time runs with the machine: setting its clock makes nothing older, and the time
// for which it was off does not count. All that a maintainer does is safe beside
// another one that does the same: two snapshots of one moment are equal, and what goes, goes once. So
// which of them works is a matter of economy alone ([Options].Turn).
//
// # What names an object
//
// A collector cannot know all rows of all versions. So an object "b/<sha256>" counts as named if its hash
// stands anywhere in an entry that a journal of its owner still has, as 32 bytes or as 64 hexadecimal
// digits, or in a row of records, or in a snapshot or a state of names that these name. Other rows must name
// objects in one of these two ways.
//
// # Files to read first
//
//	shelf.go    parts and snapshots by a host
//	restore.go  a session from a snapshot
//	tender.go   the round of a maintainer
//	trim.go     journals with snapshots
//	collect.go  objects without a name
package tend
