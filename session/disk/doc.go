// Package disk manages the directories of a store ([Root]) and of its sessions ([Dir]) for the
// other packages of session/: owners and modes, temporary names, atomic replacement, quarantine,
// quotas for unfinished writes, and context/errors.jsonl.
//
//	Root  directory of the store      tmp/, home/, shared/; lock Move for renames of sessions
//	 └ Dir  directory of one session  id, current path; Replace, Quarantine, Report
//
// A session may be renamed while it is in use: [Dir.Path] is valid while Root.Move is held for
// reading, so callers open files by name under that lock. New files and directories are built in
// tmp/ and renamed to their place; a daemon clears tmp/ at its start.
//
// # Decisions
//
//   - owner, group, and mode of files and directories: owner.go. [Root.Mkdir] shows a directory
//     only after it belongs to its owner
//   - replacement of a file: [Dir.Replace] in dir.go. Readers see the old or the new content, and
//     so do they after a power loss if durable is set
//   - where damaged bytes go: the quarantine in aside.go. Files are moved ([Root.SetAside],
//     [Root.Exchange]) or copied ([Dir.Quarantine]) under a name made of their content
//   - rate limit of errors.jsonl: report.go. A user may add 20 rows at once, then one a second;
//     further rows are folded into one with a count. The last 100 rows are kept
//   - how much unfinished data one user may have: quota.go, limits in ctxabi/layout.go
//   - whether a store may be written: [Root.Writable] in root.go
//
// [Dir.Report] never fails and waits only for the disk.
//
// # Locks
//
// Root.Move is held for writing while directories of sessions are renamed. Root.Moving is held for
// the rename alone, for callers that may already hold Move. Root.making and the locks of reports
// and [Quotas] are leaves.
//
// # Files, from top to bottom
//
//	aside.go   quarantine
//	report.go  rows of context/errors.jsonl
//	dir.go     directory of a session
//	lazy.go    values that few sessions need
//	owner.go   owners and modes
//	quota.go   writers, and the quota of unfinished writes
//	root.go    directory of a store
package disk
