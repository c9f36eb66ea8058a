package session_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"path"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// However a log is appended to, sealed, forked, opened anew and killed: it reads like a slice of bytes.
func TestALogThatIsSealedIsLikeASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sessiontest.New()
		open := func() *session.Store {
			s, err := session.Open("/store", session.Options{VFS: d, Now: d.Now})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := open()
		defer func() { s.Close() }()
		x, err := s.Create(refA, home)
		if err != nil {
			t.Fatal(err)
		}
		want, forks := "", 0
		again := func(ref ctxabi.Ref) {
			if x, err = s.Session(ref); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				var b strings.Builder
				for range rapid.IntRange(1, 5).Draw(t, "records") {
					n := rapid.SampledFrom([]int{0, 10, 500, 9000}).Draw(t, "size")
					fmt.Fprintf(&b, `{"role":"user","content":"%d%s"}`+"\n", rapid.IntRange(0, 3).Draw(t, "which"), strings.Repeat("x", n))
				}
				if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(b.String())}); err != nil {
					t.Fatal(err)
				}
				want += b.String()
			},
			"seal": func(t *rapid.T) {
				if _, _, err := x.Messages().Seal(ctx); err != nil {
					t.Fatal(err)
				}
			},
			"seal and be killed, or fail": func(t *rapid.T) {
				kind := rapid.SampledFrom([]sessiontest.Kind{sessiontest.Stopped, sessiontest.ENOSPC, sessiontest.EIO, sessiontest.Short}).Draw(t, "kind")
				d.Fail(sessiontest.Fault{Kind: kind, At: rapid.IntRange(1, 45).Draw(t, "at"), Count: rapid.IntRange(1, 3).Draw(t, "count"), Changes: true})
				x.Messages().Seal(ctx)
				d.Heal()
				session.StopJanitor(s)
				d.Kill()
				s = open()
				again(x.Ref())
			},
			"restart": func(t *rapid.T) {
				s.Close()
				if rapid.Bool().Draw(t, "without the index") {
					d.Remove(path.Join(x.Dir(), session.IndexFile))
				}
				if rapid.Bool().Draw(t, "without the list") {
					d.Remove(path.Join(x.Dir(), session.SegmentsFile))
				}
				s = open()
				again(x.Ref())
			},
			"fork": func(t *rapid.T) {
				ix, err := x.Messages().Index()
				if err != nil {
					t.Fatal(err)
				}
				n := rapid.IntRange(0, ix.Len()).Draw(t, "at")
				forks++
				ref := refA
				ref.Session = fmt.Sprintf("f%d", forks)
				f, _, err := s.Fork(x, n, ref, home)
				if err != nil {
					t.Fatal(err)
				}
				size := 0
				if n > 0 {
					size = int(ix.At(n).Offset) + int(ix.At(n).Len) + 1
				}
				want, x = want[:size], f
			},
			"": func(t *rapid.T) {
				l := x.Messages()
				if l.Len() != int64(len(want)) {
					t.Fatalf("it has %d bytes, not %d", l.Len(), len(want))
				}
				off := rapid.IntRange(0, len(want)).Draw(t, "off")
				n := rapid.IntRange(0, 20000).Draw(t, "n")
				b := make([]byte, n)
				got, err := l.ReadAt(b, int64(off))
				if err != nil && err != io.EOF || string(b[:got]) != want[off:min(len(want), off+n)] {
					t.Fatalf("%d bytes at %d: %d, %v", n, off, got, err)
				}
			},
		})
		l := x.Messages()
		b := make([]byte, len(want))
		if n, _ := l.ReadAt(b, 0); string(b[:n]) != want {
			t.Fatal("it holds other bytes")
		}
		if ix, err := l.Index(); err != nil || ix.Len() != strings.Count(want, "\n") {
			t.Fatal(ix.Len(), err)
		}
		if problems, err := check.Verify(ctx, s, x.Ref()); err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
	})
}

