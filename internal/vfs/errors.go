package vfs

import (
	"errors"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/handles"
)

// WithKind adds ErrNoSpace or ErrQuota to the error of a full disk, ErrNoFiles to that of a process
// without descriptors. Errno constants belong to package fs alone, and os gives these no portable
// name: they are told by the text that package syscall has for them.
func WithKind(err error) error {
	if err == nil {
		return nil
	}
	root := err
	for next := errors.Unwrap(root); next != nil; next = errors.Unwrap(root) {
		root = next
	}
	switch root.Error() {
	case "no space left on device":
		return &full{ctxabi.ErrNoSpace, err}
	case "disk quota exceeded":
		return &full{ctxabi.ErrQuota, err}
	}
	if handles.IsShort(err) {
		return &full{ctxabi.ErrNoFiles, err}
	}
	return err
}

type full struct{ kind, err error }

func (f *full) Error() string { return f.err.Error() }

func (f *full) Unwrap() []error { return []error{f.kind, f.err} }

// IsFull reports whether err means that a disk or a quota is full. The caller may retry later.
func IsFull(err error) bool {
	return errors.Is(err, ctxabi.ErrNoSpace) || errors.Is(err, ctxabi.ErrQuota)
}

// kindOf returns the sentinel for a failure of the disk.
func kindOf(err error) error {
	for _, kind := range []error{ctxabi.ErrNoSpace, ctxabi.ErrQuota, ctxabi.ErrNoFiles, ctxabi.ErrNotFound} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return ctxabi.ErrIO
}

// Failed wraps a failure of the disk in an *ctxabi.Error.
func Failed(op, path string, err error, why string) *ctxabi.Error {
	return &ctxabi.Error{Op: op, Path: path, Kind: kindOf(err), Why: why, Err: err}
}
