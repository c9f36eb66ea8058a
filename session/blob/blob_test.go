package blob_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func readBlob(t *testing.T, x *session.Session, id string) (string, error) {
	t.Helper()
	f, err := x.OpenBlob(id)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := x.Blob(id)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, b.Size))
	if err != nil {
		t.Fatal(err)
	}
	return string(data), nil
}

// A blob whose Flush returned survives the loss of power; one whose did not is there whole or not at all.
func TestABlobSurvivesThePowerCut(t *testing.T) {
	content := "what a user keeps\n"
	id := ctxabi.ContentID([]byte(content))
	w := disk.Writer{UID: uint32(os.Getuid())}
	for seed := range int64(50) {
		d := sessiontest.New()
		s, x := sessiontest.Session(t, "/store", session.Options{VFS: d})
		if err := sessiontest.StoreBlob(x, id, content, w); err != nil {
			t.Fatal(err)
		}
		half, err := x.NewBlobStage(ctxabi.ContentID([]byte("x")), w)
		if err != nil {
			t.Fatal(err)
		}
		half.WriteAt([]byte("not all of it"), 0)
		d.Crash(seed)
		s.Close()
		_, x = sessiontest.Session(t, "/store", session.Options{VFS: d})
		if got, err := readBlob(t, x, id); err != nil || got != content {
			t.Fatalf("seed %d: %q, %v", seed, got, err)
		}
		if list := x.Blobs(); len(list) != 1 || list[0].ID != id || list[0].Size != int64(len(content)) {
			t.Fatalf("seed %d: %+v", seed, list)
		}
	}
}

func TestAFullDiskStoresNoHalfBlob(t *testing.T) {
	content := "what a user keeps\n"
	id := ctxabi.ContentID([]byte(content))
	w := disk.Writer{UID: uint32(os.Getuid())}
	for n := 1; ; n++ {
		d := sessiontest.New()
		_, x := sessiontest.Session(t, "/store", session.Options{VFS: d})
		d.Fail(sessiontest.Fault{At: n, Kind: sessiontest.ENOSPC})
		err := sessiontest.StoreBlob(x, id, content, w)
		hit, _ := d.Hit()
		d.Heal()
		if hit == 0 {
			break
		}
		got, read := readBlob(t, x, id)
		switch {
		case read == nil && got != content, read != nil && !errors.Is(read, ctxabi.ErrNotFound), err == nil && read != nil:
			t.Errorf("operation %d: stored %v, read %q, %v", n, err, got, read)
		case err != nil:
			if err := sessiontest.StoreBlob(x, id, content, w); err != nil { // the room is given back, and the name is free
				t.Errorf("operation %d, once more: %v", n, err)
			}
		}
	}
}

func TestStagesOfBlobs(t *testing.T) {
	dir := t.TempDir()
	st, x := sessiontest.Session(t, dir, session.Options{})
	w := disk.Writer{UID: uint32(os.Getuid())}
	id := ctxabi.ContentID([]byte("abc"))
	s, err := x.NewBlobStage(id, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); err != nil {
		t.Errorf("a close before the first write: %v", err)
	}
	s.WriteAt([]byte("c"), 2)
	if err := s.Flush(); !errors.Is(err, ctxabi.ErrMalformed) {
		t.Errorf("a part of it: %v", err)
	}
	s.WriteAt([]byte("ab"), 0)
	if err := s.Flush(); err != nil || !s.Committed() {
		t.Errorf("all of it, backwards: %v", err)
	}
	if _, err := s.WriteAt([]byte("d"), 3); !errors.Is(err, ctxabi.ErrMalformed) {
		t.Errorf("more of it: %v", err)
	}
	s.Release()
	if got, err := readBlob(t, x, id); err != nil || got != "abc" {
		t.Errorf("%q, %v", got, err)
	}
	if err := x.RemoveBlob(id, w.UID+1); w.UID+1 != 0 && !errors.Is(err, ctxabi.ErrDenied) {
		t.Errorf("somebody else removes it: %v", err)
	}
	if err := x.RemoveBlob(id, w.UID); err != nil {
		t.Error(err)
	}
	if err := x.RemoveBlob(id, w.UID); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	for _, bad := range []string{"", "abc", "../id", id + "/x", "sha256-../../../../messages.jsonl"} {
		if _, err := x.NewBlobStage(bad, w); !errors.Is(err, ctxabi.ErrMalformed) {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := x.Blob(bad); !errors.Is(err, ctxabi.ErrNotFound) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	st.Close()
}
