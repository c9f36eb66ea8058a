package sessiontest

import (
	"errors"
	"os"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Session opens the store in dir, which is closed when the test ends, and a session of the user who
// runs the test in it, which is made if it is not there.
func Session(t testing.TB, dir string, o session.Options) (*session.Store, *session.Session) {
	t.Helper()
	s, err := session.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	owner := disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
	ref := ctxabi.Ref{UID: owner.UID, Agent: "a", Session: "s"}
	x, err := s.Session(ref)
	if errors.Is(err, ctxabi.ErrNotFound) {
		if err = s.EnsureAgent(ref, owner); err == nil {
			x, err = s.Create(ref, owner)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, x
}

// StoreBlob stores content as a program does that writes it in two pieces. It returns the errors of
// the stage.
func StoreBlob(x *session.Session, id, content string, w disk.Writer) error {
	s, err := x.NewBlobStage(id, w)
	if err != nil {
		return err
	}
	defer s.Release()
	half := len(content) / 2
	if _, err := s.WriteAt([]byte(content[:half]), 0); err != nil {
		return err
	}
	if _, err := s.WriteAt([]byte(content[half:]), int64(half)); err != nil {
		return err
	}
	return s.Flush()
}
