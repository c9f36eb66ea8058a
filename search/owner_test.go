package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/segment"
)

// history is what the model knows of the sessions of an owner: the texts of their messages.
type history map[ctxabi.Ref][]string

// of returns the records of an agent, "" for all, as texts and where each of them stands.
func (h history) of(agent string) (texts, places []string) {
	for ref, said := range h {
		if agent != "" && ref.Agent != agent {
			continue
		}
		for i, text := range said {
			texts, places = append(texts, text), append(places, fmt.Sprint(ref, " ", i+1))
		}
	}
	return texts, places
}

// checkOwner holds a search of all sessions, or of those of an agent, against a naive ranking of all
// their records: what is found, and each score to the last bit.
func (h history) checkOwner(t *rapid.T, w *world, agent, query string) {
	t.Helper()
	q := Query{Text: query, N: MaxHits}
	if err := q.Prepare(); err != nil {
		t.Fatal(err)
	}
	texts, places := h.of(agent)
	want := map[string]float64{}
	for _, hit := range compress.JoinIndexes(compress.NewIndex(texts)).Rank(query) {
		want[places[hit.Doc]] = hit.Score
	}
	n := w.e.index(s1)
	defer w.e.release(n)
	s, late := n.gather(context.Background(), agent)
	defer s.close()
	if len(late) > 0 {
		t.Fatalf("%d sessions are not looked at", len(late))
	}
	covered, unread := s.covered(late)
	records, sessions := 0, 0
	for _, c := range covered {
		records += c.Messages
	}
	for ref := range h {
		if agent == "" || ref.Agent == agent {
			sessions++
		}
	}
	if records != len(texts) || len(covered) != sessions || unread != 0 {
		t.Fatalf("%d records of %d sessions, want %d of %d", records, len(covered), len(texts), sessions)
	}
	m, err := newMatcher(context.Background(), &q, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range []bool{true, false} {
		if !all {
			m.sum = countAll + 1
		}
		found, err := m.find(context.Background(), nil, 10000)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.hits) != len(want) || all && found.count != len(want) {
			t.Fatalf("%q: %d hits of %d, want %d", query, len(found.hits), found.count, len(want))
		}
		for i, hit := range found.hits {
			at := fmt.Sprint(hit.of.ref, " ", hit.line)
			if want[at] != hit.score || i > 0 && found.hits[i-1].score < hit.score {
				t.Fatalf("%q: hit %d is %s with %v, want %v", query, i, at, hit.score, want[at])
			}
		}
	}
	// And as people see it.
	r, err := w.e.Owner(context.Background(), ctxabi.Ref{UID: s1.UID, Agent: agent}, q)
	if err != nil || r.Incomplete() || r.Count != len(want) {
		t.Fatalf("%q: %d records, want %d; %v", query, r.Count, len(want), err)
	}
}

// checkFiles holds the files against what they may have: no record of a session that is not there.
func checkFiles(t failer, w *world, gone []string) {
	t.Helper()
	w.e.running.Wait()
	files := w.store.Owned(s1)
	for _, name := range files.DerivedNames(Dir) {
		if !isSegment(name) {
			continue
		}
		f, size, err := files.OpenDerived(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := segment.Open(f, size)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range gone {
			compress.Terms(text, func(term uint64) {
				if e, err := s.Find(f, term); err != nil || e.Records > 0 {
					t.Fatalf("%s has %q of a removed session: %v", name, text, err)
				}
			})
		}
		f.Close()
	}
	if problems, err := Check(context.Background(), w.store, s1); err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v", problems, err)
	}
}

// Whatever is made, appended to, renamed and removed, and however the daemon ends: a search of all
// sessions finds what there is, with the scores of a naive ranking, and nothing else.
func TestAnOwnersIndexIsWhatHisSessionsAre(t *testing.T) {
	words := []string{"token", "refresh", "auth/refresh.go", "E4711", "Größe", "日本語", "fails", "zebra", "apple"}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, Config{Wait: -1})
		defer func() { w.stop() }()
		h := history{}
		made := 0
		var gone []string // words of removed sessions alone
		pick := func() (ctxabi.Ref, bool) {
			var refs []ctxabi.Ref
			for ref := range h {
				refs = append(refs, ref)
			}
			if len(refs) == 0 {
				return ctxabi.Ref{}, false
			}
			slices.SortFunc(refs, func(a, b ctxabi.Ref) int { return strings.Compare(a.Path(), b.Path()) })
			return refs[rapid.IntRange(0, len(refs)-1).Draw(t, "session")], true
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			ref, any := pick()
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what <= 1 || !any:
				made++
				ref = ctxabi.Ref{UID: s1.UID, Agent: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "agent"), Session: fmt.Sprint("s", made)}
				w.session(ref)
				h[ref] = nil
			case what <= 4:
				for range rapid.IntRange(1, 20).Draw(t, "records") {
					text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 6).Draw(t, "text"), " ") + " only" + ref.Session
					w.append(w.session(ref).Messages(), message("user", text))
					h[ref] = append(h[ref], text)
				}
			case what == 5:
				if err := w.store.Remove(ref); err != nil {
					t.Fatal(err)
				}
				delete(h, ref)
				gone = append(gone, "only"+ref.Session)
			case what == 6:
				made++
				to := ref
				to.Session = fmt.Sprint("s", made)
				if err := w.store.Rename(ref.Path(), to.Path()); err != nil {
					t.Fatal(err)
				}
				h[to] = h[ref]
				delete(h, ref)
			case what == 7:
				w.stop()
				w.start(Config{Wait: -1})
			case what == 8: // killed: nothing more reaches the disk
				w.disk.Kill()
				w.e.stop()
				w.e.running.Wait()
				w.store.Close()
				w.start(Config{Wait: -1})
			case what == 9:
				n := w.e.index(s1)
				w.build(w.session(ref))
				w.e.release(n)
			}
			agent := rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "search")
			query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 3).Draw(t, "query"), " ")
			h.checkOwner(t, w, agent, query)
			if ref, any := pick(); any {
				r := w.search(w.session(ref), "only"+ref.Session+" "+words[0])
				if r.Many || r.Sessions[0].Messages != len(h[ref]) {
					t.Fatalf("%+v, want %d messages", r.Sessions, len(h[ref]))
				}
			}
		}
		h.checkOwner(t, w, "", "token zebra")
		checkFiles(t, w, gone)
	})
}
