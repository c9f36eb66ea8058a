package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func entries(t testing.TB, l *log.Log) []ctxabi.Entry {
	t.Helper()
	ix, err := l.Index()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]ctxabi.Entry, ix.Len())
	for i := range all {
		all[i] = ix.At(i + 1)
	}
	return all
}

func TestWhatTheIndexKnows(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	add := func(l *log.Log, rec string) {
		if _, err := l.Append(ctx, log.Batch{Data: []byte(rec + "\n"), Writer: root}); err != nil {
			t.Fatal(err)
		}
	}
	m, e := x.Messages(), x.Events()
	add(m, a1)
	add(e, `{"type":"a"}`)
	add(e, `{"type":"b"}`)
	add(m, `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]}`)
	add(m, `{"role":"tool","tool_call_id":"c2","content":"r"}`)
	add(e, `{"type":"c"}`)
	add(m, `{"role":"tool","tool_call_id":"unknown","content":"r"}`)
	add(m, `{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"f","input":{}}]}`)
	add(m, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"},{"type":"image","source":{}}]}`)
	add(m, `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`)
	add(m, `{"role":"tool","tool_call_id":"c1","content":"r"}`)

	type fact struct {
		role   ctxabi.Role
		flags  ctxabi.EntryFlags
		callOf int32
		events int32
	}
	want := []fact{
		{ctxabi.User, 0, 0, 0},
		{ctxabi.Assistant, ctxabi.HasCalls, 0, 2},
		{ctxabi.Tool, 0, 2, 2},
		{ctxabi.Tool, 0, 0, 3},
		{ctxabi.Assistant, ctxabi.HasCalls, 0, 3},
		{ctxabi.User, ctxabi.HasResults | ctxabi.HasImages, 5, 3},
		{ctxabi.Assistant, ctxabi.HasCalls, 0, 3},
		{ctxabi.Tool, 0, 7, 3},
	}
	check := func(l *log.Log) {
		t.Helper()
		for i, e := range entries(t, l) {
			if got := (fact{e.Role, e.Flags, e.CallOf, e.Events}); got != want[i] {
				t.Errorf("record %d: %+v, want %+v", i+1, got, want[i])
			}
		}
	}
	check(m)
	for i, entry := range entries(t, e) {
		if entry.Role != ctxabi.Event || entry.Weight == 0 || entry.Events != 0 {
			t.Errorf("event %d: %+v", i+1, entry)
		}
	}
	if text, err := x.Latest(); text != "x" || err != nil {
		t.Errorf("the latest answer is %q, %v", text, err)
	}
	s.Close()
	s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x, _ = s.Session(refA)
	check(x.Messages())
}

func TestACallTooFarBackIsNotFound(t *testing.T) {
	for _, between := range []int{1022, 1023, 1024} {
		d := sessiontest.New()
		dir := closed(t, d)
		var b strings.Builder
		b.WriteString(`{"role":"assistant","content":"x","tool_calls":[{"id":"c","function":{"name":"f","arguments":""}}]}` + "\n")
		for range between {
			b.WriteString(a1 + "\n")
		}
		s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		x, _ := s.Session(refA)
		x.Messages().Append(ctx, log.Batch{Data: []byte(b.String())})
		if between%2 == 0 {
			entries(t, x.Messages()) // one index is built in two steps
			s.Close()
			s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			x, _ = s.Session(refA)
		}
		x.Messages().Append(ctx, log.Batch{Data: []byte(a3 + "\n")})
		want := int32(0)
		if between < 1024 {
			want = 1
		}
		all := entries(t, x.Messages())
		if got := all[len(all)-1].CallOf; got != want {
			t.Errorf("%d records between: call of %d, want %d (%s)", between, got, want, dir)
		}
	}
}

// However an index comes about, it is the same.
func TestAnIndexIsTheSameHoweverItWasBuilt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sessiontest.New()
		open := func() (*session.Store, *session.Session) {
			s, err := session.Open("/store", session.Options{VFS: d, Now: d.Now})
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Session(refA)
			if err != nil {
				if x, err = s.Create(refA, home); err != nil {
					t.Fatal(err)
				}
			}
			return s, x
		}
		s, x := open()
		defer func() { s.Close() }()
		tokens := map[int]int32{}
		snapshots := map[*log.Index][]ctxabi.Entry{}
		look := func() {
			ix, err := x.Messages().Index()
			if err != nil {
				t.Fatal(err)
			}
			var all []ctxabi.Entry
			for i := range ix.Len() {
				e := ix.At(i + 1)
				e.Tokens = 0
				all = append(all, e)
			}
			snapshots[ix] = all
		}
		record := rapid.SampledFrom([]string{a1, a2, a3,
			`{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`})
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				recs := rapid.SliceOfN(record, 1, 300).Draw(t, "records")
				x.Messages().Append(ctx, log.Batch{Data: []byte(strings.Join(recs, "\n") + "\n")})
			},
			"event": func(t *rapid.T) {
				x.Events().Append(ctx, log.Batch{Data: []byte(`{"type":"x"}` + "\n")})
			},
			"look": func(t *rapid.T) { look() },
			"count": func(t *rapid.T) {
				n, _ := x.Messages().Lines()
				if n == 0 {
					t.Skip("no records")
				}
				line := rapid.IntRange(1, n).Draw(t, "line")
				tokens[line] = rapid.Int32Range(1, 1000).Draw(t, "tokens")
				x.Messages().SetTokens("o200k_base", line, tokens[line])
			},
			"restart": func(t *rapid.T) {
				s.Close()
				s, x = open()
				clear(snapshots) // of a closed store
			},
			"idle": func(t *rapid.T) {
				for range session.IdleTicks {
					session.Tick(s)
				}
				if n := session.OpenLogs(s); n > 0 {
					t.Fatalf("%d logs are still open", n)
				}
			},
			"": func(t *rapid.T) {
				for ix, want := range snapshots {
					for i, e := range want {
						if got := ix.At(i + 1); got.Offset != e.Offset || got.CallOf != e.CallOf || got.Events != e.Events {
							t.Fatalf("a snapshot changed at %d: %+v, was %+v", i+1, got, e)
						}
					}
				}
			},
		})
		if problems, err := check.Verify(ctx, s, refA); err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		ix, err := x.Messages().Index()
		if err != nil {
			t.Fatal(err)
		}
		for line, n := range tokens {
			if got := ix.At(line).Tokens; got != n || ix.Encoding() != "o200k_base" {
				t.Fatalf("line %d has %d tokens of %q, want %d", line, got, ix.Encoding(), n)
			}
		}
		inMemory := log.NewMemLog(ctxabi.MessagesFile)
		for line := 1; line <= ix.Len(); line++ {
			raw, err := ix.Record(line)
			if err != nil {
				t.Fatal(err)
			}
			inMemory.Append(raw)
			want := ix.At(line)
			want.Events, want.Tokens = 0, 0
			if got := inMemory.Prefix(line).At(line); got != want {
				t.Fatalf("line %d is %+v in memory, want %+v", line, got, want)
			}
		}
	})
}

