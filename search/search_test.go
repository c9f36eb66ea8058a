package search

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite.Wrap(m)) }

// failer is a testing.TB or a rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// world is a store on a disk in memory, and an engine for it.
type world struct {
	t     failer
	disk  *sessiontest.Disk
	store *session.Store
	e     *Engine
}

func newWorld(t failer, c Config) *world {
	t.Helper()
	w := &world{t: t, disk: sessiontest.New()}
	w.start(c)
	return w
}

// start opens the store.
func (w *world) start(c Config) {
	w.t.Helper()
	store, err := session.Open("/store", session.Options{VFS: w.disk, Now: w.disk.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store, w.e = store, New(store, c)
}

func (w *world) stop() {
	w.t.Helper()
	w.e.Close()
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) session(ref ctxabi.Ref) *session.Session {
	w.t.Helper()
	x, err := w.store.Session(ref)
	if err != nil {
		x, err = w.store.Create(ref, disk.Owner{UID: ref.UID, Mode: 0o700})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return x
}

func (w *world) append(l *log.Log, data string) {
	w.t.Helper()
	if _, err := l.Append(context.Background(), log.Batch{Data: []byte(data)}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) search(x *session.Session, name string) *Result {
	w.t.Helper()
	q, err := ParseName(name)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := w.e.Session(context.Background(), x, q)
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// build has the builder index a session, and waits for it.
func (w *world) build(x *session.Session) {
	w.t.Helper()
	n := w.e.index(x.Ref())
	defer w.e.release(n)
	k, err := n.admit(x)
	if err != nil {
		w.t.Fatal(err)
	}
	<-n.build(k.number)
}

func line(v map[string]any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

func message(role, text string) string { return line(map[string]any{"role": role, "content": text}) }

func sources(r *Result) (out []string) {
	for _, h := range r.Hits {
		out = append(out, h.Source())
	}
	return out
}

var s1 = ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}

func TestHits(t *testing.T) {
	w := newWorld(t, Config{Wait: -1})
	defer w.stop()
	x := w.session(s1)
	w.append(x.Messages(), message("system", "You fix bugs.")+
		message("user", "The token refresh fails at night, see auth/refresh_token.go line 40.")+
		line(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "c1", "type": "function",
			"function": map[string]any{"name": "write", "arguments": `{"path":"notes.md","text":"first\nsecond zebra\tquagga"}`}}}})+
		line(map[string]any{"role": "tool", "tool_call_id": "c1", "content": "written: E4711 ok"})+
		message("assistant", "The refresh of tokens is fixed now. Größe, Ångström and 日本語 too.")+
		message("user", "ok")+message("user", "token token token")+message("user", "token token token"))
	w.append(x.Events(), line(map[string]any{"type": "tool_call", "id": "e1", "name": "bash", "arguments": `{"command":"make test"}`})+
		line(map[string]any{"type": "tool_result", "tool_call_id": "e1", "content": "FAIL TestRefreshExpired"})+
		line(map[string]any{"type": "state", "note": "a platypus came by"}))
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"zebra", []string{"messages:3"}},
		{"quagga", []string{"messages:3"}},
		{"E4711", []string{"messages:4"}},
		{"platypus", []string{"events:3"}},
		{"größe", []string{"messages:5"}},
		{"日本", []string{"messages:5"}},
		{"refresh_token.go", []string{"messages:2", "messages:5", "messages:8", "events:2"}},
		{"refreshes?in=messages", []string{"messages:2", "messages:5"}},
		{`"token refresh"`, []string{"messages:2"}},
		{`"Token refresh"`, nil},
		{`"second zebra"`, []string{"messages:3"}},
		{"token?role=assistant", []string{"messages:5"}},
		{"written make?tool=write", []string{"messages:4"}},
		{"path?tool=write", []string{"messages:3"}},
		{"test fail?tool=bash", []string{"events:2", "events:1"}},
		{"test?role=event&in=events", []string{"events:1", "events:2"}},
		{"token?range=5-6", []string{"messages:5"}},
		{"test?in=events&range=2", []string{"events:2"}},
		{"the", nil},
		{"unheard", nil},
		{"", nil},
	} {
		if got := sources(w.search(x, c.query)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.query, got, c.want)
		}
	}
	r := w.search(x, "token?n=1")
	if len(r.Hits) != 1 || r.Hits[0].Line != 8 || !slices.Equal(r.Hits[0].Also, []int{7}) || r.Count != 4 || r.AtLeast {
		t.Errorf("%+v", r)
	}
	if who := w.search(x, "E4711").Hits[0].Who; who != "tool write" {
		t.Errorf("who: %s", who)
	}
	out := string(w.e.Render(w.search(x, "token refresh")))
	if !strings.HasPrefix(out, "# ") || !strings.Contains(out, "## messages:2 user · context/line/2.txt\nThe token refresh fails") {
		t.Error(out)
	}
}

