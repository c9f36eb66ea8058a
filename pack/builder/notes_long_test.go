package builder

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/section"
	"github.com/ctxfs/ctxfs/session/log"
)

// What nobody may wait for comes behind the readers' backs.
func TestNotesOfALongHistoryCatchUp(t *testing.T) {
	const n = section.First + 4*section.Window
	d := newDesk(t, Config{Budget: 32000})
	l := packtest.LongNoted(n)
	var all bytes.Buffer
	for i := 1; i <= n; i++ {
		raw, _ := l.Record(i)
		all.Write(raw)
		all.WriteByte('\n')
	}
	if _, err := d.x.Messages().Append(context.Background(), log.Batch{Data: all.Bytes()}); err != nil {
		t.Fatal(err)
	}
	facts := func() (ids []string) {
		v, err := d.b.Notes(context.Background(), d.x)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Facts {
			ids = append(ids, f.ID)
		}
		return ids
	}
	now := facts()
	newest := fmt.Sprintf("f%d", n/100*100)
	if !slices.Contains(now, newest) {
		t.Errorf("at first: %v, which lacks %s", now, newest)
	}
	d.b.working.Wait() // for what goes on
	later := facts()
	if !slices.Contains(later, newest) {
		t.Errorf("later: %v, which lacks %s", later, newest)
	}
	v, err := d.b.Notes(context.Background(), d.x)
	if err != nil {
		t.Fatal(err)
	}
	d.builder(Config{Budget: 32000})
	fresh, err := d.b.Notes(context.Background(), d.x)
	if err != nil || !bytes.Equal(fresh.File(ctxabi.FactsFile), v.File(ctxabi.FactsFile)) {
		t.Errorf("another builder finds %v\n%s\nwant\n%s", err, fresh.File(ctxabi.FactsFile), v.File(ctxabi.FactsFile))
	}
	d.b.Close()
}
