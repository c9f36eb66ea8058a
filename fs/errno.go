package fs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/handles"
)

// errnoTable is the one place where a kind of failure becomes an errno. A kind decides before its
// cause.
var errnoTable = []struct {
	kind  error
	errno syscall.Errno
}{
	{ctxabi.ErrAppendOnly, syscall.EPERM},
	{ctxabi.ErrProtected, syscall.EPERM},
	{ctxabi.ErrMalformed, syscall.EINVAL},
	{ctxabi.ErrVersion, syscall.EINVAL},
	{ctxabi.ErrTooLarge, syscall.EMSGSIZE},
	{ctxabi.ErrOverBudget, syscall.EFBIG},
	{ctxabi.ErrReadOnly, syscall.EACCES},
	{ctxabi.ErrDenied, syscall.EACCES},
	{ctxabi.ErrNoSpace, syscall.ENOSPC},
	{ctxabi.ErrQuota, syscall.EDQUOT},
	{ctxabi.ErrNoFiles, syscall.ENFILE},
	{ctxabi.ErrNoMemory, syscall.ENOMEM},
	{ctxabi.ErrNoData, syscall.ENODATA},
	{ctxabi.ErrNotFound, syscall.ENOENT},
	{ctxabi.ErrExists, syscall.EEXIST},
	{ctxabi.ErrConflict, syscall.EAGAIN},
	{ctxabi.ErrStale, syscall.ESTALE},
	{ctxabi.ErrLocked, syscall.EBUSY},
	{ctxabi.ErrIO, syscall.EIO},
}

// errnoOf returns the errno that a program sees for err; 0 only for nil. For an error that the
// table does not have it returns the errno of the disk, or EIO.
func errnoOf(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	kind := ctxabi.KindOf(err)
	for _, row := range errnoTable {
		if errors.Is(kind, row.kind) {
			return row.errno
		}
	}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno) && errno == syscall.EMFILE || errors.Is(err, handles.ErrShort):
		return syscall.ENFILE // the daemon's limit, not the caller's
	case errno != 0:
		return errno
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	case errors.Is(err, context.Canceled):
		return syscall.EINTR
	}
	return syscall.EIO
}

// errnoName returns "EINVAL" for EINVAL.
func errnoName(errno syscall.Errno) string {
	if name := unix.ErrnoName(errno); name != "" {
		return name
	}
	return errno.Error()
}
