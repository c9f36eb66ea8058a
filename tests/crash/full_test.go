package crash

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// The disk under the store is full: appends are refused with ENOSPC, nothing
// that was acknowledged suffers, what is there can be read, also by a daemon
// that starts on the full disk, and when there is room again the log goes on.
func TestFullDisk(t *testing.T) {
	harness.NeedRoot(t)
	tool(t, "mkfs.ext4", "e2fsprogs")
	dir := t.TempDir()
	image, disk := filepath.Join(dir, "disk.img"), filepath.Join(dir, "disk")
	makeImage(t, image, 64<<20, "mkfs.ext4", "-q", "-F", "-m", "0")
	loopMount(t, image, disk, "loop")
	m := harness.Start(t, harness.Options{Store: filepath.Join(disk, "store")})
	s := m.Session(t, harness.Self(), "coder", "full")

	filler := filepath.Join(disk, "filler")
	fill := func() {
		t.Helper()
		f, err := os.OpenFile(filler, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for size := 1 << 20; size >= 512; { // to the last block
			if _, err := f.Write(make([]byte, size)); err != nil {
				size /= 2
			}
		}
		f.Sync()
	}
	var want strings.Builder
	add := func(size int) error {
		r := harness.Message("user", strings.Repeat("y", size))
		err := appendTo(s.Path("messages.jsonl"), r)
		if err == nil {
			want.WriteString(r)
		}
		return err
	}
	whole := func(when string) {
		t.Helper()
		if got := s.Read("messages.jsonl"); got != want.String() {
			t.Errorf("%s: the log has %d bytes, want the %d acknowledged ones", when, len(got), want.Len())
		}
	}
	for range 20 {
		if err := add(3000); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	var err error
	for n := 0; err == nil && n < 10000; n++ {
		err = add(3000 + n%5*20000)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("append on a full disk: %v, want ENOSPC", err)
	}
	whole("full")
	if err := add(200 << 10); !errors.Is(err, unix.ENOSPC) { // more than a stage keeps in memory
		t.Errorf("append of a large record on a full disk: %v, want ENOSPC", err)
	}
	whole("full, after a large record")
	if err := os.WriteFile(s.Path("context/budget"), bytes.Repeat([]byte(" "), 100<<10), 0o600); err != nil && !errors.Is(err, unix.ENOSPC) {
		t.Errorf("set the budget on a full disk: %v, want ENOSPC", err)
	}

	m.Kill()
	m.Restart()
	whole("after a restart on the full disk")
	if got := s.Read("context/pack.md"); !strings.Contains(got, "yyy") {
		t.Errorf("the pack on a full disk lacks the history: %.200q", got)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{100, 3000, 300 << 10} {
		if err := add(size); err != nil {
			t.Errorf("append when there is room again: %v", err)
		}
	}
	whole("with room again")
	m.Stop()
	verify(t, m)
}

// A shell does not look at what close returns: it has to hear of the full disk at the write.
func TestAShellHearsThatASettingDoesNotFitOnTheDisk(t *testing.T) {
	harness.NeedRoot(t)
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	m := harness.Start(t, harness.Options{Store: filepath.Join(disk, "store")})
	s := m.Session(t, harness.Self(), "coder", "full")
	s.Write("context/budget", "4000\n")
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("fill the disk: %v", err)
	}
	for name, value := range map[string]string{"context/budget": "500", "context/summary.md": "x", "context/pinned/rule": "x"} {
		if r := s.Bash("echo " + value + " > " + name); r.Code == 0 || !strings.Contains(r.Stderr, "No space left") {
			t.Errorf("%s: ended with %d, %q", name, r.Code, r.Stderr)
		}
	}
	if got := s.Read("context/budget"); got != "4000\n" {
		t.Errorf("the budget is %q now", got)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	s.Bash("echo 500 > context/budget").OK()
	if got := s.Read("context/budget"); got != "500\n" {
		t.Errorf("with room again: %q", got)
	}
	m.Stop()
}
