package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// What a collector adds up of a session is what lies beneath it: links that its owner makes lead nowhere, even while he makes them.
func TestWhatASessionTakesLiesBeneathIt(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "store"), session.Options{})
	defer store.Close()
	x, err := store.Create(ctxabi.Ref{UID: uint32(os.Getuid()), Agent: "a", Session: "s"}, disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	write := func(name string, bytes int) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Repeat("x", bytes)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const foreign = 1 << 20
	write(filepath.Join(outside, "sub", "large"), foreign)
	before, err := x.Everything("")
	if err != nil {
		t.Fatal(err)
	}
	artifact := filepath.Join(x.Dir(), ctxabi.ChildDir, "c", ctxabi.ChildArtifact)
	write(filepath.Join(artifact, "deep", "er", "f"), 1000)
	then := before.Time.Add(time.Hour) // what the kernel notes by itself may be the tick in which the session was made
	if err := os.Chtimes(filepath.Join(artifact, "deep", "er", "f"), then, then); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(artifact, "link")); err != nil {
		t.Fatal(err)
	}
	if after, err := x.Everything(""); err != nil || after.Size-before.Size != 1000 || !after.Time.Equal(then) {
		t.Errorf("%+v, %v; before %+v", after, err, before)
	}

	// The owner has a directory and a link take turns under one name.
	there, link := filepath.Join(artifact, "deep"), filepath.Join(artifact, "link")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		aside := filepath.Join(artifact, "aside")
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(there, aside)
			os.Rename(link, there)
			os.Rename(there, link)
			os.Rename(aside, there)
		}
	}()
	for range 500 {
		if all, err := x.Everything(""); err == nil && all.Size >= foreign {
			t.Errorf("%d bytes of what lies elsewhere are counted", all.Size)
			break
		}
	}
	close(stop)
	<-stopped
}
