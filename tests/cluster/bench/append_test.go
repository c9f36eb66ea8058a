package bench

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/session/log"
)

// oneWriter appends through a mount and with a bare client, in turns.
func (b *rig) oneWriter() {
	here, _, s := b.session()
	f, bare, last := b.open(here, 1)[0], beside(s), uint64(0)
	var through, alone spread
	for i := range b.times(1500) {
		data := record(i)
		begin := time.Now()
		if _, err := f.Write(data); err != nil {
			b.t.Fatal(err)
		}
		through = append(through, time.Since(begin))
		begin = time.Now()
		seq, err := b.publish(bare, data, last)
		if err != nil {
			b.t.Fatal(err)
		}
		alone, last = append(alone, time.Since(begin)), seq
	}
	x, y := through.at(.5), alone.at(.5)
	b.add(row{
		"append of 1 KiB through a mount, p50 (p99)", fmt.Sprintf("%s (%s)", ms(x), ms(through.at(.99))), fmt.Sprintf("bare message %s (%s)", ms(y), ms(alone.at(.99))),
		fmt.Sprintf("%.2f ×", float64(x)/float64(y)), "≤ 1.3 × + 0.1 ms", x <= y*13/10+100*time.Microsecond,
	})
}

// together runs n writers side by side, each until it has called write count times, and returns how long all
// took and how long each call did.
func (b *rig) together(n, count int, write func(writer, i int) error) (took time.Duration, times spread) {
	var mu sync.Mutex
	var all sync.WaitGroup
	begin := time.Now()
	for w := range n {
		all.Go(func() {
			var own spread
			for i := range count {
				start := time.Now()
				if err := write(w, i); err != nil {
					b.t.Error(err)
					return
				}
				own = append(own, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
		})
	}
	all.Wait()
	if b.t.Failed() {
		b.t.FailNow()
	}
	return time.Since(begin), times
}

// manyWriters has 64 writers append to one session: by what a mount asks, through a mount, and each message
// by itself with a bare client.
func (b *rig) manyWriters() {
	const writers = 64
	e := b.c.Open(b.t, "h0")
	m := b.join(e, "h0", enginetest.NewSession("u1000").Session)
	bare := beside(host.Subject(m.x))
	if _, err := m.x.Messages().Append(b.t.Context(), log.Batch{Data: record(0)}); err != nil {
		b.t.Fatal(err)
	}
	each := b.times(200)
	took, times := b.together(writers, each, func(w, i int) error {
		_, err := m.x.Messages().Append(context.Background(), log.Batch{Data: record(w*each + i)})
		return err
	})
	grouped := per(writers*each, took)

	var turn sync.Mutex // a journal takes one message after the other, whoever sends it
	last, few := uint64(0), b.times(40)
	took, _ = b.together(writers, few, func(w, i int) (err error) {
		turn.Lock()
		defer turn.Unlock()
		last, err = b.publish(bare, record(i), last)
		return err
	})
	single := per(writers*few, took)

	here, _, _ := b.session()
	files := b.open(here, writers)
	took, inMount := b.together(writers, few, func(w, i int) error {
		_, err := files[w].Write(record(w*few + i))
		return err
	})
	mounted := per(writers*few, took)
	b.add(row{
		"64 writers, one session, without a mount (p99)", fmt.Sprintf("%.0f/s (%s)", grouped, ms(times.at(.99))), fmt.Sprintf("bare messages, one by one %.0f/s", single),
		fmt.Sprintf("%.1f ×", grouped/single), "≥ 15 ×, ≥ 8,000/s", grouped >= 15*single && grouped >= 8000,
	})
	b.add(row{
		"64 writers, one session, one record a write, through a mount (p99)", fmt.Sprintf("%.0f/s (%s)", mounted, ms(inMount.at(.99))), fmt.Sprintf("bare messages, one by one %.0f/s", single),
		fmt.Sprintf("%.2f ×", mounted/single), "none: the kernel lets one write after the other into a file opened with O_APPEND", true,
	})
	var batch strings.Builder
	for i := range 64 {
		batch.Write(record(i))
	}
	took, _ = b.together(4, few, func(w, i int) error {
		_, err := files[w].WriteString(batch.String())
		return err
	})
	b.add(row{
		"4 writers, one session, 64 records a write, through a mount", fmt.Sprintf("%.0f/s", per(4*few*64, took)), fmt.Sprintf("bare messages, one by one %.0f/s", single),
		fmt.Sprintf("%.1f ×", per(4*few*64, took)/single), "≥ 8,000/s", per(4*few*64, took) >= 8000,
	})
}
