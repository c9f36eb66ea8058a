package segment

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

// line is a record of the model: which log it is of, where it stands there, and its words.
type line struct {
	log  Log
	line int
	text string
}

func (l line) addTo(c *Chunk) {
	c.Add(l.log, l.line, Record{Role: ctxabi.Event, Tools: []string{"a", "b"}[:len(l.text)%3], Print: uint32(l.line), Size: 10},
		func(emit func(uint64)) { compress.Terms(l.text, emit) })
}

// holds checks that a segment has the records of the model, and no others.
func holds(t *rapid.T, s *Segment, data []byte, want []line) {
	t.Helper()
	if err := Verify(data); err != nil {
		t.Fatal(err)
	}
	r := Bytes(data)
	rows, err := s.LoadRows(r)
	if err != nil {
		t.Fatal(err)
	}
	at := map[line]uint32{}
	byPlace := map[Log]map[int]line{}
	for _, l := range want {
		if byPlace[l.log] == nil {
			byPlace[l.log] = map[int]line{}
		}
		byPlace[l.log][l.line] = l
	}
	for i := range s.Runs {
		run := &s.Runs[i]
		for doc := run.start; doc < run.End(); doc++ {
			l, ok := byPlace[Log{run.Of, run.Event}][run.Line(doc)]
			if !ok || rows.Print(doc) != uint32(l.line) || s.Run(doc, 0) != i {
				t.Fatalf("record %d of run %+v is not in the model", doc, run)
			}
			at[l] = doc
		}
	}
	if len(at) != len(want) || s.N != len(want) {
		t.Fatalf("%d records, want %d", s.N, len(want))
	}
	having := map[uint64][]uint32{}
	for _, l := range want {
		compress.Terms(l.text, func(term uint64) {
			if doc := at[l]; !slices.Contains(having[term], doc) {
				having[term] = append(having[term], doc)
			}
		})
	}
	for term, docs := range having {
		slices.Sort(docs)
		e, err := s.Find(r, term)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := s.Postings(r, e, nil, nil)
		if err != nil || !slices.Equal(got, docs) {
			t.Fatalf("%v: %v, want %v", err, got, docs)
		}
		for _, of := range []uint32{1, 2, 3} { // in the records of one session
			sc := NewScope(s, func(r *Run) bool { return r.Of == of })
			n, err := sc.Count(s, r, e)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			for _, doc := range docs {
				if s.Runs[s.Run(doc, 0)].Of == of {
					want++
				}
			}
			if n != want {
				t.Fatalf("session %d has a term in %d records, want %d", of, n, want)
			}
		}
	}
	for i := range s.dict {
		s.eachEntry(r, i, func(term uint64, _ Entry) bool {
			if having[term] == nil {
				t.Fatal("a term of no record is left")
			}
			return true
		})
	}
}

// Whatever logs the records of some segments are of, one that is made of them has all of them, but for
// those of sessions that are left out, and no trace of these.
func TestMergedSegmentsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []*Segment
		var all []line
		next := map[Log]int{}
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			c := NewChunk()
			var own []line
			for range rapid.IntRange(1, 300).Draw(t, "records") {
				log := Log{uint32(rapid.IntRange(1, 3).Draw(t, "session")), rapid.Bool().Draw(t, "events")}
				next[log]++
				own = append(own, line{log, next[log], fmt.Sprintf("all w%d s%d", rapid.IntRange(0, 40).Draw(t, "word"), log.Of)})
				own[len(own)-1].addTo(c)
			}
			s, err := c.Segment()
			if err != nil {
				t.Fatal(err)
			}
			holds(t, s, s.Data, own)
			parts, all = append(parts, s), append(all, own...)
		}
		gone := uint32(rapid.IntRange(0, 3).Draw(t, "left out"))
		keep := func(r *Run) bool { return r.Of != gone }
		var readers []io.ReaderAt
		for _, s := range parts {
			readers = append(readers, Bytes(s.Data))
		}
		var b bytes.Buffer
		if err := Merge(context.Background(), &b, parts, readers, keep); err != nil {
			t.Fatal(err)
		}
		one, err := Open(Bytes(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(l line) bool { return l.log.Of == gone })
		holds(t, one, b.Bytes(), all)
	})
}
