package derivedtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// noteModel is what the words of the ABI say a note is.
type noteModel struct {
	origin string
	own    string
}

func (n *noteModel) text(derived []string) string {
	if n.origin == ctxabi.OriginAgent {
		return n.own
	}
	var b strings.Builder
	for _, row := range derived {
		id, _, _ := strings.Cut(strings.TrimPrefix(row, `{"id":"`), `"`)
		if !strings.Contains(n.own, `{"id":"`+id+`"`) {
			b.WriteString(row)
		}
	}
	return b.String() + n.own
}

// Whatever is done to a note in whatever order, through one handle or several, restarts in between: it is what the ABI says.
func TestTheSwitchAgainstAModel(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	restarts := 0
	suite.Check(t, 25, func(rt *rapid.T) {
		s := m.NewSession(t)
		story(s)
		file := s.Path(ctxabi.FactsFile)
		derived := slices.Collect(strings.Lines(s.Read(ctxabi.FactsFile)))
		if len(derived) == 0 {
			rt.Fatal("nothing is derived")
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(derived[0], `{"id":"`), `"`)
		var note noteModel
		note.origin = ctxabi.OriginDerived
		row := func() string {
			id := rapid.SampledFrom([]string{"a", "b", "c", first}).Draw(rt, "id")
			return fact(id, fmt.Sprintf("row %d", rapid.IntRange(0, 99).Draw(rt, "n")))
		}
		must := func(what string, err error) {
			if err != nil {
				rt.Fatalf("%s: %v", what, err)
			}
		}
		added := func(text string) {
			note.own += text
			if note.origin == ctxabi.OriginDerived {
				note.origin = ctxabi.OriginMixed
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(*rapid.T) {
				r := row()
				must("append", write(file, r, os.O_WRONLY|os.O_APPEND|os.O_CREATE))
				added(r)
			},
			"add at the end": func(*rapid.T) {
				f, err := os.OpenFile(file, os.O_RDWR, 0)
				must("open", err)
				defer f.Close()
				end, err := f.Seek(0, 2)
				must("seek", err)
				if end != int64(len(note.text(derived))) {
					rt.Fatalf("it ends at %d", end)
				}
				r := row()
				_, err = f.WriteString(r)
				must("write", err)
				must("close", f.Close())
				added(r)
			},
			"replace": func(*rapid.T) {
				r := row()
				must("replace", write(file, r, os.O_WRONLY|os.O_TRUNC|os.O_CREATE))
				note = noteModel{ctxabi.OriginAgent, r}
			},
			"rename over": func(*rapid.T) {
				r := row()
				must("write", write(s.Path("context/new"), r, os.O_WRONLY|os.O_CREATE))
				must("rename", os.Rename(s.Path("context/new"), file))
				note = noteModel{ctxabi.OriginAgent, r}
			},
			"change the front": func(*rapid.T) {
				whole := note.text(derived)
				r := row()
				f, err := os.OpenFile(file, os.O_RDWR, 0)
				must("open", err)
				defer f.Close()
				_, err = f.WriteString(r + whole)
				must("write", err)
				must("close", f.Close())
				if whole == "" { // there was nothing in front of it
					added(r)
				} else {
					note = noteModel{ctxabi.OriginAgent, r + whole}
				}
			},
			"remove": func(*rapid.T) {
				must("remove", os.Remove(file))
				os.Lstat(file) // it seems gone, once
				note = noteModel{origin: ctxabi.OriginDerived}
			},
			"remove and make": func(*rapid.T) {
				must("remove", os.Remove(file))
				r := row()
				must("make", write(file, r, os.O_WRONLY|os.O_CREATE|os.O_EXCL))
				note = noteModel{ctxabi.OriginAgent, r}
			},
			"refused": func(*rapid.T) {
				if write(file, "no row\n", os.O_WRONLY|os.O_APPEND) == nil {
					rt.Fatal("it was taken")
				}
			},
			"restart": func(rt *rapid.T) {
				if restarts++; restarts > 5 {
					rt.Skip("enough of them")
				}
				m.Restart()
			},
			"": func(*rapid.T) {
				got, err := os.ReadFile(file)
				must("read", err)
				want := note.text(derived)
				if string(got) != want {
					rt.Fatalf("it holds\n%swant\n%s", got, want)
				}
				fi, err := os.Stat(file)
				must("stat", err)
				origin := harness.Origin(t, s, ctxabi.FactsFile)
				if fi.Size() != int64(len(want)) || origin != note.origin {
					rt.Fatalf("%d bytes, %s; want %d, %s", fi.Size(), origin, len(want), note.origin)
				}
			},
		})
	})
}

