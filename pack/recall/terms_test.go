package recall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/record"
)

// shelf stores blocks in memory.
type shelf struct {
	blocks map[[2]int][]byte // by the records before them and their own
	head   string
}

func newShelf() *shelf { return &shelf{blocks: map[[2]int][]byte{}} }

func (s *shelf) store(first, n int) File { return shelved{s, [2]int{first, n}} }

// large returns the file of the k-th of the largest blocks.
func (s *shelf) large(k int) File { return s.store(k*BlockRecords, BlockRecords) }

// sizes returns the sizes of the blocks in the order of their records.
func (s *shelf) sizes() (sizes []int) {
	first := func(a, b [2]int) int { return a[0] - b[0] }
	for _, b := range slices.SortedFunc(maps.Keys(s.blocks), first) {
		sizes = append(sizes, b[1])
	}
	return sizes
}

type shelved struct {
	*shelf
	block [2]int
}

func (s shelved) Load() []byte { return s.blocks[s.block] }

func (s shelved) Open() (io.ReaderAt, io.Closer, int64, error) {
	data := s.blocks[s.block]
	if data == nil {
		return nil, nil, 0, errors.New("gone")
	}
	return bytes.NewReader(data), io.NopCloser(nil), int64(len(data)), nil
}

func (s shelved) Keep(data []byte) error {
	if s.blocks == nil {
		return errors.New("full")
	}
	s.blocks[s.block] = bytes.Clone(data)
	return nil
}

func (s shelved) Remove() { delete(s.blocks, s.block) }

func (s shelved) Head(_ record.Records, at int) (string, error) { return fmt.Sprint(s.head, at), nil }

// wordy is a log of n records, each of a few of many words.
func wordy(n int) *packtest.Log {
	l := packtest.NewLog()
	for i := range n {
		l.Append(packtest.Message("user", fmt.Sprintf("ship%d sails to port%d with cargo%d and cargo%d, %s", i%97, i%1009, i%13, i%7, []string{"slowly", "soon"}[i%2])))
	}
	return l
}

