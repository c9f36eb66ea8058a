package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/kept"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// appendTo appends a message to a session and returns what the write, or the open before it, returned.
func appendTo(s *harness.Session, text string) error {
	f, err := os.OpenFile(s.Path(ctxabi.MessagesFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(harness.Message("user", text))
	return err
}

// mustAppend is appendTo of an append that has to succeed.
func mustAppend(t *testing.T, s *harness.Session, text string) {
	t.Helper()
	if err := appendTo(s, text); err != nil {
		t.Fatal(err)
	}
}

// texts returns the contents of the messages of a session that a mount shows, or the error of the read.
func texts(s *harness.Session) (list []string, err error) {
	b, err := os.ReadFile(s.Path(ctxabi.MessagesFile))
	for line := range bytes.Lines(b) {
		_, rest, _ := strings.Cut(string(line), `"content":"`)
		list = append(list, strings.TrimSuffix(strings.TrimSpace(rest), `"}`))
	}
	return list, err
}

// shows waits until a mount shows these messages of a session.
func shows(t *testing.T, s *harness.Session, want ...string) {
	t.Helper()
	var got []string
	var err error
	defer func() {
		if t.Failed() {
			t.Logf("%s: %q, %v", s.Dir, got, err)
		}
	}()
	harness.Eventually(t, fmt.Sprintf("%d messages in %s", len(want), s.Dir), func() bool {
		got, err = texts(s)
		return err == nil && slices.Equal(got, want)
	})
}

// TestHostsLoseWhatTheyHave takes from one of two hosts its links, its copies, and the room on its disk.
func TestHostsLoseWhatTheyHave(t *testing.T) {
	suite.Matrix(t, slow)
	c := servers.Start(t)
	a := mounts.New(t, c, "a", harness.Options{}, "--cluster-timeout", "3s")
	b := mounts.New(t, c, "b", harness.Options{}, "--cluster-timeout", "3s")
	mounts.Run(t, a, b)
	t.Run("links", func(t *testing.T) { cutOff(t, c, a, b) })
	t.Run("copies", func(t *testing.T) { withoutCopies(t, a, b) })
	t.Run("room", func(t *testing.T) { withoutRoom(t, c, a) })
	t.Run("version", func(t *testing.T) { later(t, c, a, b) })
}

// cutOff cuts a host off: what it appends is refused, it goes on to show what it has, and it catches up once it
// is back. The other host does not notice.
func cutOff(t *testing.T, c *servers.Cluster, a, b *mounts.Host) {
	here := a.Session(t, harness.Self(), "coder", "links")
	mustAppend(t, here, "one")
	there := b.Await(t, here)
	shows(t, there, "one")
	c.CutHost(t, "b")
	harness.Eventually(t, "a refusal", func() bool { // the first ones may get through before the cut is felt
		err := appendTo(there, "refused")
		if err != nil && !errors.Is(err, unix.ETIMEDOUT) && !errors.Is(err, unix.EIO) {
			t.Fatalf("an append of a host that is cut off: %v", err)
		}
		return errors.Is(err, unix.ETIMEDOUT)
	})
	for i := range 20 {
		mustAppend(t, here, fmt.Sprint("meanwhile ", i))
	}
	if got, err := texts(there); err != nil || !slices.Contains(got, "one") || slices.Contains(got, "meanwhile 0") {
		t.Errorf("a host that is cut off shows %q, %v", got, err)
	}
	c.HealHost(t, "b")
	harness.Eventually(t, "an append after the cut", func() bool { return appendTo(there, "back") == nil })
	want, err := texts(there)
	if err != nil || want[len(want)-1] != "back" {
		t.Fatalf("the host that is back shows %q, %v", want, err)
	}
	shows(t, here, want...)
	for i, text := range want {
		if n := slices.Index(want, text); n != i && text != "refused" && text != "back" {
			t.Errorf("%q stands there twice, at %d and at %d", text, n, i)
		}
	}
	if len(want) < 22 {
		t.Errorf("there are %d messages: %q", len(want), want)
	}
}

// withoutCopies removes the copy of a session in the store of a host that runs: it shows the bytes or refuses
// to, never others, and has all of them once it is mounted again.
func withoutCopies(t *testing.T, a, b *mounts.Host) {
	here := a.Session(t, harness.Self(), "coder", "copies")
	var want []string
	for i := range 30 {
		want = append(want, fmt.Sprint("message ", i))
		mustAppend(t, here, want[i])
	}
	there := b.Await(t, here)
	shows(t, there, want...)
	if err := os.RemoveAll(there.InStore()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		got, err := texts(there)
		if err == nil && !slices.Equal(got, want[:len(got)]) {
			t.Errorf("a host without its copy shows %q", got)
		}
	}
	mustAppend(t, here, "more") // the other host does not notice
	want = append(want, "more")
	b.Kill()
	b.Again(t)
	shows(t, there, want...)
	mustAppend(t, there, "and more")
	shows(t, here, append(want, "and more")...)
}

// withoutRoom fills the disk below the store of a host: others go on, it refuses what it cannot keep or shows
// it, and has all of it once there is room.
func withoutRoom(t *testing.T, c *servers.Cluster, a *mounts.Host) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a small disk needs the right to mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
	full := mounts.New(t, c, "c", harness.Options{Store: filepath.Join(disk, "store")}, "--cluster-timeout", "3s")
	mounts.Run(t, full)
	here := a.Session(t, harness.Self(), "coder", "room")
	mustAppend(t, here, "one")
	there := full.Await(t, here)
	shows(t, there, "one")
	filler := filepath.Join(disk, "filler")
	fill(t, filler)
	want := []string{"one"}
	text := strings.Repeat("x", 4000)
	for i := range 20 {
		want = append(want, fmt.Sprint(text, i))
		mustAppend(t, here, want[len(want)-1])
	}
	err := appendTo(there, "full")
	if err != nil && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EIO) && !errors.Is(err, unix.ETIMEDOUT) {
		t.Errorf("an append of a host without room: %v", err)
	}
	if got, err := texts(there); err == nil && !slices.Equal(got, want[:min(len(got), len(want))]) && !slices.Contains(got, "full") {
		t.Errorf("a host without room shows %d messages that are others", len(got))
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "an append with room again", func() bool { return appendTo(there, "room") == nil })
	got, err := texts(here)
	if err != nil || len(got) < len(want)+1 || !slices.Equal(got[:len(want)], want) {
		t.Errorf("there are %d messages, %v", len(got), err)
	}
	shows(t, there, got...)
}

