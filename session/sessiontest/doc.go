// Package sessiontest provides an in-memory disk for tests of package session ([Disk]). The disk
// fails on request, and a simulated power loss drops data that was not synced. Only tests import
// it.
//
//	d := sessiontest.New() → session.Open with Options.VFS: d
//	d.Fail(Fault)          → selected operations fail, Heal ends that   (fault.go)
//	d.Kill()               → the process dies; written data stays       (crash.go)
//	d.Crash(seed)          → the power fails; unsynced data is lost     (crash.go)
//
// # State after a power loss
//
//   - A file has its synced content, then a prefix of the later writes and truncations. The last
//     one may be half done, or followed by zeros if the size was written and the data was not.
//     Files lose data independently of each other.
//   - A directory has its synced entries, then a prefix of the later changes. A rename happens
//     whole or not at all. Syncing a file does not sync its name.
//
// A process that is killed ([Disk.Kill]) loses nothing that it wrote.
//
// # Files, from top to bottom
//
//	session.go  a store and a session for a test
//	limited.go  a session of many messages with a memory limit
//	old.go      a store in the format of an older program
//	disk.go     the disk: names, directories, locks
//	file.go     open files of the disk
//	fault.go    injected faults
//	crash.go    kills and power losses
package sessiontest
