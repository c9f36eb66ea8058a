package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// otherHost appends on one mount, and reads on the other until the record is there.
func (b *rig) otherHost() {
	here, there, _ := b.session()
	f := b.open(here, 1)[0]
	fd, err := unix.Open(there.Path(ctxabi.MessagesFile), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer unix.Close(fd)
	var behind spread
	buf, offset := make([]byte, 4096), int64(0)
	for i := range b.times(500) {
		seen := make(chan time.Time, 1)
		go func() {
			for end := time.Now().Add(harness.Patience); time.Now().Before(end); {
				if n, err := unix.Pread(fd, buf, offset); err == nil && n > 0 {
					offset += int64(n)
					break
				}
			}
			seen <- time.Now()
		}()
		if _, err := f.Write(record(i)); err != nil {
			b.t.Fatal(err)
		}
		acked := time.Now()
		behind = append(behind, max(0, (<-seen).Sub(acked)))
	}
	p50, p99 := behind.at(.5), behind.at(.99)
	b.add(row{
		"read on the other mount after the acknowledgement, p50 (p99)", fmt.Sprintf("%s (%s)", ms(p50), ms(p99)), "", "", "≤ 1 ms (≤ 20 ms)", p50 <= time.Millisecond && p99 <= 20*time.Millisecond,
	})
}

// catchUp has a host without a copy read a session whose entries have a size, beside an ordered consumer that
// verifies nothing. It is to read goal MB a second.
func (b *rig) catchUp(size int, goal float64) {
	e := b.c.Open(b.t, "h0")
	id := enginetest.NewSession("u1000").Session
	m := b.join(e, "h0", id)
	content := strings.Repeat("y", size-60)
	n := b.times(min(4000, 64<<20/size))
	for i := range n {
		if _, err := m.x.Messages().Append(b.t.Context(), log.Batch{Data: fmt.Appendf(nil, `{"role":"user","content":"%10d %s"}`+"\n", i, content)}); err != nil {
			b.t.Fatal(err)
		}
	}
	s := host.Subject(m.x)
	var rates, bare []float64
	reader := b.c.Open(b.t, "h3")
	for range 3 {
		fresh := b.join(reader, "h3", id)
		begin := time.Now()
		if err := fresh.h.Fresh(b.t.Context(), fresh.x, 0); err != nil {
			b.t.Fatal(err)
		}
		took := time.Since(begin)
		fi, err := os.Stat(filepath.Join(fresh.x.Dir(), ctxabi.MessagesFile))
		if err != nil || fi.Size() < int64(n*(size-60)) {
			b.t.Fatalf("it has caught up to %v, %v", fi, err)
		}
		rates = append(rates, float64(fi.Size())/1e6/took.Seconds())
		bare = append(bare, b.consume(s, n))
	}
	x, y := best(rates), best(bare)
	b.add(row{
		fmt.Sprintf("a host catches up, %d entries of %d KiB", n, size>>10), fmt.Sprintf("%.0f MB/s", x), fmt.Sprintf("ordered consumer %.0f MB/s", y), fmt.Sprintf("%.2f ×", x/y),
		fmt.Sprintf("≥ %.0f MB/s, ≥ 0.4 ×", goal), x >= goal && x >= .4*y,
	})
}

// consume reads a journal of n entries, or some more, with an ordered consumer, and returns MB a second.
func (b *rig) consume(s engine.Subject, n int) float64 {
	begin := time.Now()
	c, err := b.pulls.OrderedConsumer(b.t.Context(), fmt.Sprintf("CTXJ_%02x", s.Shard()), jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{fmt.Sprintf("ctx.v1.j.%02x.%s.%s", s.Shard(), s.Owner, s.Session)},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	list, err := c.Messages()
	if err != nil {
		b.t.Fatal(err)
	}
	defer list.Stop()
	defer time.AfterFunc(harness.Patience, list.Stop).Stop()
	for bytes, entries := 0, 1; ; entries++ {
		m, err := list.Next()
		if err != nil {
			b.t.Fatalf("an ordered consumer has %d entries of %d, %v", entries-1, n, err)
		}
		bytes += len(m.Data())
		if meta, err := m.Metadata(); err != nil || meta.NumPending == 0 {
			if entries < n {
				b.t.Fatalf("an ordered consumer has %d entries of %d, %v", entries, n, err)
			}
			return float64(bytes) / 1e6 / time.Since(begin).Seconds()
		}
	}
}

func best(list []float64) (most float64) {
	for _, x := range list {
		most = max(most, x)
	}
	return most
}