// Many writers append at once: every row is there, once, whole.
func TestAppendsAtOnce(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	var wait sync.WaitGroup
	const writers, each = 6, 25
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				if err := write(s.Path(ctxabi.FactsFile), fact(fmt.Sprintf("w%d-%d", w, i), "x"), os.O_WRONLY|os.O_APPEND); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Go(func() {
		for i := range 20 {
			s.Append(ctxabi.MessagesFile, harness.Message("user", fmt.Sprintf("Always use port %d for this.", 8000+i)))
		}
	})
	wait.Wait()
	seen := map[string]int{}
	for _, r := range harness.Rows[ctxabi.FactRow](t, s, ctxabi.FactsFile) {
		seen[r.ID]++
	}
	for w := range writers {
		for i := range each {
			if id := fmt.Sprintf("w%d-%d", w, i); seen[id] != 1 {
				t.Errorf("%s is there %d times", id, seen[id])
			}
		}
	}
	wantOrigin(t, s, ctxabi.FactsFile, ctxabi.OriginMixed)
}

// Readers beside whoever switches the file's life see one life or the other, whole.
func TestReadersWhileSwitching(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	file := s.Path(ctxabi.FactsFile)
	derived := s.Read(ctxabi.FactsFile)
	own, whole := fact("own", strings.Repeat("o", 9000)), fact("whole", strings.Repeat("w", 20000))
	valid := map[string]bool{derived: true, derived + own: true, whole: true, "": true}
	done := make(chan struct{})
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for {
				f, err := os.Open(file)
				if err != nil {
					t.Error(err)
					return
				}
				var got []byte
				for part := make([]byte, 777); ; {
					n, err := f.Read(part)
					if got = append(got, part[:n]...); err != nil {
						break
					}
				}
				f.Close()
				if !valid[string(got)] {
					t.Errorf("torn: %d bytes, %.80q", len(got), got)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 12 {
		for _, do := range []func() error{
			func() error { return write(file, own, os.O_WRONLY|os.O_APPEND) },
			func() error { return write(file, whole, os.O_WRONLY|os.O_TRUNC) },
			func() error { s.Bash("rm " + file).OK(); return nil }, // another process, for it is gone for whoever removed it
		} {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(done)
	wait.Wait()
}

// The daemon is killed while the life changes, again and again: what an append that returned has added is there, and the file is in one of the lives
// that it was in or was being given.
func TestKilledWhileSwitching(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	file := s.Path(ctxabi.FactsFile)
	derived := s.Read(ctxabi.FactsFile)
	rnd := rand.New(rand.NewPCG(7, suite.Seed()))
	for round := range 6 {
		os.Remove(file)
		os.Lstat(file)
		acked, stop := "", make(chan struct{})
		tried := ""
		ended := make(chan struct{})
		taken := round%2 == 1
		go func() {
			defer close(ended)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				r := fact(fmt.Sprintf("r%d-%d", round, i), "x")
				tried = acked + r
				if taken && i == 3 { // all that was added so far is written as the agent's whole file
					if write(s.Path("context/new"), tried, os.O_WRONLY|os.O_CREATE|os.O_TRUNC) != nil || os.Rename(s.Path("context/new"), file) != nil {
						return
					}
				} else if write(file, r, os.O_WRONLY|os.O_APPEND) != nil {
					return
				}
				acked = tried
			}
		}()
		time.Sleep(time.Duration(rnd.IntN(150)) * time.Millisecond) // the random moment
		m.Kill()
		close(stop)
		<-ended
		m.Restart()
		got := s.Read(ctxabi.FactsFile)
		own := strings.TrimPrefix(got, derived)
		if !strings.HasPrefix(own, acked) || own != acked && own != tried {
			t.Fatalf("round %d: acknowledged\n%stried\n%sthere is\n%s", round, acked, tried, own)
		}
		left, err := filepath.Glob(filepath.Join(s.InStore(), "context", ".ctxfs-own.*"))
		if err != nil || len(left) > 1 {
			t.Errorf("%v: %v", left, err)
		}
		mustAgree(t, s, ctxabi.FactsFile)
	}
}

// Nobody else sees any of it.
func TestAnotherUserSeesNothing(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, 1001, "coder", "mine")
	s.Bash("echo '" + strings.TrimSpace(fact("a", "a secret")) + "' >> context/facts.jsonl").OK()
	for _, file := range ctxabi.NoteFiles {
		path := s.Path(file)
		r := m.Run(t, harness.Client{UID: 1002, GIDs: []uint32{1002}, Argv: []string{"bash", "-c",
			"cat " + path + "; stat -c %s " + path + "; echo x >> " + path + "; : > " + path + "; rm -f " + path + "; getfattr -n user.ctx.origin " + path + "; ls " + filepath.Dir(path)}})
		if r.Stdout != "" || strings.Contains(r.Stderr, "secret") {
			t.Errorf("%s: %+v", file, r)
		}
	}
	if got := s.Read(ctxabi.FactsFile); !strings.Contains(got, "a secret") {
		t.Errorf("it holds %q", got)
	}
	for _, path := range []string{s.InStore() + "/" + ctxabi.OwnNote(ctxabi.FactsFile)} {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil || st.Uid != 1001 || st.Mode&0o077 != 0 {
			t.Errorf("%s: uid %d mode %o, %v", path, st.Uid, st.Mode, err)
		}
	}
}
