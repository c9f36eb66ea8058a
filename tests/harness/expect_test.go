package harness

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// recorder records whether a check failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestWantErrno(t *testing.T) {
	for _, c := range []struct {
		err   error
		errno unix.Errno
		fails bool
	}{
		{nil, 0, false},
		{unix.EPERM, 0, true},
		{nil, unix.EPERM, true},
		{unix.EPERM, unix.EPERM, false},
		{unix.EPERM, unix.EACCES, true},
		{&os.PathError{Op: "open", Err: unix.EPERM}, unix.EPERM, false},
		{fmt.Errorf("no errno"), unix.EPERM, true},
		{errors.Join(unix.EPERM, unix.EACCES), unix.EPERM, true},
	} {
		r := &recorder{TB: t}

		if WantErrno(r, "a call", c.err, c.errno); r.failed != c.fails {
			t.Errorf("WantErrno of %v and %v fails: %v, want %v", c.err, c.errno, r.failed, c.fails)
		}
	}
}