// Readers, writers and one who seals, all at once, over a real disk.
func TestReadersAndWritersWhileALogIsSealed(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	l := x.Messages()
	const writers, records = 4, 150
	done := make(chan struct{})
	var wg, others sync.WaitGroup
	stopped := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	for r := range 2 {
		others.Go(func() {
			var seen []byte // what was read once is read ever after
			rng := rand.New(rand.NewSource(int64(r)))
			for !stopped() {
				b := make([]byte, l.Len())
				if n, err := l.ReadAt(b, 0); n != len(b) {
					t.Errorf("read %d of %d: %v", n, len(b), err)
					return
				}
				if !bytes.HasPrefix(b, seen) {
					t.Error("what was read is not there any more")
					return
				}
				seen = b
				ix, err := l.Index()
				if err != nil || ix.Len() == 0 {
					continue
				}
				line := 1 + rng.Intn(ix.Len())
				if rec, err := ix.Record(line); err != nil || ctxabi.CheckMessage(rec) != nil {
					t.Errorf("line %d: %v", line, err)
				}
			}
		})
	}
	parts := 0
	sealed := make(chan struct{}) // closed with the first part
	others.Go(func() {
		once := sync.OnceFunc(func() { close(sealed) })
		defer once()
		for !stopped() {
			raw, _, err := l.Seal(ctx)
			if err != nil {
				t.Errorf("seal: %v", err)
				return
			}
			if raw > 0 {
				parts++
				once()
			}
			session.Tick(s)
		}
	})
	for w := range writers {
		wg.Go(func() {
			for i := range records {
				if i == records-1 {
					<-sealed // however late the sealer's turn comes
				}
				rec := fmt.Sprintf(`{"role":"user","content":"%d %d %s"}`+"\n", w, i, strings.Repeat("x", 37*i%3000))
				if _, err := l.Append(ctx, log.Batch{Data: []byte(rec)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(done)
	others.Wait()
	if parts == 0 {
		t.Error("nothing was sealed meanwhile")
	}
	next := make([]int, writers)
	for line := range strings.Lines(content(t, l)) {
		var w, i int
		if _, err := fmt.Sscanf(line, `{"role":"user","content":"%d %d `, &w, &i); err != nil || i != next[w] {
			t.Fatalf("record %.60q: writer %d is at %d (%v)", line, w, next[w], err)
		}
		next[w]++
	}
	verified(t, s, refA)
	if got := plain(t, vfs.OS, x.Dir()); got != content(t, l) {
		t.Error("a person reads other bytes")
	}
}

// A look beside the daemon that seals sees the log whole.
func TestALookBesideADaemonThatSeals(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	x := create(t, s, refA)
	want := ""
	look := func() {
		t.Helper()
		r := openStore(t, dir, session.Options{ReadOnly: true})
		defer r.Close()
		y, err := r.Session(refA)
		if err != nil || content(t, y.Messages()) != want {
			t.Fatal("a look sees something else", err)
		}
		if _, _, err := y.Messages().Seal(ctx); err == nil {
			t.Error("a look seals")
		}
	}
	for i := range 4 {
		more := talk(9<<10, int64(i))
		appendTo(t, x.Messages(), more)
		want += more
		look()
		seal(t, x.Messages())
		look()
	}
	done := make(chan struct{})
	const times, three = 30, a1 + "\n" + a2 + "\n" + a3 + "\n"
	go func() {
		defer close(done)
		for range times {
			appendTo(t, x.Messages(), three)
			x.Messages().Seal(ctx)
		}
	}()
	all := want + strings.Repeat(three, times)
	for busy := true; busy; {
		select {
		case <-done:
			busy = false
		default:
		}
		r := openStore(t, dir, session.Options{ReadOnly: true})
		y, _ := r.Session(refA)
		got := content(t, y.Messages())
		// A write that goes on into another page is seen page by page: records are whole, the three of one write may not be there yet.
		if !strings.HasPrefix(got, want) || !strings.HasPrefix(all, got) || !strings.HasSuffix(got, "\n") {
			t.Fatal("a look beside sees something else")
		}
		r.Close()
	}
}
