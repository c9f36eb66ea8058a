// Package bulk is what of a session lies in the object store and not in its journal: long bodies, blobs,
// sealed parts of logs, and snapshots, behind which a journal is trimmed. It knows objects alone
// ([engine.Objects]) and the bytes of rows; entries are appended and applied by others.
//
//	s := bulk.NewStore(e.Objects(), bulk.Owner(ref))
//	part, err := s.Share(ctx, x, x.Messages(), shared) // a row of kind journal.Part has part.Encode()
//	snap, err := s.Take(ctx, x, at, shared)            // x as it is at a position of its journal
//	saved, err := s.Save(ctx, snap)                    // a row of kind journal.Snapshot has saved.Encode()
//	before, err := s.TrimBefore(ctx, id, at, entry)    // what is below may go from the journal
//
// and on another host:
//
//	snap, err := s.Load(ctx, id, saved)
//	x, err := s.Restore(ctx, store, ref, owner, snap, false)
//	err = s.Renew(ctx, x, snap, beside)                // where x is there already, and has less
//
// # Names
//
//	b/<sha256>                            a blob, or a body of more than 256 KiB (in a snapshot: 64 KiB)
//	p/<session>/<log>/<byte>-<sha256>     a part of a log that begins at a byte, as its file would be
//	x/<session>/<log>/<byte>-<sha256>     its index object: the arrival rows, and caches of index and counts
//	s/<session>/<entries>-<sha256>        a snapshot of what so many entries made
//	h/<shard>/<nanoseconds>-<sha256>      ends of journals, of the owner engine.StoreOwner
//
// The hash is that of the object, so that no name ever has two contents.
//
// # Forms
//
// What stands in rows begins with the number of a version, objects with a text and that number. Numbers
// are unsigned varints as short as they can be, times nanoseconds since 1970, hashes 32 bytes; all else
// stands behind its length. Each value has one form: what is parsed is encoded to the same bytes, and
// anything else is [ErrDamaged].
//
//	row P      log, byte, size, records, chain, hash of the records, 8 bytes of hash a frame;
//	           hash and size of the part, of its end that describes the frames, and of its index object
//	row S      position in the journal (number of entries, chain); hash and size of the snapshot
//	reference  hash and size of a body. It stands in the body of a row whose content tells a longer one
//
// # Promises
//
//   - An object is named once it was read back whole and had the hash of its name.
//   - Nothing that an object store returns is believed: no byte is returned, or written to a store, that does not have
//     the hash under which it was put. One that is lost, old, cut or changed is an error that names it.
//   - A store that restores a snapshot has the same session: the same bytes in the same logs with the same rows and
//     chains, the same settings, notes, children, blobs and kept content, with their times; so the same packs. It has all
//     of it, or nothing.
//   - A part that was not fetched is read by frames, each of which is checked whenever it is read.
//   - [Store.TrimBefore] returns a sequence only for a snapshot that was read back, all of whose objects are there.
//   - The objects of a part do not depend on the host that shares it, as long as both pack alike. Two hosts that do not
//     name two objects, and the first row counts.
//
// # Garbage
//
// A collector lists the objects of an owner, reads all of his journals into a [Named], and has
// [Unnamed.Plan] compare them. What nothing named at each look of seven days is due, and goes once it was
// looked for again. A host that puts an object commits the row that names it within the minute, or puts it
// again.
//
// # Not here
//
// Directories of artifacts that are empty, links among them, and modes of files are not in a snapshot.
// Blobs are fetched when a session is restored, parts when they are read.
//
// # Files to read first
//
//	store.go    objects, put and read
//	share.go    a part of a log
//	take.go     a snapshot of a session
//	restore.go  a session from a snapshot
//	gc.go       objects that may be removed
package bulk
