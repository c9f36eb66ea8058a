package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestDeadRunnerIsReplaced(t *testing.T) {
	ends := make(chan int, 1)
	c, err := Start(context.Background(), func(times int, err error) {
		if err == nil || err.Error() != "signal: killed" {
			t.Errorf("end %d: %v", times, err)
		}
		ends <- times
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	path := write(t, filepath.Join(t.TempDir(), "f"), "x")
	read(t, c, long, path)
	for times := 1; times <= 2; times++ {
		reader, broker := onlyReader(t, c), c.broker()
		if err := syscall.Kill(broker, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if got := <-ends; got != times { // before it starts again
			t.Errorf("end %d is reported as %d", times, got)
		}
		ended(t, reader)
		before := fmt.Sprint("before ", times)
		write(t, path, before)
		until(t, "the file is current", func() bool {
			f := read(t, c, long, path)
			return !f.Stale && string(f.Data) == before
		})
		if c.broker() == broker {
			t.Error("the same process")
		}
	}
}

// A broker that ends at once must not be started all the time.
func TestRunnerRestartsSlowDown(t *testing.T) {
	pauses := []time.Duration{firstRestart}
	for range 10 {
		pauses = append(pauses, nextRestart(pauses[len(pauses)-1], time.Second))
	}
	if pauses[1] != 2*firstRestart || pauses[10] != longestRestart {
		t.Errorf("pauses are %v", pauses)
	}
	if got := nextRestart(longestRestart, longestRestart+1); got != firstRestart {
		t.Errorf("after a long life the pause is %v", got)
	}
}

// While there is no runner, answers are the last known ones and marked.
func TestAnswersAreStaleWithoutRunner(t *testing.T) {
	block := make(chan struct{})
	c, err := Start(context.Background(), func(int, error) { <-block })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	defer close(block)
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "f"), "x")
	read(t, c, long, path)
	reader := onlyReader(t, c)
	if err := syscall.Kill(c.broker(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended(t, reader)
	until(t, "the client knows", func() bool { return read(t, c, long, filepath.Join(dir, "g")).Reason == reasonGone })
	if f := read(t, c, long, path); !f.Stale || string(f.Data) != "x" {
		t.Errorf("known: %+v", f)
	}
	if f := read(t, c, long, filepath.Join(dir, "g")); !f.Stale || f.Reason != reasonGone {
		t.Errorf("not known: %+v", f)
	}
}

func TestRunnerDiesBeforeDaemon(t *testing.T) {
	score := func(pid int) (n int) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(string(b), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	c := start(t)
	read(t, c, long, write(t, filepath.Join(t.TempDir(), "f"), "x"))
	if mine := score(os.Getpid()); mine < 1000 && (score(c.broker()) <= mine || score(onlyReader(t, c)) <= mine) {
		t.Errorf("the runner has the OOM score %d, its reader %d, the daemon %d", score(c.broker()), score(onlyReader(t, c)), mine)
	}
}