func TestAnotherEncodingBeginsAnew(t *testing.T) {
	d := sessiontest.New()
	closed(t, d, a1, a2)
	for i, encoding := range []string{"o200k_base", "cl100k_base", "cl100k_base"} {
		s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		x, _ := s.Session(refA)
		old, _ := x.Messages().Index()
		before := old.At(1).Tokens
		x.Messages().SetTokens(encoding, 2, int32(10+i))
		ix, _ := x.Messages().Index()
		if ix.Encoding() != encoding || ix.At(2).Tokens != int32(10+i) || ix.At(1).Tokens != 0 || old.At(1).Tokens != before {
			t.Errorf("%s: %+v %+v", encoding, ix.At(1), ix.At(2))
		}
		s.Close()
		s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		x, _ = s.Session(refA)
		if ix, _ := x.Messages().Index(); ix.Encoding() != encoding || ix.At(2).Tokens != int32(10+i) {
			t.Errorf("%s after a restart: %s %+v", encoding, ix.Encoding(), ix.At(2))
		}
		s.Close()
	}
}

// A release that weighs records in another way must not go on with the old weights.
func TestAnIndexOfOtherRulesIsBuiltAnew(t *testing.T) {
	d := sessiontest.New()
	dir := closed(t, d, a1, a2)
	look := func() []ctxabi.Entry {
		s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		defer s.Close()
		x, _ := s.Session(refA)
		return entries(t, x.Messages())
	}
	want := look()
	file := path.Join(dir, session.IndexFile)
	index := get(t, d, file)
	other := append([]byte(nil), index...)
	other[16]++
	put(t, d, file, other)
	if got := look(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := get(t, d, file); !slices.Equal(got, index) {
		t.Error("the file was not made anew")
	}
}

// An index file may hold anything: it is used where it is right.
func FuzzIndexFile(f *testing.F) {
	recs := []string{a1, a2, a3}
	for i := range 20 {
		recs = append(recs, fmt.Sprintf(`{"role":"assistant","content":"%d","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`, i), a3)
	}
	seed := sessiontest.New()
	dir := closed(f, seed, recs...)
	s := openStore(f, "/store", session.Options{VFS: seed, Now: seed.Now})
	x, _ := s.Session(refA)
	x.Messages().SetTokens("o200k_base", 3, 5)
	want := entries(f, x.Messages())
	s.Close()
	index, tokens := get(f, seed, path.Join(dir, session.IndexFile)), get(f, seed, path.Join(dir, session.TokensFile))
	f.Add(index, tokens)
	f.Add(index[:len(index)-26], tokens[:len(tokens)-1])
	f.Add(index[:len(index)-5], tokens[:20])
	f.Add(append(index[:400:400], make([]byte, 360)...), []byte{})
	f.Add([]byte("ctxfs index 1\n"), append(tokens, tokens...))
	rng := rand.New(rand.NewSource(1))
	for range 50 {
		b := append([]byte(nil), index...)
		b[rng.Intn(len(b))] ^= byte(1 + rng.Intn(255))
		f.Add(b, tokens)
	}
	f.Fuzz(func(t *testing.T, index, tokens []byte) {
		d := sessiontest.New()
		dir := closed(t, d, recs...)
		put(t, d, path.Join(dir, session.IndexFile), index)
		put(t, d, path.Join(dir, session.TokensFile), tokens)
		for range 2 {
			s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			x, _ := s.Session(refA)
			got := entries(t, x.Messages())
			if len(got) != len(want) {
				t.Fatalf("%d records, want %d", len(got), len(want))
			}
			for i := range got {
				got[i].Tokens = want[i].Tokens
				if got[i] != want[i] {
					t.Fatalf("record %d: %+v, want %+v", i+1, got[i], want[i])
				}
			}
			x.Messages().SetTokens("o200k_base", 7, 70)
			s.Close()
		}
		s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
		defer s.Close()
		x, _ := s.Session(refA)
		if ix, _ := x.Messages().Index(); ix.At(7).Tokens != 70 {
			t.Fatal("a count was not kept")
		}
	})
}

// The index of a long log ends with the context of the caller, and what was made of it is right.
func TestInterruptEndsIndex(t *testing.T) {
	s := openStore(t, t.TempDir()+"/store", session.Options{})
	x := create(t, s, refA)
	record := []byte(`{"role":"user","content":"` + strings.Repeat("x", 10_000) + `"}` + "\n")
	for range 10 {
		if _, err := x.Messages().Append(ctx, log.Batch{Data: bytes.Repeat(record, 100)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, looks := range []int{0, 1, 3} {
		c := &counted{Context: context.Background(), left: looks}
		if _, err := x.TimelineWithin(c); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted after %d looks: %v", looks, err)
		}
	}
	timeline, err := x.TimelineWithin(ctx)
	if err != nil || timeline.Messages.Len() != 1000 {
		t.Fatal(err)
	}
	verified(t, s, refA)
}

// counted is a context that ends after it was asked so often whether it has.
type counted struct {
	context.Context
	left int
}

func (c *counted) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