// fill takes all room of a disk.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}

// later puts journals of a later version of ctxfs into the cluster: their sessions can be read as far as they are
// understood, and not be changed. Others are as before.
func later(t *testing.T, c *servers.Cluster, a, b *mounts.Host) {
	harness.NeedRoot(t) // the sessions are of another user
	e := c.Open(t, "z")
	for _, j := range kept.Read(t, kept.Later) {
		j.Put(t, e)
	}
	for _, name := range []string{kept.LaterEntry, kept.LaterRow, kept.LaterForm} {
		for _, h := range []*mounts.Host{a, b} {
			x := h.Session(t, kept.Owner.UID, kept.Owner.Agent, name) // it is there
			harness.Eventually(t, "a refusal of what is not understood", func() bool {
				r := x.Bash(`echo '{"role":"user","content":"two"}' >> messages.jsonl`)
				if r.Code == 0 {
					t.Fatal("a record stands behind what is not understood")
				}
				return strings.Contains(r.Stderr, "Permission denied")
			})
			if got := x.Bash("cat messages.jsonl").OK(); got != harness.Message("user", "of this version") {
				t.Errorf("%s shows %q", x.Dir, got)
			}
			if rows := x.Bash("cat " + ctxabi.ErrorsFile).OK(); !strings.Contains(rows, "newer ctxfs") {
				t.Errorf("the reason is not in errors.jsonl:\n%s", rows)
			}
		}
	}
	other := a.Session(t, harness.Self(), "coder", "of-this-version")
	mustAppend(t, other, "one")
	shows(t, b.Await(t, other), "one")
}
