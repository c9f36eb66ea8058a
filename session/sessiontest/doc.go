// Package sessiontest has a disk in memory for tests of package session: one
// that fails when it is told to and forgets what was not synced when its power
// is cut.
//
// # What a power cut leaves
//
//   - Of each file: what was synced, then some prefix of the writes and
//     truncations since, the last of them perhaps half done, perhaps followed by
//     zeros where the size was written and the data was not. Files lose
//     independently of each other.
//   - Of each directory: what was synced, then some prefix of the changes since.
//     A rename happens whole or not at all. Syncing a file does not sync its name.
//
// A process that is killed (see [Disk.Kill]) loses nothing that it wrote.
//
// # Files, from top to bottom
//
//	session.go  a store and a session in it
//	limited.go  one of many messages, with a limit of memory
//	old.go      a store as an older program left it
//	disk.go     the disk
//	file.go     open files of the disk
//	fault.go    faults that the disk is told to have
//	crash.go    kills and power cuts
package sessiontest