// An index answers for each prefix as one that was made of it: whatever it knows beside, wherever its blocks are.
func TestTermsAnswerForAPrefix(t *testing.T) {
	n := 3*BlockRecords + 200
	l := wordy(n)
	kept := newShelf()
	fill := NewTerms(kept.store, 1)
	ask := func(x *Terms, upTo int, question string) string {
		t.Helper()
		m := record.Records(l)
		if x.workers > 1 { // l counts what is read, for one reader alone
			m = l.MemLog
		}
		if upTo < n {
			m = l.MemLog.Prefix(upTo)
		}
		terms, places, err := x.find(context.Background(), m, upTo, termsOf(question), 20)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(terms, places)
	}
	inMemory := NewTerms(nil, 1)
	ask(inMemory, n, "ship1")
	ask(fill, n, "ship1")
	sizes := []int{BlockRecords, BlockRecords, BlockRecords, 32, 32, 32, 32, 32, 32}
	if got := kept.sizes(); !slices.Equal(got, sizes) || fill.Size() > inMemory.Size()/2 {
		t.Fatalf("blocks %v are kept, %d bytes of %d in memory", got, fill.Size(), inMemory.Size())
	}
	reads := l.Reads
	again := NewTerms(kept.store, 1)
	ask(again, n, "ship1")
	if l.Reads-reads > 8 {
		t.Errorf("%d records were read of a history whose blocks are kept", l.Reads-reads)
	}
	want := ask(inMemory, n, "cargo3 of ship12 to port33")
	partly := newShelf()
	partly.large(1).Keep(kept.large(1).Load())
	for name, x := range map[string]*Terms{"kept": fill, "loaded": again, "made by several": NewTerms(newShelf().store, 3), "in memory by several": NewTerms(nil, 2),
		"made by several around a kept one": NewTerms(partly.store, 3)} {
		if got := ask(x, n, "cargo3 of ship12 to port33"); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
	if got := partly.sizes(); !slices.Equal(got, sizes) {
		t.Errorf("blocks %v are kept around one", got)
	}
	for _, upTo := range []int{1, BlockRecords - 3000, BlockRecords, BlockRecords + 1, 2*BlockRecords - 1} {
		for _, question := range []string{"Which ship sails to port500?", "cargo3 of ship12 to port33", "nothing of all this"} {
			want := ask(NewTerms(nil, 1), upTo, question)
			for name, x := range map[string]*Terms{"in memory": inMemory, "kept": fill, "loaded": again, "loaded for it": NewTerms(kept.store, 1)} {
				if got := ask(x, upTo, question); got != want {
					t.Errorf("%s, %d records, %q: %s, not %s", name, upTo, question, got, want)
				}
			}
		}
	}
}

// Blocks that are gone, damaged or of another history are made again.
func TestTermsAreMadeAgain(t *testing.T) {
	l := wordy(2*BlockRecords + 100)
	want := func(x *Terms) []int {
		t.Helper()
		_, places, err := x.find(context.Background(), l, l.Len(), termsOf("ship12 to port33"), 10)
		if err != nil {
			t.Fatal(err)
		}
		return places
	}
	fresh := want(NewTerms(nil, 1))
	kept := newShelf()
	x := NewTerms(kept.store, 1)
	want(x)
	for what, spoil := range map[string]func(){
		"gone":            func() { kept.large(0).Remove() },
		"cut":             func() { kept.large(1).Keep(kept.large(1).Load()[:1000]) },
		"another history": func() { kept.head = "another" },
	} {
		spoil()
		if got := want(x); !slices.Equal(got, fresh) {
			t.Errorf("%s: %v, not %v", what, got, fresh)
		}
		spoil()
		if got := want(NewTerms(kept.store, 1)); !slices.Equal(got, fresh) {
			t.Errorf("%s, loaded: %v, not %v", what, got, fresh)
		}
		if got := kept.sizes(); !slices.Equal(got, []int{BlockRecords, BlockRecords, 32, 32, 32}) {
			t.Errorf("%s: blocks %v are kept", what, got)
		}
	}
}

// An end of the context ends the reading of a long history, which goes on from there the next time.
func TestTermsEndWithTheContext(t *testing.T) {
	l := wordy(1000)
	x := NewTerms(nil, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := x.find(ctx, l, l.Len(), termsOf("ship1"), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	_, places, err := x.find(context.Background(), l, l.Len(), termsOf("ship1"), 10)
	if err != nil || len(places) != 10 {
		t.Errorf("%v, %v", places, err)
	}
}

// An index that grows by a few records at a time has the same blocks as one that is built at once, and
// reads no record of a stored block again.
func TestTermsGrowWithTheHistory(t *testing.T) {
	n := BlockRecords + 3*512 + 2*32 + 7
	l := wordy(n)
	kept := newShelf()
	x := NewTerms(kept.store, 1)
	for upTo := 0; upTo < n; {
		upTo = min(n, upTo+1+upTo%5)
		for more := true; more; {
			var err error
			if more, err = x.Fill(context.Background(), l, upTo); err != nil {
				t.Fatal(err)
			}
		}
	}
	if l.Reads != n || x.Len() != n {
		t.Errorf("%d records are read and %d indexed of %d", l.Reads, x.Len(), n)
	}
	if got, want := kept.sizes(), []int{BlockRecords, 512, 512, 512, 32, 32}; !slices.Equal(got, want) {
		t.Errorf("blocks %v are kept, not %v", got, want)
	}

	at := newShelf() // an index of all records at once has the same blocks
	if _, _, err := NewTerms(at.store, 1).find(context.Background(), l.MemLog, n, termsOf("ship1"), 10); err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(kept.blocks, at.blocks, bytes.Equal) {
		t.Error("merged blocks differ from those that are made at once")
	}

	var awaited atomic.Uint64
	again := NewTerms(kept.store, 1)
	again.Awaited = &awaited
	l.Reads = 0
	for range 2 {
		if _, err := again.Fill(context.Background(), l, n); err != nil {
			t.Fatal(err)
		}
	}
	if l.Reads != 7 || again.Len() != n {
		t.Errorf("%d records read, %d indexed again", l.Reads, again.Len())
	}
	l.Append(packtest.Message("user", "ship12 to port33"))
	l.Reads = 0
	_, places, err := again.find(context.Background(), l, n+1, termsOf("ship12 to port33"), 10)
	if err != nil || places[0] != n+1 || l.Reads != 1 || awaited.Load() != 1 {
		t.Errorf("%v %v; %d records read, %d awaited", places, err, l.Reads, awaited.Load())
	}
}

// Two indexes share a store. After one of them merges blocks, the other reads the merged block.
func TestBlocksMergedByAnotherIndex(t *testing.T) {
	n := BlockRecords - 1
	l := wordy(n)
	kept := newShelf()
	x, other := NewTerms(kept.store, 1), NewTerms(kept.store, 1)
	for _, x := range []*Terms{x, other} {
		if _, err := x.Fill(context.Background(), l, n); err != nil {
			t.Fatal(err)
		}
	}
	l.Append(packtest.Message("user", "ship12 to port33"))
	if _, err := other.Fill(context.Background(), l, n+1); err != nil || len(kept.blocks) != 1 {
		t.Fatalf("%d blocks, %v", len(kept.blocks), err)
	}

	l.Reads = 0
	_, places, err := x.find(context.Background(), l, n+1, termsOf("ship12 to port33"), 10)
	if err != nil || places[0] != n+1 || l.Reads > 1 {
		t.Errorf("%v %v; %d records read", places, err, l.Reads)
	}
}

// Steps in the background index a long history. A question then indexes only the remaining records.
func TestFillMakesOneBlockAtATime(t *testing.T) {
	n := 3*BlockRecords + 100
	l := wordy(n)
	for name, kept := range map[string]*shelf{"stored": newShelf(), "store is full": {}} {
		x := NewTerms(kept.store, 1)
		l.Reads = 0
		for step := 1; ; step++ {
			more, err := x.Fill(context.Background(), l, n)
			if err != nil || x.Len() != min(n, step*BlockRecords) || l.Reads != x.Len() {
				t.Fatalf("%s, step %d: %d records, %d read; %v", name, step, x.Len(), l.Reads, err)
			}
			if !more {
				break
			}
		}
		if x.Len() != n {
			t.Errorf("%s: %d records are indexed", name, x.Len())
		}
		if x.Clear(); x.Len() != 0 {
			t.Errorf("%s: %d records are indexed of an index that was cleared", name, x.Len())
		}
	}
}

// A memo that shares an index does not count it.
func TestMemoCountsItsTerms(t *testing.T) {
	mm, x := NewMemo(journal.NewMemo()), NewTerms(nil, 1)
	l := wordy(500)
	own := mm.Size()
	if _, _, err := mm.Terms.find(context.Background(), l, 500, termsOf("ship1"), 10); err != nil {
		t.Fatal(err)
	}
	if mm.Size() <= own {
		t.Error("its own index weighs nothing")
	}
	mm.Share(x)
	if mm.Size() != own {
		t.Errorf("%d bytes with the index of others, %d without", mm.Size(), own)
	}
}
