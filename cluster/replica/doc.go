// Package replica is the copy of one session's journal in the store of a host: it reads entries from
// the engine, verifies them, and applies them to the session in their order.
//
//	c, err := replica.Open(x, subject, replica.Options{Engine: e})
//	err = c.Confirm(ctx)       // all that was acknowledged until now is here
//	err = c.Offer(ctx, entry)  // of a feed
//	err = c.Apply(ctx, entry)  // that this host has appended
//
// It decides nothing: who appends what is the matter of package host.
//
// # On disk
//
// .ctxfs/journal has a line for each entry that was applied whole:
//
//	<number of the next entry> <sequence> <chain> <host> <messages: bytes> <their rows: bytes>
//	<events: bytes> <their rows: bytes> <CRC-32C of the line so far>
//
// A line is written when all of the entry is in the session's files, and before anybody is told of it. Of
// entries that bring records alone and come at once, many are written together, and the last has a line.
// When the session is opened again, its logs are cut to the last line that both of them reach
// ([Kept], by way of [log.Copies]), and the rest comes again from the engine. So records behind the
// last line, or which anybody else put there, are never taken for the journal's. Changes of
// control files that are applied twice come to the same; those of children, and
// notes that are added to, would not, so that all before them is made durable first and they stand in an
// entry of their own.
//
// .ctxfs/sets has a line for each control file that the journal has set, in the order of their names, and
// a checksum:
//
//	<number of the entry> <nanoseconds since 1970> <user, or -> <host> <bytes, or -1> <name, quoted>
//	<CRC-32C of the lines>
//
// It is written anew, durably, behind the rows of an entry that sets files and before its position. So it
// is never behind the position; where it is ahead, what it names is there already, and an older row is
// passed over.
//
// # Promises
//
//   - The session holds what the first Position.I entries of the journal say, and nothing else.
//   - An entry is applied if its number is the next one and the chain fits, whichever replica of the
//     engine it comes from. A gap is never shown.
//   - What the position says has set a file is the same on every host, and with it whether a change that
//     expects another entry ([session.Edit]) is refused.
//   - A change that cannot be applied to what the session is, is refused on every host alike; the entry
//     counts.
//   - An entry that could not be applied for want of room or of an object is applied again from the row
//     on that failed; nothing behind it is applied before.
//
// # Files, from top to bottom
//
//	fetch.go     entries from the engine
//	run.go       many entries at once
//	apply.go     an entry into the session
//	copy.go      the copy of one session
//	sets.go      which entry has set which control file
//	change.go    rows of changes
//	position.go  how far a copy is, on the disk
package replica
