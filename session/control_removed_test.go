package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// What is removed, renamed to or dated through one store is so in every other to which it is applied.
func TestRemovedSettingsAreRemovedEverywhere(t *testing.T) {
	there, here := t.TempDir(), t.TempDir()
	m := &mirrored{Committer: session.Local(), to: openStore(t, there, session.Options{}), kinds: map[string]int{}}
	s := openStore(t, here, session.Options{Committer: m})
	x := create(t, s, refA)
	if err := x.RemoveControl(ctxabi.EnvFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, name := range []string{ctxabi.MessagesFile, ".ctxfs/id", "../x"} {
		if err := x.RemoveControl(name); err == nil {
			t.Errorf("%s is removed", name)
		}
	}
	at := time.Unix(1_700_000_000, 5)
	pin := ctxabi.PinnedDir + "/rules.md"
	if err := os.Remove(filepath.Join(there, refA.Path(), ctxabi.PinnedDir)); err != nil {
		t.Fatal(err)
	}
	if err := x.SetControl(pin, []byte("rules\n")); err != nil {
		t.Errorf("a pin where another store lacks its directory: %v", err)
	}
	if err := x.SetControl(ctxabi.EnvFile, []byte("A=1\n")); err != nil {
		t.Fatal(err)
	}
	if err := x.SetControlTime(pin, at); err != nil {
		t.Error(err)
	}
	if err := x.RemoveControl(ctxabi.EnvFile); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{here, there} {
		fi, err := os.Stat(filepath.Join(dir, refA.Path(), pin))
		if err != nil || !fi.ModTime().Equal(at) {
			t.Errorf("the pin: %v, %v", fi, err)
		}
		if _, err := os.Stat(filepath.Join(dir, refA.Path(), ctxabi.EnvFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the removed file: %v", err)
		}
	}
}

// A child whose session is renamed names it as it is called now, in every store.
func TestChildrenOfRenamedSessionsAreTheSameEverywhere(t *testing.T) {
	there, here := t.TempDir(), t.TempDir()
	m := &mirrored{Committer: session.Local(), to: openStore(t, there, session.Options{}), kinds: map[string]int{}}
	s := openStore(t, here, session.Options{Committer: m})
	x := create(t, s, refA)
	child := refA
	child.Session = "worker"
	create(t, s, child)
	if err := x.MakeChild("w"); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{ctxabi.ChildAgent: child.Agent, ctxabi.ChildSession: child.Session} {
		if err := x.SetControl(ctxabi.ChildPath("w", file), []byte(text+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	to := child
	to.Session = "builder"
	if err := s.Rename(child.Path(), to.Path()); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{here, there} {
		if data, err := os.ReadFile(filepath.Join(dir, refA.Path(), ctxabi.ChildPath("w", ctxabi.ChildSession))); string(data) != "builder\n" {
			t.Errorf("%s names %q, %v", dir, data, err)
		}
	}
	if m.kinds[string(session.SetFile)] != 3 {
		t.Errorf("%d files were committed: the new name is to be, and once", m.kinds[string(session.SetFile)])
	}
}
