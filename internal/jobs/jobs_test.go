package jobs

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func dirOf(t *testing.T) Dir {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	d, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d Dir) files(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(d.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func never(Job) error { return errors.New("a session ends of which nobody said so") }

// Of many who ask at once, each is answered by an import that began after it asked, and one imports at a time.
func TestEachRequestIsAnsweredByALaterImport(t *testing.T) {
	d := dirOf(t)
	var clock, running, imports atomic.Int64
	work := func(j Job) error {
		if running.Add(1) > 1 {
			t.Error("two import at once")
		}
		defer running.Add(-1)
		imports.Add(1)
		clock.Add(1)
		return nil
	}
	j := Job{Transcript: "/t", Format: "codex", Session: "/s"}
	var workers, askers sync.WaitGroup
	for range 20 {
		askers.Go(func() {
			for range 10 {
				at := clock.Load() // before Want: an import that includes the request begins after it
				n, run, err := d.Want(t.Context(), j)
				if err != nil {
					t.Error(err)
					return
				}
				if run != nil {
					workers.Go(func() {
						if err := d.Work(j.Key(), run, work, never); err != nil {
							t.Error(err)
						}
					})
				}
				if err := d.Await(t.Context(), j.Key(), n); err != nil {
					t.Error(err)
				}
				if clock.Load() == at {
					t.Errorf("request %d was answered by what was imported before", n)
				}
			}
		})
	}
	askers.Wait()
	workers.Wait()
	if left := d.files(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if imports.Load() == 0 {
		t.Error("nothing was imported")
	}
}

// A request that comes while an import runs makes it look once more.
func TestAnImportLooksOnceMore(t *testing.T) {
	d := dirOf(t)
	j := Job{Transcript: "/t", Session: "/s"}
	_, run, err := d.Want(t.Context(), j)
	if err != nil || run == nil {
		t.Fatal(run, err)
	}
	var imports, ends int
	err = d.Work(j.Key(), run, func(Job) error {
		if imports++; imports == 1 {
			j.Ends = true
			if _, run, err := d.Want(t.Context(), j); run != nil || err != nil {
				t.Errorf("a second one is to be started: %v %v", run, err)
			}
		}
		return nil
	}, func(Job) error { ends++; return nil })
	if err != nil || imports != 2 || ends != 1 {
		t.Errorf("%d imports, %d ends, %v", imports, ends, err)
	}
	if left := d.files(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A session that is taken up again is not ended by an import that was under way.
func TestASessionThatBeganAgainDoesNotEnd(t *testing.T) {
	d := dirOf(t)
	j := Job{Transcript: "/t", Session: "/s", Ends: true}
	_, run, err := d.Want(t.Context(), j)
	if err != nil || run == nil {
		t.Fatal(run, err)
	}
	begun := 0
	err = d.Work(j.Key(), run, func(Job) error {
		return d.Begin(t.Context(), j.Key(), func() error { begun++; return nil })
	}, never)
	if err != nil || begun != 1 {
		t.Errorf("%d beginnings, %v", begun, err)
	}
	if err := d.Begin(t.Context(), j.Key(), func() error { begun++; return nil }); err != nil || begun != 2 {
		t.Errorf("without a job: %d beginnings, %v", begun, err)
	}
}

// What goes wrong is told once, and bounded; what is to be tried again stays.
func TestAFailureIsKeptUntilItIsTold(t *testing.T) {
	d := dirOf(t)
	j := Job{Transcript: "/t", Session: "/s"}
	fail := func(err error) {
		t.Helper()
		_, run, e := d.Want(t.Context(), j)
		if e != nil || run == nil {
			t.Fatal(run, e)
		}
		if e := d.Work(j.Key(), run, func(Job) error { return err }, never); e != nil {
			t.Fatal(e)
		}
	}
	fail(errors.New("no\nroom " + strings.Repeat("x", 9000)))
	fail(errors.New("second"))
	fail(errors.New("second"))
	failed, err := d.Failures(t.Context(), j.Key())
	if err != nil || len(failed) != 2 || !strings.HasPrefix(failed[0], "no room x") || len(failed[0]) > maxFailure+8 || failed[1] != "second" {
		t.Errorf("told: %.80q, %v", failed, err)
	}
	if left := d.files(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for range 3 * maxFailures {
		fail(Later{errors.New("asleep")})
		fail(Later{errors.New("away")})
	}
	if run, err := d.Left(t.Context(), j.Key()); run == nil || err != nil {
		t.Errorf("what is to be tried again is not left: %v", err)
	} else {
		run.Close()
	}
	if all := d.All(); len(all) != 1 || len(all[0].Failed) != maxFailures || !all[0].Pending() {
		t.Errorf("the jobs are %+v", all)
	}
	fail(nil)
	if failed, err := d.Failures(t.Context(), j.Key()); err != nil || len(failed) != maxFailures {
		t.Errorf("told: %q, %v", failed, err)
	}
	if failed, err := d.Failures(t.Context(), j.Key()); err != nil || failed != nil {
		t.Errorf("told again: %q, %v", failed, err)
	}
}

// Whoever waits for a process that was killed is told so, and the next one starts anew.
func TestAJobThatNobodyWorksOnIsLost(t *testing.T) {
	d := dirOf(t)
	j := Job{Transcript: "/t", Session: "/s"}
	n, run, err := d.Want(t.Context(), j)
	if err != nil || run == nil {
		t.Fatal(run, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Await(ended, j.Key(), n); !errors.Is(err, context.Canceled) {
		t.Errorf("while it is worked on: %v", err)
	}
	run.Close()
	if err := d.Await(t.Context(), j.Key(), n); !errors.Is(err, ErrLost) {
		t.Errorf("when it was killed: %v", err)
	}
	if n, run, err = d.Want(t.Context(), j); err != nil || run == nil || n != 2 {
		t.Errorf("the next one: %d %v %v", n, run, err)
	}
}

// A directory that somebody else can write to is not used.
func TestTheDirectoryIsTheUsersOwn(t *testing.T) {
	runtime, temp := t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("TMPDIR", temp)
	if err := os.Mkdir(runtime+"/ctxfs", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(runtime+"/ctxfs", 0o777); err != nil {
		t.Fatal(err)
	}
	d, err := Open()
	if err != nil || !strings.HasPrefix(d.Path(), temp+"/ctxfs-") {
		t.Errorf("%s, %v", d.Path(), err)
	}
	if err := os.RemoveAll(d.Path()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(runtime, d.Path()); err != nil {
		t.Fatal(err)
	}
	if d, err := Open(); err == nil {
		t.Errorf("%s is used, a link", d.Path())
	}
}
