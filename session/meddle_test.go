package session_test

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// meddled is a disk on which somebody else does something, once, when a file is opened or gets its name.
type meddled struct {
	*sessiontest.Disk
	at   func(op, name string) bool
	then func()
}

func (d *meddled) meddle(op, name string) {
	if d.at != nil && d.at(op, name) {
		d.at = nil
		d.then()
	}
}

func (d *meddled) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	d.meddle("open", name)
	return d.Disk.OpenFile(name, flag, perm)
}

func (d *meddled) Rename(from, to string) error {
	d.meddle("rename", to)
	return d.Disk.Rename(from, to)
}

func meddledSession(t *testing.T) (*meddled, *session.Session) {
	d := &meddled{Disk: sessiontest.New()}
	_, x := sessiontest.Session(t, "/store", session.Options{VFS: d, Now: d.Now})
	return d, x
}

// A directory of derived content that is swept while something is put into it is there again.
func TestASweepDoesNotFailWhoWrites(t *testing.T) {
	for what, put := range map[string]func(x *session.Session) error{
		"set":    func(x *session.Session) error { return x.SetDerived("outputs/b", []byte("b")) },
		"append": func(x *session.Session) error { return x.AppendDerived("outputs/b", []byte("b")) },
		"write": func(x *session.Session) error {
			w, err := x.CreateDerived("outputs/b")
			if err != nil {
				return err
			}
			return w.Commit()
		},
	} {
		d, x := meddledSession(t)
		if err := x.SetDerived("outputs/a", []byte("a")); err != nil {
			t.Fatal(err)
		}
		swept := false
		d.at = func(_, name string) bool { return strings.HasSuffix(name, "/outputs/b") }
		d.then = func() {
			var err error
			if _, swept, err = x.SweepCache("outputs", func(session.Usage) (bool, error) { return true, nil }); err != nil {
				t.Error(err)
			}
		}
		if err := put(x); err != nil || !swept {
			t.Errorf("%s: %v, swept %t", what, err, swept)
		}
		if names := x.DerivedNames("outputs"); len(names) != 1 || names[0] != "outputs/b" {
			t.Errorf("%s: %q", what, names)
		}
	}
}

// Who reads a note while it passes from one life to the other finds it in one of both.
func TestANoteIsNeverGoneWhileItIsChanged(t *testing.T) {
	const name = ctxabi.FactsFile
	row := []byte(`{"id":"f1","text":"It is so."}` + "\n")
	own, whole := ctxabi.OwnNote(name), name
	for _, step := range []struct{ from, to, at string }{
		{ctxabi.OriginMixed, ctxabi.OriginAgent, own}, {ctxabi.OriginMixed, ctxabi.OriginAgent, whole},
		{ctxabi.OriginAgent, ctxabi.OriginMixed, own}, {ctxabi.OriginAgent, ctxabi.OriginMixed, whole},
	} {
		d, x := meddledSession(t)
		if err := x.SetNote(name, row, step.from); err != nil {
			t.Fatal(err)
		}
		d.at = func(op, file string) bool { return op == "open" && strings.HasSuffix(file, "/"+path.Clean(step.at)) }
		d.then = func() {
			if err := x.SetNote(name, row, step.to); err != nil {
				t.Error(err)
			}
		}
		if n, err := x.Note(name); err != nil || n.Origin == ctxabi.OriginDerived || string(n.Own) != string(row) || d.at != nil && step.from == ctxabi.OriginMixed {
			t.Errorf("%s becomes %s at %s: %+v, %v", step.from, step.to, path.Base(step.at), n, err)
		}
	}
}

// A blob that is removed between the look for it and its opening is not there: its disk has not failed.
func TestABlobThatIsRemovedWhileItIsOpenedIsNotThere(t *testing.T) {
	d, x := meddledSession(t)
	const content = "gone in a moment"
	id := ctxabi.ContentID([]byte(content))
	if err := sessiontest.StoreBlob(x, id, content, disk.Writer{}); err != nil {
		t.Fatal(err)
	}
	d.at = func(op, file string) bool { return op == "open" && strings.HasSuffix(file, id) }
	d.then = func() {
		if err := x.RemoveBlob(id, 0); err != nil {
			t.Error(err)
		}
	}
	if _, err := x.OpenBlob(id); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if len(x.Errors()) > 0 {
		t.Errorf("%s", x.Errors())
	}
}
