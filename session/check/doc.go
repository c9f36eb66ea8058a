// Package check verifies stores. [Verify] compares everything of one session that has a hash with
// that hash; [Fsck] checks every file of a store and, if asked, repairs it. The verbs verify and
// fsck call it; other packages register their files and checks.
//
//	Fsck (fsck.go) → header, homes, projects (store.go)
//	  → each session: owners and modes (owner.go), directories (tree.go), id (id.go)
//	    → each file by its kind (kinds.go, file.go) → logs (log.go), sealed parts (sealed.go)
//	    → packs that were read (served.go) → checks of other packages (FsckOptions.Deep)
//	  → Damage with Severity and Remedy (report.go) → repair, if asked
//	Verify (verify.go) → chain, hash of each commit, records, index, blobs, packs → Problems
//
// # Decisions
//
//   - which files a session may contain, and the class of each (truth, control, cache, kept,
//     report, agent): sessionKinds in kinds.go. A new file is one [FileKind]; other packages pass
//     theirs in [FsckOptions].Kinds
//   - which repair is allowed: remedies in file.go. A cache is removed and rebuilt when needed; any
//     other file is moved to the quarantine before a new one is written. No repair changes a byte
//     of a record
//   - severity of a damage (lost, rebuildable, note, odd): report.go
//   - an id that was damaged, and its recovery from the arrival rows: id.go
//   - the end of a log: log.go reports the same findings that an open repairs
//     (session/log/recover.go)
//   - content derived of all sessions of an owner: owned.go
//
// # Promises
//
// Without Repair nothing changes, no lock is taken, and a daemon may serve the store: only damage
// that is found twice counts. With Repair, each step reads the disk again, because an earlier step
// may have changed it. An error means that a check was not possible; damage is a [Damage] or a
// [Problem].
//
// Verify may run on sessions of an open store; Fsck opens the store itself. A run of Fsck uses one
// goroutine and no locks.
//
// # Files to read first
//
//	fsck.go    one run: order of the checks
//	kinds.go   table of all files of a session
//	verify.go  hashes of a session
//	report.go  Damage, Severity, Remedy
//	file.go    checks and repairs of one file
package check
