// Package fs is the FUSE tree of ctxfs. Its handlers are thin: they parse,
// check, call into package session or pack, and map the error. It alone knows
// go-fuse and errno.
package fs
