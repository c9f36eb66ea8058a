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

	signals := make(chan struct{})
	ready := make(chan int)
	opened := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ready <- unix.Gettid()
		fd, err := unix.Open(s.Path("context/pack.md"), unix.O_RDONLY, 0)
		if err == nil {
			unix.Close(fd)
		}
		opened <- err
	}()
	tid := <-ready
	go func() {
		defer close(signals)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			// SIGURG is what the Go runtime sends its own threads to preempt them; its handler does nothing else.
			if unix.Tgkill(unix.Getpid(), tid, unix.SIGURG) != nil {
				return
			}
			select {
			case err := <-opened:
				if err != nil {
					t.Errorf("opening the pack: %v", err)
				}
				return
			default:
			}
		}
	}()
	<-signals
}
