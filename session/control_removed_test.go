package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

func TestControlFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	x := create(t, s, refA)
	if err := x.RemoveControl(ctxabi.EnvFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, name := range []string{ctxabi.MessagesFile, ".ctxfs/id", "../x"} {
		if err := x.RemoveControl(name); err == nil {
			t.Errorf("%s is removed", name)
		}
	}

	if err := x.SetControl(ctxabi.EnvFile, []byte("A=1\n")); err != nil {
		t.Fatal(err)
	}
	if err := x.RemoveControl(ctxabi.EnvFile); err != nil {
		t.Error(err)
	}
	if _, err := x.Control(ctxabi.EnvFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the removed file: %v", err)
	}
}

func TestAPinIsWrittenWithoutItsDirectory(t *testing.T) {
	dir := t.TempDir()
	x := create(t, openStore(t, dir, session.Options{}), refA)
	if err := os.Remove(filepath.Join(dir, refA.Path(), ctxabi.PinnedDir)); err != nil {
		t.Fatal(err)
	}
	pin := ctxabi.PinnedDir + "/rules.md"
	if err := x.SetControl(pin, []byte("rules\n")); err != nil {
		t.Fatal(err)
	}
	if data, err := x.Control(pin); err != nil || string(data) != "rules\n" {
		t.Errorf("%q %v", data, err)
	}
}
