package session

import "github.com/ctxfs/ctxfs/internal/vfs"

// The disk that a store is on; see package vfs.
type (
	VFS  = vfs.FS
	File = vfs.File
)

// OS is the operating system's disk.
var OS = vfs.OS
