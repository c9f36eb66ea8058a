package journal

import (
	"context"
	"reflect"
	"testing"

	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/record"
)

// findsInMemory keeps findings of one history for a test.
type findsInMemory struct {
	packtest.Findings
	log record.Records
}

func (k *findsInMemory) History() (record.Records, error) { return k.log, nil }

func (*findsInMemory) Head(record.Records, int) (string, error) { return "", nil }

// What is found of the ends of a long history is the same whether it was kept or is found anew, and no record is read twice for it.
func TestNearbyFindsGoOn(t *testing.T) {
	const first, last, step = finds.First + 2*finds.Newest + 100, finds.First + 4*finds.Newest + 500, 900
	log := packtest.LongNoted(last)
	k := &findsInMemory{log: log}
	mm := NewMemo()
	mm.Near = k
	moved := 0
	for i, places := 0, first; places < last; i, places = i+1, places+step {
		next := min(places+step, last)
		if _, err := mm.foundUpTo(places).At(context.Background(), log, places, nil); err != nil {
			t.Fatal(err)
		}
		switch i % 4 {
		case 1: // another process, which has nothing but what is kept
			mm = NewMemo()
			mm.Near = k
		case 3: // and one that found all of it meanwhile
			mm = NewMemo()
			mm.Finds = finds.New(&findsInMemory{log: log})
			if _, err := mm.Finds.At(context.Background(), log, places, nil); err != nil {
				t.Fatal(err)
			}
			k = &findsInMemory{log: log}
			mm.Near = k
		}
		if finds.GapBefore(next) != finds.GapBefore(places) {
			moved++
		}
		before := log.Reads
		got, err := mm.foundUpTo(next).At(context.Background(), log, next, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := log.Reads - before; n > step && places > first {
			t.Errorf("at %d: %d records are read for %d more", places, n, step)
		}
		want, err := (&finds.Finds{Gap: finds.GapBefore(next)}).At(context.Background(), log, next, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("at %d: %v\nwant %v", next, got, want)
		}
	}
	if moved < 2 {
		t.Errorf("the gap moved %d times", moved)
	}
	const earlier = finds.First + 2*finds.Newest + 1
	if f := mm.foundUpTo(earlier); f.Gap != finds.GapBefore(earlier) || mm.nearby.Gap != finds.GapBefore(last) {
		t.Errorf("an earlier moment has the gap %v, the newest %v", f.Gap, mm.nearby.Gap)
	}
}
