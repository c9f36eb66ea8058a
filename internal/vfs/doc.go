// Package vfs abstracts the disk of a store: [FS] and [File] are its interfaces, [OS] is the disk
// of the operating system, and tests use session/sessiontest. It also reads and writes whole files,
// ranges, and lines. It does not know sessions.
//
//	session and its sub-packages → FS, File (vfs.go) → OS (os.go) → kernel
//	                             → helpers (files.go, lines.go, summed.go)
//
// # Decisions
//
//   - symbolic links and FIFOs in place of a file: os.go. OpenFile follows no link and does not
//     wait
//   - full disk, quota, missing descriptors: errors.go ([WithKind] keeps ctxabi.ErrNoSpace,
//     ErrQuota, and ErrNoFiles), [IsFull]
//   - which functions sync: files.go. [WriteFile] syncs the file; the caller syncs the directory
//   - a failed append is cut back: AppendTo in files.go; a failed Sync is repeated: Rewrite in
//     files.go
//   - format of lines with a checksum ({...,"crc":"9a3cf0b1"}, CRC-32C): summed.go
//   - lines forward and backward ([ScanLines], [ScanLinesBackward]), and lines that are too long:
//     lines.go
//   - shared blocks (reflinks) or copies: clone.go; memory-mapped files: map_linux.go
//   - a file that was removed while open, early writeback: descriptor_linux.go
//
// No function takes a mutex; Lock of an [FS] locks a file or a directory for one process.
//
// # Files, from top to bottom
//
//	lines.go             lines of a file
//	files.go             whole files and directories of a store
//	descriptor_linux.go  properties of an open file after each write
//	owner_linux.go       owners of files
//	clone.go             copies that share blocks
//	map_linux.go         mapped files
//	summed.go            lines with a checksum
//	os.go                disk of the operating system
//	errors.go            disk errors as kinds of ctxabi
//	vfs.go               interfaces of a disk
package vfs
