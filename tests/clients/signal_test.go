package clients

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A program that is sent signals while it waits for a pack gets the pack: EINTR is no answer of a regular file.
func TestSignalsDoNotFailTheOpeningOfAPack(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := session(t, m)
	s.Append("messages.jsonl", long(3))
	s.Write("context/context.yaml", "wait_ms: 20000\nsources:\n  - {type: computed_file, id: slow, generator: {command: [sh, -c, 'sleep .4; echo done']}}\n  - {type: journal}\n")

	for {
		begun := time.Now()
		err := openUnderSignals(s.Path("context/pack.md"))
		if err == unix.EINTR && time.Since(begun) > 5*time.Second {
			continue // whoever presses ^C waits no longer than that; the generator has gone on meanwhile
		}
		if err != nil {
			t.Errorf("opening the pack: %v", err)
		}
		return
	}
}

// openUnderSignals opens and closes a file on a thread that is sent signals all the while.
func openUnderSignals(path string) error {
	ready, opened := make(chan int), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ready <- unix.Gettid()
		fd, err := unix.Open(path, unix.O_RDONLY, 0)
		if err == nil {
			unix.Close(fd)
		}
		opened <- err
	}()
	tid := <-ready
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-opened:
			return err
		case <-tick.C:
			// SIGURG is what the Go runtime sends its own threads to preempt them; its handler does nothing else.
			unix.Tgkill(unix.Getpid(), tid, unix.SIGURG)
		}
	}
}
