package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestErrnoTable(t *testing.T) {
	for _, c := range []struct {
		err  error
		want syscall.Errno
	}{
		{nil, 0},
		{ctxabi.E("x", "", ctxabi.ErrAppendOnly, ""), syscall.EPERM},
		{fmt.Errorf("a: %w", ctxabi.E("x", "", ctxabi.ErrOverBudget, "")), syscall.EFBIG},
		{&ctxabi.Error{Kind: ctxabi.ErrNoSpace, Err: syscall.EIO}, syscall.ENOSPC},
		{&ctxabi.Error{Kind: ctxabi.ErrIO, Err: syscall.ENOSPC}, syscall.EIO},
		{&ctxabi.Error{Kind: ctxabi.ErrIO, Err: ctxabi.ErrNotFound}, syscall.EIO},
		{&fs.PathError{Err: syscall.EDQUOT}, syscall.EDQUOT},
		{fs.ErrNotExist, syscall.ENOENT},
		{errors.New("unheard of"), syscall.EIO},
		{fmt.Errorf("wrapped success: %w", syscall.Errno(0)), syscall.EIO},
	} {
		if got := errnoOf(c.err); got != c.want {
			t.Errorf("errnoOf(%v) = %v, want %v", c.err, got, c.want)
		}
	}
	for _, row := range errnoTable {
		if got, want := errnoName(row.errno), ctxabi.ErrnoName(row.kind); got != want {
			t.Errorf("%v is %s in the mount, %s in reports of the store", row.kind, got, want)
		}
	}
}

func TestLineNames(t *testing.T) {
	for name, ok := range map[string]bool{"1": true, "12.txt": true, "e1": true, "e12.txt": true, "e0": false, "e": false, "e01": false, "ee1": false, "E1": false, "1e1": false, "0": false, "01": false, "+1": false, "-1": false, "1.md": false, ".txt": false, "": false, "1.txt.txt": false} {
		if _, got := parseLineName(name); got != ok {
			t.Errorf("parseLineName(%q) = %v", name, got)
		}
	}
}
