package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/pack/source"
)

func TestReadFiles(t *testing.T) {
	c, dir := start(t), t.TempDir()
	ok := write(t, filepath.Join(dir, "AGENTS.md"), "Be careful.\n")
	empty := write(t, filepath.Join(dir, "empty"), "")
	full := write(t, filepath.Join(dir, "full"), strings.Repeat("x", limit))
	big := write(t, filepath.Join(dir, "big"), strings.Repeat("x", limit+1))
	link, fifo, loop := filepath.Join(dir, "link"), filepath.Join(dir, "fifo"), filepath.Join(dir, "loop")
	for _, err := range []error{os.Symlink("AGENTS.md", link), unix.Mkfifo(fifo, 0o644), os.Symlink("loop", loop)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	odd := write(t, filepath.Join(dir, "not UTF-8 \xff\xfe"), "odd")
	for path, want := range map[string]source.WorkspaceFile{
		odd:                                     {Exists: true, Data: []byte("odd")},
		ok:                                      {Exists: true, Data: []byte("Be careful.\n")},
		link:                                    {Exists: true, Data: []byte("Be careful.\n")},
		empty:                                   {Exists: true},
		full:                                    {Exists: true, Data: bytes.Repeat([]byte("x"), limit)},
		big:                                     {Exists: true, Reason: "larger than 1048576 bytes"},
		fifo:                                    {Exists: true, Reason: "a FIFO, not a regular file"},
		dir:                                     {Exists: true, Reason: "a directory, not a regular file"},
		"/dev/zero":                             {Exists: true, Reason: "a device, not a regular file"},
		filepath.Join(dir, "missing"):           {},
		filepath.Join(dir, "missing/x"):         {},
		filepath.Join(ok, "x"):                  {Reason: "not a directory"},
		loop:                                    {Reason: "too many levels of symbolic links"},
		"AGENTS.md":                             {Reason: "not an absolute path"},
		"":                                      {Reason: "not an absolute path"},
		"/x\x00y":                               {Reason: "not an absolute path"},
		"/" + strings.Repeat("y", maxPath):      {Reason: "not an absolute path"},
		"/" + strings.Repeat("y", 300) + "\xff": {Reason: "file name too long"},
	} {
		got := read(t, c, long, path)
		if got.Exists != want.Exists || got.Stale || got.Reason != want.Reason || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%.80q: exists %v, stale %v, reason %q, %d bytes", path, got.Exists, got.Stale, got.Reason, len(got.Data))
		}
	}
	if files := readAs(t, c, os.Getuid(), long, ok, "/nowhere", ok); string(files[0].Data) != "Be careful.\n" || files[1].Exists || string(files[2].Data) != "Be careful.\n" {
		t.Errorf("several at once: %+v", files)
	}
}

