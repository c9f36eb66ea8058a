package session

import (
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// The disk that a store is on; see package vfs.
type (
	VFS  = vfs.FS
	File = vfs.File
)

// OS is the operating system's disk.
var OS = vfs.OS

// Whose the files of a session are, who wrote a record, and what became of a refusal; see package disk.
type (
	Owner    = disk.Owner
	Writer   = disk.Writer
	ErrorRow = disk.ErrorRow
)

// RowOf returns the row of errors.jsonl for err, with which what the user uid tried (op) on the session file name failed.
func RowOf(op, name string, uid uint32, err error) ErrorRow { return disk.RowOf(op, name, uid, err) }
