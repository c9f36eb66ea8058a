package session_test

import (
	"path"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// renaming calls after behind each rename.
type renaming struct {
	vfs.FS
	after func(to string)
}

func (d *renaming) Rename(from, to string) error {
	err := d.FS.Rename(from, to)
	if err == nil && d.after != nil {
		d.after(to)
	}
	return err
}

// Sealing puts another file in the log's place. Whoever syncs at that moment is not told that somebody removed the log.
func TestASyncWhileALogIsSealedFindsItsFile(t *testing.T) {
	d := &renaming{FS: vfs.OS}
	s := openStore(t, t.TempDir(), session.Options{VFS: d})
	x := create(t, s, refA)
	l := x.Messages()
	appendTo(t, l, talk(2*log.SealMin, 1))
	synced := 0
	d.after = func(to string) {
		if path.Base(to) == ctxabi.MessagesFile {
			synced++
			if err := l.Sync(ctx); err != nil {
				t.Error(err)
			}
		}
	}
	seal(t, l)
	if synced != 1 {
		t.Errorf("synced %d times while it was sealed", synced)
	}
	appendTo(t, l, a1+"\n")
}
