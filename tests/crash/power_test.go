package crash

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Five times the power goes while writers and a maker of sessions are at
// work. The store lies on a file system inside a disk image, the image on an
// XFS with reflinks: a reflink copy of the image is the disk as a power cut
// would leave it, without what the kernel had not written yet. The copy is
// mounted, which replays its journal, and served.
func TestPowerCut(t *testing.T) {
	harness.NeedRoot(t)
	for _, c := range []struct {
		fs   string
		mkfs []string
		opts string
		cuts int
	}{
		{"ext4", []string{"mkfs.ext4", "-q", "-F"}, "loop", 3},
		{"xfs", []string{"mkfs.xfs", "-q"}, "loop,nouuid", 2},
	} {
		t.Run(c.fs, func(t *testing.T) {
			c.cuts = suite.Pick(t, c.cuts-1, c.cuts)
			if suite.Soak() {
				c.cuts *= 5
			}
			tool(t, "mkfs.xfs", "xfsprogs")
			tool(t, c.mkfs[0], "e2fsprogs")
			sd := seed(t)
			rnd := rand.New(rand.NewPCG(uint64(sd), 2))
			dir := t.TempDir()
			outer := filepath.Join(dir, "outer")
			makeImage(t, outer+".img", 4<<30, "mkfs.xfs", "-q", "-m", "reflink=1")
			loopMount(t, outer+".img", outer, "loop")
			disk := filepath.Join(outer, "disk.img")
			makeImage(t, disk, 1<<30, c.mkfs...)
			inner := filepath.Join(dir, "disk")
			loopMount(t, disk, inner, c.opts)

			m := harness.Start(t, harness.Options{Store: filepath.Join(inner, "store")})
			s := m.Session(t, harness.Self(), "coder", "cut")
			l := newLoad(t, s, 4, sd)
			wait := l.start(0, 5)
			made, stopMaking := makeSessions(t, m)
			type cut struct {
				image        string
				before       []steps
				madeSessions int
			}
			var cuts []cut
			awaitDurable(t, l)
			for i := range c.cuts {
				time.Sleep(time.Duration(50+rnd.IntN(700)) * time.Millisecond) // the random moment
				x := cut{image: filepath.Join(outer, fmt.Sprintf("cut%d.img", i)), before: l.journals(), madeSessions: made()}
				run(t, "cp", "--reflink=always", disk, x.image)
				cuts = append(cuts, x)
			}
			stopMaking()
			m.Kill()
			wait()
			written := l.journals() // what may be in a cut: everything that was ever begun
			for i, x := range cuts {
				mnt := filepath.Join(dir, fmt.Sprintf("cut%d", i))
				loopMount(t, x.image, mnt, c.opts)
				served := harness.Start(t, harness.Options{Store: filepath.Join(mnt, "store")})
				at := filepath.Join(served.Dir, s.Ref())
				durable := 0
				for _, name := range []string{"messages.jsonl", "events.jsonl"} {
					data, err := os.ReadFile(filepath.Join(at, name))
					if err != nil {
						t.Errorf("cut %d: %v", i, err)
						continue
					}
					durable += checkDurable(t, name, check(t, name, data, written), x.before)
				}
				for n := range x.madeSessions {
					got, err := os.ReadFile(filepath.Join(filepath.Dir(at), sessionName(n), "messages.jsonl"))
					if want := madeRecord(n); err != nil || string(got) != want {
						t.Errorf("cut %d: session %d was made and fsynced, but its log holds %q (%v), want %q", i, n, got, err, want)
					}
				}
				if _, err := os.ReadFile(filepath.Join(at, "context", "pack.md")); err != nil {
					t.Errorf("cut %d: %v", i, err)
				}
				again := harness.Message("user", "after the cut")
				if err := appendTo(filepath.Join(at, "messages.jsonl"), again); err != nil {
					t.Errorf("cut %d: append after it: %v", i, err)
				}
				if got, err := os.ReadFile(filepath.Join(at, "messages.jsonl")); err != nil || !strings.HasSuffix(string(got), "\n"+again) {
					t.Errorf("cut %d: the record appended after it is not the last one (%v)", i, err)
				}
				readEverything(t, filepath.Dir(at))
				served.Stop()
				verify(t, served)
				t.Logf("cut %d: %d durable records, %d sessions made", i, durable, x.madeSessions)
			}
		})
	}
}

// readEverything reads the logs of all sessions in dir, which opens and repairs each of them.
func readEverything(t *testing.T, dir string) {
	t.Helper()
	sessions, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	for _, e := range sessions {
		for _, name := range []string{"messages.jsonl", "events.jsonl"} {
			b, err := os.ReadFile(filepath.Join(dir, e.Name(), name))
			if err != nil {
				t.Error(err)
			}
			harness.Lines(t, string(b))
		}
	}
}

// awaitDurable returns when every writer has had an fsync, so that a cut has something to lose.
func awaitDurable(t *testing.T, l *load) {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); ; runtime.Gosched() {
		least := math.MaxInt
		for w, s := range l.journals() {
			least = min(least, s.durable)
			if s.failure != "" {
				t.Fatalf("writer %d ended: %s", w, s.failure)
			}
		}
		if least > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the writers do not come to their first fsync")
		}
	}
}

func sessionName(n int) string { return fmt.Sprintf("made-%d", n) }
func madeRecord(n int) string {
	return harness.Message("user", fmt.Sprintf("the first record of session %d", n))
}
func appendTo(p, s string) error {
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// makeSessions makes sessions one after the other, each with one fsynced
// record, until stop is called; made is the number finished so far.
func makeSessions(t *testing.T, m *harness.Mount) (made func() int, stop func()) {
	t.Helper()
	home := filepath.Join(m.Dir, "home", fmt.Sprint(harness.Self()), "agent", "coder", "session")
	count, quit, done := make(chan int, 1), make(chan struct{}), make(chan struct{})
	count <- 0
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-quit:
				return
			default:
			}
			dir := filepath.Join(home, sessionName(n))
			err := os.Mkdir(dir, 0o700)
			if err == nil {
				var f *os.File
				if f, err = os.OpenFile(filepath.Join(dir, "messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0); err == nil {
					if _, err = f.WriteString(madeRecord(n)); err == nil {
						err = f.Sync()
					}
					f.Close()
				}
			}
			if err != nil {
				t.Errorf("make session %d: %v", n, err)
				return
			}
			<-count
			count <- n + 1
		}
	}()
	return func() int { n := <-count; count <- n; return n }, func() { close(quit); <-done }
}

// tool fails the test when a program is not installed.
func tool(t *testing.T, name, pkg string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Fatalf("%s is not installed: apt-get install %s", name, pkg)
	}
}

func run(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
}

// makeImage makes a sparse file of size bytes with a file system in it.
func makeImage(t *testing.T, name string, size int64, mkfs ...string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, append(mkfs, name)...)
}

// loopMount mounts an image for the time of the test.
func loopMount(t *testing.T, image, dir, opts string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, "mount", "-o", opts, image, dir)
	t.Cleanup(func() {
		defer exec.Command("umount", "-q", "-l", dir).Run() // where that below gave up
		// A process with mounts of its own that began meanwhile keeps the disk a little longer.
		harness.Eventually(t, "the unmounting of "+dir, func() bool { return exec.Command("umount", dir).Run() == nil })
	})
}
