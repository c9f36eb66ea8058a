package session_test

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// model does in a few lines what a log with handles does.
type model struct {
	log     string
	handles []handle
}

type handle struct {
	staged  string
	swallow bool
}

func (m *model) write(h *handle, p string) (n int, err error) {
	rest := p
	if h.swallow {
		trimmed := strings.TrimLeft(rest, " \t\r")
		after, newline := strings.CutPrefix(trimmed, "\n")
		if h.swallow = trimmed == ""; !h.swallow {
			rest = trimmed
		} else {
			rest = ""
		}
		if newline {
			rest = after
		}
	}
	n = len(p) - len(rest)
	first := true
	for {
		line, tail, ok := strings.Cut(rest, "\n")
		if !ok {
			break
		}
		if ctxabi.CheckMessage([]byte(h.staged+line)) != nil {
			h.staged = ""
			if first {
				n = 0
			}
			return n, ctxabi.ErrMalformed
		}
		m.log += h.staged + line + "\n"
		h.staged, rest, first = "", tail, false
		n = len(p) - len(rest)
	}
	h.staged += rest
	return len(p), nil
}

func (m *model) flush(h *handle) error {
	if h.staged == "" {
		return nil
	}
	if ctxabi.CheckMessage([]byte(h.staged)) != nil {
		return ctxabi.ErrMalformed
	}
	m.log += h.staged + "\n"
	h.staged, h.swallow = "", true
	return nil
}

func TestALogWithManyHandlesIsLikeItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sessiontest.New()
		open := func() (*session.Store, *session.Session) {
			s, err := session.Open("/store", session.Options{VFS: d, Now: d.Now})
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Session(refA)
			if errors.Is(err, ctxabi.ErrNotFound) {
				x, err = s.Create(refA, home)
			}
			if err != nil {
				t.Fatal(err)
			}
			return s, x
		}
		s, x := open()
		defer func() { s.Close() }()
		const handles = 3
		m := &model{handles: make([]handle, handles)}
		stages := make([]*log.Stage, handles)
		for i := range stages {
			stages[i] = x.Messages().NewStage(root)
		}
		pieces := rapid.SampledFrom([]string{a1, a2, a3, a1 + "\n", a2 + "\n" + a3 + "\n", "\n", " ", "\t\r", `{"role":"us`, `er","content":"y"}`,
			`{"x":1}` + "\n", "nope", "\n\n", strings.Repeat(" ", 700), `{"role":"user","content":"` + strings.Repeat("z", 1200) + `"}` + "\n"})
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				i := rapid.IntRange(0, handles-1).Draw(t, "handle")
				p := strings.Join(rapid.SliceOfN(pieces, 1, 4).Draw(t, "pieces"), "")
				if cut := rapid.IntRange(0, 3*len(p)).Draw(t, "cut"); cut < len(p) {
					p = p[:cut]
				}
				wantN, want := m.write(&m.handles[i], p)
				n, err := stages[i].Write(ctx, []byte(p), 0, true, arrival.Key{})
				if n != wantN || !errors.Is(err, want) {
					t.Fatalf("took %d, %v; want %d, %v", n, err, wantN, want)
				}
			},
			"flush": func(t *rapid.T) {
				i := rapid.IntRange(0, handles-1).Draw(t, "handle")
				want := m.flush(&m.handles[i])
				if err := stages[i].Flush(ctx, arrival.Key{}); !errors.Is(err, want) {
					t.Fatalf("flush: %v, want %v", err, want)
				}
			},
			"reopen handle": func(t *rapid.T) {
				i := rapid.IntRange(0, handles-1).Draw(t, "handle")
				stages[i].Release()
				stages[i], m.handles[i] = x.Messages().NewStage(root), handle{}
			},
			"restart": func(t *rapid.T) {
				if rapid.Bool().Draw(t, "cleanly") {
					s.Close()
				} else {
					session.StopJanitor(s)
					d.Kill()
				}
				s, x = open()
				for i := range stages {
					stages[i], m.handles[i] = x.Messages().NewStage(root), handle{}
				}
			},
			"index": func(t *rapid.T) {
				if ix, err := x.Messages().Index(); err != nil || ix.Len() != strings.Count(m.log, "\n") {
					t.Fatal(ix.Len(), err)
				}
			},
			"": func(t *rapid.T) {
				b := make([]byte, len(m.log)+1)
				n, _ := x.Messages().ReadAt(b, 0)
				if string(b[:n]) != m.log {
					t.Fatalf("the log is %q, want %q", b[:n], m.log)
				}
				for i := range stages {
					if stages[i].Size() != int64(len(m.handles[i].staged)) {
						t.Fatalf("handle %d has staged %d, want %q", i, stages[i].Size(), m.handles[i].staged)
					}
				}
			},
		})
		if problems, err := check.Verify(ctx, s, refA); err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
	})
}

// Many writers and readers at once: every record once, whole, in its writer's order.
func TestManyWritersAtOnce(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	l := x.Messages()
	const writers, records = 8, 200
	var wg, readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				n := l.Len()
				b := make([]byte, n)
				if got, err := l.ReadAt(b, 0); int64(got) != n {
					t.Errorf("read %d of %d: %v", got, n, err)
				}
				if n > 0 && b[n-1] != '\n' || strings.Contains(string(b), "\x00") {
					t.Error("a reader saw half a record")
				}
				if _, err := l.Index(); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewSource(int64(w)))
			stage := l.NewStage(disk.Writer{UID: uint32(w)})
			defer stage.Release()
			for i := range records {
				p := fmt.Sprintf(`{"role":"user","content":"%d %d %s"}`+"\n", w, i, strings.Repeat("x", rng.Intn(2000)))
				for len(p) > 0 {
					n := 1 + rng.Intn(len(p))
					if rng.Intn(3) > 0 {
						n = len(p)
					}
					if _, err := stage.Write(ctx, []byte(p[:n]), 0, true, arrival.Key{Conn: uint64(w), Unique: rng.Uint64()}); err != nil {
						t.Error(err)
						return
					}
					p = p[n:]
				}
				if i%50 == 0 {
					l.Sync(ctx)
				}
			}
		})
	}
	wg.Wait()
	close(done)
	readers.Wait()
	next := make([]int, writers)
	for line := range strings.Lines(content(t, l)) {
		var w, i int
		if _, err := fmt.Sscanf(line, `{"role":"user","content":"%d %d `, &w, &i); err != nil || i != next[w] {
			t.Fatalf("record %.60q: writer %d is at %d (%v)", line, w, next[w], err)
		}
		next[w]++
	}
	for w, n := range next {
		if n != records {
			t.Errorf("writer %d has %d records", w, n)
		}
	}
	verified(t, s, refA)
}