// Whatever stands in segments, in how many, and in the tail: hits and scores are those of a naive ranking of all records.
func TestRankingIsThatOfAllRecords(t *testing.T) {
	words := []string{"token", "refresh", "auth/refresh.go", "the", "E4711", "Größe", "日本語", "fails", "x", "retryMax", "zebra", "apple", "running", "ran"}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, Config{Wait: -1})
		defer func() { w.stop() }()
		x := w.session(s1)
		var texts [2][]string
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			for range rapid.IntRange(0, 40).Draw(t, "records") {
				i := rapid.IntRange(0, 1).Draw(t, "log")
				text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 9).Draw(t, "text"), " ")
				if i == 0 {
					w.append(x.Messages(), message("user", text))
					texts[0] = append(texts[0], text)
				} else {
					record := line(map[string]any{"type": "note", "t": text})
					w.append(x.Events(), record)
					texts[1] = append(texts[1], record)
				}
			}
			n := w.e.index(x.Ref())
			w.e.release(n)
			switch rapid.IntRange(0, 4).Draw(t, "then") {
			case 0: // what is in the tail goes to the disk
				w.search(x, "token")
				n.work <- struct{}{}
				if err := n.save(context.Background(), 1<<62); err != nil {
					t.Fatal(err)
				}
				<-n.work
			case 1:
				w.search(x, "token")
			case 2:
				w.stop()
				w.start(Config{Wait: -1})
				x = w.session(s1)
			case 3:
				w.build(x)
			}
			query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(t, "query"), " ")
			compare(t, w, x, texts, query)
		}
	})
}

// compare holds a search for all records against compress.Corpus.
func compare(t *rapid.T, w *world, x *session.Session, texts [2][]string, query string) {
	q := Query{Text: query, N: MaxHits}
	q.Prepare()
	q.names = nil
	docs := slices.Concat(texts[0], texts[1])
	want := map[string]float64{}
	for _, h := range compress.JoinIndexes(compress.NewIndex(docs)).Rank(query) {
		if h.Doc < len(texts[0]) {
			want[fmt.Sprint("messages:", h.Doc+1)] = h.Score
		} else {
			want[fmt.Sprint("events:", h.Doc-len(texts[0])+1)] = h.Score
		}
	}
	n := w.e.index(x.Ref())
	defer w.e.release(n)
	v, err := n.view(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	if v.upTo != v.all || v.all != [2]int{len(texts[0]), len(texts[1])} {
		t.Fatalf("%v of %v", v.upTo, v.all)
	}
	for _, sum := range []bool{true, false} {
		m, err := newMatcher(context.Background(), &q, v)
		if err != nil {
			t.Fatal(err)
		}
		if !sum {
			m.sum = countAll + 1 // as if there were many: what cannot be among the best is passed over
		}
		for _, k := range []int{1, 5, 10000} {
			found, err := m.find(context.Background(), nil, k)
			if err != nil {
				t.Fatal(err)
			}
			if len(found.hits) != min(k, len(want)) || sum && found.count != len(want) {
				t.Fatalf("%q: %d hits of %d, want %d", query, len(found.hits), found.count, len(want))
			}
			var scores []float64
			for _, s := range want {
				scores = append(scores, s)
			}
			slices.SortFunc(scores, func(a, b float64) int {
				if a > b {
					return -1
				}
				return 1
			})
			for i, h := range found.hits {
				at := fmt.Sprint(short(h.event), ":", h.line)
				if want[at] != h.score || scores[i] != h.score {
					t.Fatalf("%q: hit %d is %s with %v, want %v", query, i, at, h.score, want[at])
				}
				if i > 0 && found.hits[i-1].score == h.score && found.hits[i-1].event == h.event && found.hits[i-1].line < h.line {
					t.Fatalf("%q: of equal ones the older %s is first", query, at)
				}
			}
		}
	}
}

func TestManyRecords(t *testing.T) {
	w := newWorld(t, Config{Wait: -1})
	defer w.stop()
	x := w.session(s1)
	rng := rand.New(rand.NewPCG(1, 2))
	var rare []string
	for n := 0; n < 20000; {
		var b strings.Builder
		for range 500 {
			n++
			text := fmt.Sprintf("record %05d common words of step %d", n, 100+rng.IntN(900))
			if n%1000 == 7 {
				text += fmt.Sprint(" rare", n)
				rare = append(rare, fmt.Sprint("rare", n))
			}
			b.WriteString(message("user", text))
		}
		w.append(x.Messages(), b.String())
		if n%2000 == 0 {
			w.search(x, "common")
		}
	}
	for _, word := range rare {
		if got := sources(w.search(x, word)); len(got) != 1 || got[0] != "messages:"+word[4:] {
			t.Errorf("%s: %q", word, got)
		}
	}
	n := w.e.index(x.Ref())
	w.e.release(n)
	if got := len(n.segments); got > 12 {
		t.Errorf("%d segments", got)
	}
	r := w.search(x, "common step?n=3")
	if got := sources(r); !slices.Equal(got, []string{"messages:20000", "messages:19999", "messages:19998"}) {
		t.Errorf("%q of %d", got, r.Count)
	}
}