func TestChangesAreSeenAtOnce(t *testing.T) {
	c, path := start(t), filepath.Join(t.TempDir(), "DELTA.md")
	for i := range 200 {
		want := fmt.Sprintf("version %03d", i) // always the same size
		write(t, path, want)
		if f := read(t, c, long, path); string(f.Data) != want || f.Stale {
			t.Fatalf("%q, want %q", f.Data, want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if f := read(t, c, long, path); f.Exists || f.Stale || f.Data != nil {
		t.Errorf("after its removal: %+v", f)
	}
}

func TestUnchangedFileIsNotSentAgain(t *testing.T) {
	c, path := start(t), write(t, filepath.Join(t.TempDir(), "f"), "same")
	first := read(t, c, long, path)
	c.mu.Lock()
	for _, f := range c.files.byKey {
		f.last.settled = true // as if the file had not changed for long
	}
	c.mu.Unlock()
	if again := read(t, c, long, path); &again.Data[0] != &first.Data[0] {
		t.Error("the content came anew")
	}
	write(t, path, "other")
	if f := read(t, c, long, path); string(f.Data) != "other" {
		t.Errorf("after a change: %q", f.Data)
	}
}

func TestReadFileByIdentity(t *testing.T) {
	begun := time.Now()
	path := write(t, filepath.Join(t.TempDir(), "f"), "text")
	a := readFile(request{Path: []byte(path), Max: limit})
	if a.Settled && time.Since(begun) < settleTime/2 {
		t.Error("a file just written counts as settled: it may change again within the same tick")
	}
	if b := readFile(request{Path: []byte(path), Max: limit, Known: &a.ID}); !b.Unchanged || b.Data != nil {
		t.Errorf("%+v", b)
	}
	other := a.ID
	other.Mtime--
	if b := readFile(request{Path: []byte(path), Max: limit, Known: &other}); b.Unchanged || string(b.Data) != "text" {
		t.Errorf("%+v", b)
	}
	if exe, err := os.Executable(); err != nil {
		t.Fatal(err)
	} else if a := readFile(request{Path: []byte(exe), Max: 10}); a.Reason != "larger than 10 bytes" {
		t.Errorf("%+v", a)
	}
}

func TestSlowReadIsStaleThenFresh(t *testing.T) {
	c, dir := start(t), t.TempDir()
	path := write(t, filepath.Join(dir, "f"), "one")
	if f := read(t, c, long, path); string(f.Data) != "one" {
		t.Fatalf("%+v", f)
	}
	pid := onlyReader(t, c)
	stop(t, pid)
	write(t, path, "two!")
	if f := read(t, c, short, path); !f.Stale || string(f.Data) != "one" || f.Reason != "" {
		t.Errorf("while it hangs: %+v", f)
	}
	if f := read(t, c, short, filepath.Join(dir, "new")); !f.Stale || f.Exists || f.Reason != reasonLate {
		t.Errorf("never seen, while it hangs: %+v", f)
	}
	if f := read(t, c, 0, path); !f.Stale {
		t.Errorf("no time at all: %+v", f)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, "it is read afterwards", func() bool { // at once, unless this test stood still so long that the read counts as one that hangs
		f := read(t, c, long, path)
		return !f.Stale && string(f.Data) == "two!"
	})
}

// Nobody waits for a file that has been hanging for long.
func TestHangingReadIsNotWaitedForAgain(t *testing.T) {
	c, path := start(t), write(t, filepath.Join(t.TempDir(), "f"), "one")
	read(t, c, long, path)
	pid := onlyReader(t, c)
	stop(t, pid)
	read(t, c, 0, path)
	c.mu.Lock()
	for _, l := range c.links {
		for _, x := range l.pending {
			x.started = x.started.Add(-2 * overdue)
		}
	}
	c.mu.Unlock()
	if f := read(t, c, long, path); !f.Stale || string(f.Data) != "one" {
		t.Errorf("%+v", f)
	}
}

// A filesystem whose server never answers: what a read into our own mount looks like.
func TestPathThatHangsHoldsNobodyElse(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	c, dir, hang := start(t), t.TempDir(), t.TempDir()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("hang", hang, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Close(fd) // ends the connection, and with it all that waits for it
		if err := unix.Unmount(hang, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ok := write(t, filepath.Join(dir, "f"), "fine")
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan []source.WorkspaceFile, 1)
	go func() {
		files, _ := c.ReadFiles(ctx, 0, 0, []string{filepath.Join(hang, "a"), ok}, limit, long)
		answered <- files
	}()
	until(t, "only the one that hangs is left", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		l := c.links[owner{0, 0}]
		return l != nil && l.served && len(l.pending) == 1 && len(l.waiting) == 0
	})
	cancel()
	files := <-answered
	if !files[0].Stale || files[0].Reason != reasonLate {
		t.Errorf("the one that hangs: %+v", files[0])
	}
	if files[1].Stale || string(files[1].Data) != "fine" {
		t.Errorf("the one beside it: %+v", files[1])
	}
	for i := range 2 * slots { // more than the reader's slots
		if f := read(t, c, 0, filepath.Join(hang, strconv.Itoa(i))); !f.Stale {
			t.Errorf("%+v", f)
		}
	}
	if f := readAs(t, c, 65534, long, ok)[0]; f.Stale || f.Reason != "permission denied" && string(f.Data) != "fine" {
		t.Errorf("another user: %+v", f)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestReaderRunsAsItsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run readers as other users")
	}
	c, dir := start(t), t.TempDir()
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	theirs, roots := write(t, filepath.Join(dir, "theirs"), "t"), write(t, filepath.Join(dir, "roots"), "r")
	for _, err := range []error{os.Chown(theirs, 12345, 12345), os.Chmod(theirs, 0o600), os.Chmod(roots, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files := readAs(t, c, 12345, long, theirs, roots)
	if string(files[0].Data) != "t" || files[0].Stale || files[1].Reason != "permission denied" || files[1].Data != nil {
		t.Errorf("%+v", files)
	}
	if other := readAs(t, c, 12346, long, theirs)[0]; other.Reason != "permission denied" || other.Data != nil {
		t.Errorf("another user gets %+v", other)
	}
	seen := 0
	for _, pid := range children(c.broker()) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		s := string(status)
		if !strings.Contains(s, "Uid:\t12345\t12345\t12345\t12345\n") {
			continue
		}
		seen++
		for _, want := range []string{"Gid:\t12345\t12345\t12345\t12345\n", "NoNewPrivs:\t1\n", "CapPrm:\t0000000000000000\n", "CapEff:\t0000000000000000\n", "CapAmb:\t0000000000000000\n"} {
			if !strings.Contains(s, want) {
				t.Errorf("no %q in %s", want, s)
			}
		}
		if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); cwd != "/" {
			t.Errorf("cwd %s", cwd)
		}
		if env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); string(env) != roleEnv+"="+roleReader+"\x00GOMAXPROCS=1\x00" {
			t.Errorf("environment %q", env)
		}
	}
	if seen != 1 {
		t.Errorf("%d readers of uid 12345", seen)
	}
	files, _ = c.ReadFiles(context.Background(), 1<<32-1, 0, []string{roots}, limit, long)
	if !files[0].Stale || files[0].Data != nil {
		t.Errorf("uid -1 gets %+v", files[0])
	}
}

func TestOtherUsersAreRefusedWithoutRoot(t *testing.T) {
	b := &broker{euid: 1000}
	if why := b.refuses(order{UID: 1001}); !strings.Contains(why, "cannot read as uid 1001") {
		t.Errorf("%q", why)
	}
}

func TestReaderThatDiesIsStartedAgain(t *testing.T) {
	c, path := start(t), write(t, filepath.Join(t.TempDir(), "f"), "x")
	read(t, c, long, path)
	pid := onlyReader(t, c)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended(t, pid)
	write(t, path, "yy")
	for deadline := time.Now().Add(long); ; {
		f := read(t, c, long, path)
		if !f.Stale {
			if string(f.Data) != "yy" {
				t.Errorf("%+v", f)
			}
			break
		}
		if string(f.Data) != "x" || time.Now().After(deadline) {
			t.Fatalf("%+v", f)
		}
	}
	if again := onlyReader(t, c); again == pid {
		t.Error("the same process")
	}
}

func TestCloseEndsEverything(t *testing.T) {
	c, path := start(t), write(t, filepath.Join(t.TempDir(), "f"), "x")
	read(t, c, long, path)
	broker, reader := c.broker(), onlyReader(t, c)
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := syscall.Kill(broker, 0); err == nil {
		t.Error("the runner was not reaped")
	}
	ended(t, reader)
	if f := read(t, c, long, path); !f.Stale {
		t.Errorf("after Close: %+v", f)
	}
}

func TestManyReadersAtOnce(t *testing.T) {
	c, dir, begun := start(t), t.TempDir(), time.Now()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			mine := filepath.Join(dir, fmt.Sprintf("f%d", g%4)) // two goroutines a file
			for i := range 50 {
				want := fmt.Sprintf("%d", g%4)
				if err := os.WriteFile(mine+fmt.Sprint(g), []byte(want), 0o644); err != nil {
					t.Error(err)
					return
				}
				if err := os.Rename(mine+fmt.Sprint(g), mine); err != nil {
					t.Error(err)
					return
				}
				var files []source.WorkspaceFile
				until(t, "both were looked at", func() bool { // at once, unless what another one asked for took as long as a read that hangs
					files, _ = c.ReadFiles(context.Background(), uint32(os.Getuid()), 0, []string{mine, "/nowhere"}, limit, long)
					return !files[0].Stale && !files[1].Stale || time.Since(begun) < overdue
				})
				if string(files[0].Data) != want || files[0].Stale || files[1].Exists || files[1].Stale {
					t.Errorf("%d.%d: %+v", g, i, files)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A file called as a pack is called is one only where a session of a mount has it.
func TestAFileThatIsOnlyCalledLikeAPackIsRead(t *testing.T) {
	c, dir := start(t), home(t, os.Getuid())
	for _, rel := range []string{"context/pack.json", "pack.md", "context/at/1/pack.report.md", "context/swap/index.jsonl"} {
		name := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{name, filepath.Join(dir, "context/errors.jsonl")} {
			if err := os.WriteFile(file, []byte(rel), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		link := name + ".link"
		if err := os.Symlink(filepath.Base(name), link); err != nil {
			t.Fatal(err)
		}
		for _, f := range readAs(t, c, os.Getuid(), long, name, link) {
			if string(f.Data) != rel || f.Reason != "" {
				t.Errorf("%s: %q, %q", f.Path, f.Data, f.Reason)
			}
		}
	}
}
