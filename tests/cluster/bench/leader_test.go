package bench

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// watched is a writer that goes on whatever happens.
type watched struct {
	acked   atomic.Int64
	longest atomic.Int64
}

// run calls write until done is closed, again after a failure, and notes how long it took until it succeeded.
func (w *watched) run(done <-chan struct{}, write func(i int) error) {
	for i := 0; ; i++ {
		begin := time.Now()
		for write(i) != nil {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
		w.longest.Store(max(w.longest.Load(), int64(time.Since(begin))))
		w.acked.Add(1)
		select {
		case <-done:
			return
		default:
		}
	}
}

// election takes the leader of a session away while a mount and a bare client append, both to its shard.
func (b *rig) election(how string, goal time.Duration) {
	here, _, s := b.session()
	f, bare := b.open(here, 1)[0], beside(s)
	var mount, alone watched
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { mount.run(done, func(i int) error { _, err := f.Write(record(i)); return err }) })
	all.Go(func() {
		last := uint64(0)
		alone.run(done, func(i int) error {
			seq, err := b.publish(bare, record(i), last, client.AckWait(2*time.Second))
			if err != nil {
				// The message may be there: the end of the journal is asked for, as a client without keys does.
				if m, bad := b.js.GetLastMsg(fmt.Sprintf("CTXJ_%02x", s.Shard()), bare, client.DirectGet()); bad == nil {
					last = m.Sequence
				}
				return err
			}
			last = seq
			return nil
		})
	})
	goOn := func(n int64, who ...*watched) {
		b.t.Helper()
		for _, w := range who {
			from := w.acked.Load()
			harness.Eventually(b.t, "appends to go on", func() bool { return w.acked.Load() >= from+n })
		}
	}
	goOn(50, &mount, &alone)
	n := b.c.Leader(b.t, s.Shard())
	if how == "killed" {
		b.c.Kill(n)
	} else {
		b.c.Isolate(n) // a bare client may stay connected to it
	}
	goOn(50, &mount)
	b.c.Heal()
	b.c.Restart(b.t, n)
	goOn(50, &mount, &alone)
	close(done)
	all.Wait()
	x, y := time.Duration(mount.longest.Load()), time.Duration(alone.longest.Load())
	b.add(row{
		"the leader is " + how + ", longest append through a mount", fmt.Sprintf("%.1f s", x.Seconds()), fmt.Sprintf("bare client %.1f s", y.Seconds()), fmt.Sprintf("%.1f ×", x.Seconds()/y.Seconds()),
		fmt.Sprintf("≤ %.0f s", goal.Seconds()), x <= goal,
	})
}
