package clients

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A program that is sent signals while it waits for a pack gets the pack: EINTR is no answer of a regular file.
func TestSignalsDoNotFailTheOpeningOfAPack(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", long(3))
	s.Write("context/context.yaml", "wait_ms: 20000\nsources:\n  - {type: computed_file, id: slow, generator: {command: [sh, -c, 'sleep .4; echo done']}}\n  - {type: journal}\n")

	for {
		begun := time.Now()
		err := underSignals(func() error {
			fd, err := unix.Open(s.Path("context/pack.md"), unix.O_RDONLY, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		})
		if err == unix.EINTR && time.Since(begun) > 5*time.Second {
			continue // whoever presses ^C waits no longer than that; the generator has gone on meanwhile
		}
		if err != nil {
			t.Errorf("opening the pack: %v", err)
		}
		return
	}
}

// A program that is sent signals while it asks for a sweep has the sweep done.
func TestSignalsDoNotEndASweep(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--gc-interval=0"}})
	s := m.NewSession(t)
	s.Append("messages.jsonl", long(3))
	for range 60 {
		if err := underSignals(func() error {
			return unix.Setxattr(s.Dir, ctxabi.CollectAttr, []byte(gc.RunSweep), 0)
		}); err != nil {
			t.Fatalf("user.ctx.gc: %v, %v", err, s.Errors())
		}
	}
}

// underSignals calls do on a thread that is sent signals all the while.
func underSignals(do func() error) error {
	ready, ended := make(chan int), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ready <- unix.Gettid()
		ended <- do()
	}()
	tid := <-ready
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			// SIGURG is what the Go runtime sends its own threads to preempt them; its handler does nothing else.
			unix.Tgkill(unix.Getpid(), tid, unix.SIGURG)
		}
	}
}
