// Package check is the one checker of stores: [Verify] holds all of a session that has a hash
// against it, [Fsck] looks at every file of a store, and repairs what can be.
//
// Both read a log through the same [log.Audit]. Fsck knows the files of a session by their kinds;
// other packages hand it those that they keep ([FsckOptions].Kinds), each with its class and a
// function that looks at the content, and what they know to be wrong beyond single files
// ([FsckOptions].Deep). A new file of a session is one [FileKind].
//
// # Promises
//
//   - Without Repair nothing is changed, no lock is taken and a daemon may serve the store: what is found is looked at
//     twice, and counts if it is there both times.
//   - A repair changes no byte of a record. What is no cache is moved to the session's quarantine before anything takes
//     its place; a cache is removed, and made again when it is needed.
//   - Each step reads the disk anew: what a step before it repaired is believed by none.
//   - An error says that it could not look; what is wrong is a [Damage] or a [Problem].
//
// Verify may be called for sessions of an open store; Fsck opens the store itself. A run of Fsck is
// of one goroutine and has no locks.
//
// # Files, from top to bottom
//
//	fsck.go    the files of a store
//	id.go      ids
//	log.go     logs
//	sealed.go  sealed parts
//	served.go  packs that were read
//	store.go   the store itself
//	tree.go    directories
//	owned.go   what is derived of all sessions of an owner
//	owner.go   to whom files belong
//	verify.go  every byte of the history
//	kinds.go   kinds of files, and what a repair may do
//	file.go    one file
//	report.go  what was found
package check
