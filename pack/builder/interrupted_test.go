package builder

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/section"
	"github.com/ctxfs/ctxfs/session/log"
)

// countdown is a context that ends after it was asked so often whether it has.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func countdownFrom(n int64) *countdown {
	c := &countdown{Context: context.Background()}
	c.left.Store(n)
	return c
}

// A caller who is interrupted must not wait for the pack of a long session, wherever its build is.
func TestInterruptEndsPack(t *testing.T) {
	const n = section.First + 3*section.Window
	l := packtest.LongNoted(n)
	var all bytes.Buffer
	for i := 1; i <= n; i++ {
		raw, _ := l.Record(i)
		all.Write(raw)
		all.WriteByte('\n')
	}
	long := func() *desk {
		d := newDesk(t, Config{Budget: 32000})
		if _, err := d.x.Messages().Append(context.Background(), log.Batch{Data: all.Bytes()}); err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := long()
	count := countdownFrom(math.MaxInt64)
	want, err := d.b.Current(count, d.x)
	if err != nil {
		t.Fatal(err)
	}
	looks := math.MaxInt64 - count.left.Load()
	if looks < n/2 {
		t.Errorf("the build looked %d times whether it is to go on, of %d records", looks, n)
	}
	for _, at := range []int64{0, 1, looks / 4, looks / 2, looks * 3 / 4} {
		d := long()
		if _, err := d.b.Current(countdownFrom(at), d.x); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted after %d of %d looks: %v", at, looks, err)
		}
		if compiled, _ := d.b.Counts(); compiled != 0 {
			t.Errorf("interrupted after %d of %d looks, a pack was made", at, looks)
		}
		got, err := d.b.Current(context.Background(), d.x)
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Markdown) != string(want.Markdown) {
			t.Errorf("after an interrupt the pack is another one")
		}
		d.b.Close()
	}
	d.b.Close()
}
