package recall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/record"
)

// shelf stores blocks in memory.
type shelf struct {
	blocks map[int][]byte
	loads  int
	head   string
}

func (s *shelf) store(block int) File { return shelved{s, block} }

type shelved struct {
	*shelf
	block int
}

func (s shelved) Load() []byte {
	s.loads++
	return s.blocks[s.block]
}

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
	n := 3*blockRecords + 200
	l := wordy(n)
	kept := &shelf{blocks: map[int][]byte{}}
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
		f, err := x.find(context.Background(), m, upTo, termsOf(question), 20)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(f.terms, f.places, f.scores)
	}
	inMemory := NewTerms(nil, 1)
	ask(inMemory, n, "ship1")
	ask(fill, n, "ship1")
	if len(kept.blocks) != 3 || fill.Size() > inMemory.Size()/2 {
		t.Fatalf("%d blocks are kept, %d bytes of %d in memory", len(kept.blocks), fill.Size(), inMemory.Size())
	}
	reads := l.Reads
	again := NewTerms(kept.store, 1)
	ask(again, n, "ship1")
	if l.Reads-reads > 300 {
		t.Errorf("%d records were read of a history whose blocks are kept", l.Reads-reads)
	}
	want := ask(inMemory, n, "cargo3 of ship12 to port33")
	partly := &shelf{blocks: map[int][]byte{1: kept.blocks[1]}}
	for name, x := range map[string]*Terms{"kept": fill, "loaded": again, "made by several": NewTerms((&shelf{blocks: map[int][]byte{}}).store, 3), "in memory by several": NewTerms(nil, 2),
		"made by several around a kept one": NewTerms(partly.store, 3)} {
		if got := ask(x, n, "cargo3 of ship12 to port33"); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
	if len(partly.blocks) != 3 {
		t.Errorf("%d blocks are kept around one", len(partly.blocks))
	}
	for _, upTo := range []int{1, blockRecords - 3000, blockRecords, blockRecords + 1, 2*blockRecords - 1} {
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
	l := wordy(2*blockRecords + 100)
	want := func(x *Terms) []int {
		t.Helper()
		f, err := x.find(context.Background(), l, l.Len(), termsOf("ship12 to port33"), 10)
		if err != nil {
			t.Fatal(err)
		}
		return f.places
	}
	fresh := want(NewTerms(nil, 1))
	kept := &shelf{blocks: map[int][]byte{}}
	x := NewTerms(kept.store, 1)
	want(x)
	for what, spoil := range map[string]func(){
		"gone":            func() { kept.store(0).Remove() },
		"cut":             func() { kept.blocks[1] = kept.blocks[1][:1000] },
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
		if len(kept.blocks) != 2 {
			t.Errorf("%s: %d blocks are kept", what, len(kept.blocks))
		}
	}
}

// An end of the context ends the reading of a long history, which goes on from there the next time.
func TestTermsEndWithTheContext(t *testing.T) {
	l := wordy(1000)
	x := NewTerms(nil, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.find(ctx, l, l.Len(), termsOf("ship1"), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	f, err := x.find(context.Background(), l, l.Len(), termsOf("ship1"), 10)
	if err != nil || len(f.places) != 10 {
		t.Errorf("%v, %v", f.places, err)
	}
}

// A history is indexed block by block before a question comes, which reads no more than the rest. What a store has is not read again,
// and one that keeps nothing gets no more than one block.
func TestBlocksAreMadeAhead(t *testing.T) {
	n := 3*blockRecords + 100
	l := wordy(n)
	kept := &shelf{blocks: map[int][]byte{}}
	ahead := func(x *Terms, m record.Records) (steps int) {
		t.Helper()
		for more := true; more; steps++ {
			var err error
			if more, err = x.FillBlock(context.Background(), m); err != nil || steps > 3 {
				t.Fatalf("step %d: %v", steps, err)
			}
		}
		return steps
	}
	x := NewTerms(kept.store, 1)
	if !x.LacksBlock(n) || x.LacksBlock(blockRecords-1) {
		t.Error("an empty index does not lack whole blocks alone")
	}
	if steps := ahead(x, l); steps != 3 || len(kept.blocks) != 3 || l.Reads != 3*blockRecords || x.LacksBlock(n) {
		t.Errorf("%d steps, %d blocks, %d records read", steps, len(kept.blocks), l.Reads)
	}
	want, err := NewTerms(nil, 1).find(context.Background(), l.MemLog, n, termsOf("ship12 to port33"), 10)
	if err != nil {
		t.Fatal(err)
	}
	l.Reads = 0
	if f, err := x.find(context.Background(), l, n, termsOf("ship12 to port33"), 10); err != nil || !slices.Equal(f.places, want.places) || l.Reads != 100 {
		t.Errorf("%v, not %v (%v); %d records read", f.places, want.places, err, l.Reads)
	}
	again := NewTerms(kept.store, 1)
	l.Reads = 0
	if steps := ahead(again, l); steps != 1 || l.Reads+kept.loads > 3 || again.LacksBlock(n) {
		t.Errorf("%d steps, %d records and %d blocks read of what is kept", steps, l.Reads, kept.loads)
	}
	again.Clear()
	if !again.LacksBlock(n) {
		t.Error("what was forgotten does not lack")
	}
	full := NewTerms((&shelf{}).store, 1) // its map takes nothing
	if steps := ahead(full, l); steps != 1 {
		t.Errorf("%d blocks in memory alone", steps)
	}
}

// A memo that shares an index does not count it.
func TestMemoCountsItsTerms(t *testing.T) {
	mm, x := NewMemo(journal.NewMemo()), NewTerms(nil, 1)
	l := wordy(500)
	own := mm.Size()
	if _, err := mm.Terms.find(context.Background(), l, 500, termsOf("ship1"), 10); err != nil {
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
