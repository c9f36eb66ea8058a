// Package vfs is the disk under a store: the seam at which another one can be put in its place, and
// what reads and writes files, ranges and lines over it. It knows nothing of sessions.
//
// All that a store does to its disk goes through [FS] and [File]; [OS] is the operating system's
// disk. Errors of a disk that is full keep their kind ([WithKind]): ctxabi.ErrNoSpace,
// ctxabi.ErrQuota, ctxabi.ErrNoFiles.
//
// Two forms of lines are read and written here because several packages keep them: lines that end
// in a checksum of what stands in front of it ([Summed]), and plain ones, forwards and backwards
// ([ScanLines], [ScanLinesBackward]).
//
// Functions of this package take no lock and sync what they say that they sync, no directory.
//
// # Files, from top to bottom
//
//	lines.go        lines of a file, one by one
//	files.go        whole files and directories of a store
//	descriptor_linux.go
//	                what is asked of a file after each write
//	owner_linux.go  owners of files
//	clone.go        copies that share blocks
//	map_linux.go    files in memory
//	summed.go       lines with a checksum at their end
//	os.go           the disk of the operating system
//	errors.go       errors of a disk as kinds of ctxabi
//	vfs.go          what a disk is
package vfs
