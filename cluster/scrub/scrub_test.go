package scrub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

// record is an entry of a journal.
type record struct {
	s engine.Subject
	engine.Entry
}

// world is three servers that have a stream.
type world struct {
	has  map[string][]record
	look func() // is called before each stretch
}

var names = []string{"n1", "n2", "n3"}

func (w *world) Stretch(_ context.Context, server, _ string, from, to uint64, yield func(engine.Subject, engine.Entry)) error {
	if w.look != nil {
		w.look()
	}
	list, ok := w.has[server]
	if !ok {
		return engine.ErrUnreachable
	}
	for _, r := range list {
		if r.Seq >= from && r.Seq <= to {
			yield(r.s, r.Entry)
		}
	}
	return nil
}

func (w *world) Read(_ context.Context, s engine.Subject, r engine.Range) ([]engine.Entry, error) {
	for _, x := range w.has["n1"] {
		if x.s == s && x.Seq >= r.From {
			return []engine.Entry{x.Entry}, nil
		}
	}
	return nil, nil
}

// trim removes the entries of a journal below a sequence.
func (w *world) trim(s engine.Subject, before uint64) {
	for name := range w.has {
		w.has[name] = slices.DeleteFunc(slices.Clone(w.has[name]), func(r record) bool { return r.s == s && r.Seq < before })
	}
}

// build returns servers that have n entries of some journals, each in its chain.
func build(t interface{ Fatal(...any) }, n, journals int) *world {
	at := map[engine.Subject]journal.Position{}
	var list []record
	for i := range n {
		s := engine.Subject{Owner: "u1000", Session: fmt.Sprintf("%032x", i%journals)}
		if _, ok := at[s]; !ok {
			at[s] = journal.Start(s)
		}
		header, payload, next, err := journal.Seal(at[s], "a", 1, []journal.Row{{Kind: journal.Message, Content: fmt.Appendf(nil, "%d", i)}})
		if err != nil {
			t.Fatal(err)
		}
		at[s] = next
		list = append(list, record{s, engine.Entry{Seq: uint64(i + 1), ID: fmt.Sprint("id", i), Header: header, Payload: payload}})
	}
	w := &world{has: map[string][]record{}}
	for _, name := range names {
		w.has[name] = slices.Clone(list)
	}
	return w
}

func (w *world) scrub(t *testing.T, stretch uint64) []Finding {
	t.Helper()
	found, sum, err := Stream(t.Context(), w, names, "CTXJ_00", 1, 40, Options{Stretch: stretch})
	if err != nil || sum.Entries == 0 || sum.Bytes == 0 {
		t.Fatal(found, sum, err)
	}
	return found
}

func TestSoundServersHaveNoFindings(t *testing.T) {
	w := build(t, 40, 3)
	if found := w.scrub(t, 7); found != nil {
		t.Errorf("%v", found)
	}
	w.trim(w.has["n1"][0].s, 20)
	if found := w.scrub(t, 7); found != nil {
		t.Errorf("after a trim: %v", found)
	}
	if _, _, err := Stream(t.Context(), w, append(names, "n4"), "CTXJ_00", 1, 40, Options{}); !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("%v", err)
	}
}

// Journals are trimmed while a scrub reads, at any moment.
func TestATrimIsNoDamage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := build(rt, 40, 3)
		looks := 0
		at := rapid.IntRange(1, 20).Draw(rt, "at")
		r := w.has["n1"][rapid.IntRange(0, 39).Draw(rt, "entry")]
		w.look = func() {
			if looks++; looks == at {
				w.trim(r.s, r.Seq)
			}
		}
		if found := w.scrub(t, rapid.Uint64Range(3, 50).Draw(rt, "stretch")); found != nil {
			rt.Errorf("%v", found)
		}
	})
}

// Whatever happens to an entry on one server is found, and nothing else.
func TestDamageOnOneServerIsFound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := build(rt, 40, 3)
		server := rapid.SampledFrom(names).Draw(rt, "server")
		i := rapid.IntRange(0, 39).Draw(rt, "entry")
		r := &w.has[server][i]
		switch rapid.IntRange(0, 3).Draw(rt, "kind") {
		case 0:
			r.Payload = slices.Clone(r.Payload)
			r.Payload[0] ^= 1
		case 1:
			r.ID += "x"
		case 2:
			r.Header = engine.Header{"Ctx-I": "x"}
		case 3:
			w.has[server] = slices.Delete(w.has[server], i, i+1)
		}
		found := w.scrub(t, rapid.Uint64Range(3, 50).Draw(rt, "stretch"))
		if len(found) == 0 {
			rt.Fatalf("nothing is found")
		}
		for _, f := range found {
			if f.Server != server || f.Seq < uint64(i+1) || f.Seq > uint64(i+4) { // the next one of the journal may not continue it
				rt.Errorf("%v, and entry %d on %s is damaged", f, i+1, server)
			}
		}
	})
}

// An entry that all servers have, and that does not continue its journal, is no server's fault alone.
func TestAJournalThatIsBadEverywhereIsNamed(t *testing.T) {
	w := build(t, 40, 3)
	for _, name := range names {
		w.has[name] = slices.Delete(w.has[name], 6, 7)
	}
	found := w.scrub(t, 7)
	if len(found) != 1 || found[0].Server != "" || found[0].Seq != 10 || !strings.Contains(found[0].String(), "journal u1000/") || !strings.Contains(found[0].String(), "all servers") {
		t.Errorf("%v", found)
	}
}
