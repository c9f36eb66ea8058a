// Package disk is the directories of a store and of its sessions, as all that is kept in them
// shares these: to whom files belong, names for what is being built, the replacing of a whole file,
// the quarantine, what users have staged, and errors.jsonl.
//
// A [Root] is the directory of a store, a [Dir] that of one session in it. A session may be renamed
// while it is in use: [Dir.Path] is true while Root.Move is held for reading, and so an open file
// is got by its name under that lock. What is renamed into a place lay in tmp/ of the store before,
// which is cleared when a daemon opens it.
//
// # Promises
//
//   - [Dir.Replace] replaces a file whole: readers see the old content or the new, also after a loss of power where
//     durable is set.
//   - [Root.Mkdir] shows a directory only once it belongs to its owner.
//   - Nothing is destroyed that was found damaged: it is moved to the session's quarantine ([Root.SetAside],
//     [Root.Exchange]) or copied there ([Dir.Quarantine]), under a name made of its content, so that the same is there
//     once.
//   - [Dir.Report] never fails and never blocks on anything but the disk. At most one row a second is written for each
//     user after a burst of 20; what comes faster is folded into a row with a count.
//
// # Locks
//
// Root.Move is held for writing while directories of sessions are renamed, Root.Moving for the
// rename alone, for who may hold Move already. Root.making, the lock of reports and that of
// [Quotas] are taken last and hold none of the others.
//
// # Files, from top to bottom
//
//	aside.go   quarantine
//	report.go  rows of context/errors.jsonl
//	dir.go     the directory of a session
//	lazy.go    what few sessions need
//	owner.go   to whom files belong
//	quota.go   who writes, and how much is staged
//	root.go    the directory of a store
package disk
