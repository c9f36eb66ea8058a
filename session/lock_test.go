package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// A second program could open a store once ctxfs.store had been replaced by a copy.
func TestAStoreIsLockedAlthoughItsFileWasReplacedByACopy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, session.StoreFile)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".copy", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".copy", file); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Open(dir, session.Options{}); !errors.Is(err, ctxabi.ErrLocked) {
		t.Errorf("a second Open: %v, want ErrLocked", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = session.Open(dir, session.Options{}); err != nil {
		t.Fatalf("an Open after Close: %v", err)
	}
	s.Close()
}

// Older programs lock ctxfs.store alone: they and this one keep each other out.
func TestAnOlderProgramAndThisOneExcludeEachOther(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, session.StoreFile), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		t.Error("the older one gets the lock")
	}
	s.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Open(dir, session.Options{}); !errors.Is(err, ctxabi.ErrLocked) {
		t.Errorf("beside the older one: %v, want ErrLocked", err)
	}
}

// Whoever can open what is locked can keep a daemon from its store.
func TestNobodyElseCanOpenWhatIsLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for range 2 {
		s, err := session.Open(dir, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		for _, name := range []string{session.StoreFile, session.LockedDir} {
			if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v, %v", name, fi.Mode(), err)
			}
		}
		if err := os.Chmod(filepath.Join(dir, session.LockedDir), 0o755); err != nil { // as a copy without modes has it
			t.Fatal(err)
		}
	}
}
