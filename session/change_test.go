package session_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// mirrored is a committer that has each change applied to two stores.
type mirrored struct {
	log.Committer
	to     *session.Store
	kinds  map[string]int
	refuse error
}

func (m *mirrored) CommitChange(_ context.Context, x *session.Session, c session.Change) error {
	m.kinds[string(c.Kind)]++
	if m.refuse != nil {
		return m.refuse
	}
	if err := x.Apply(c); err != nil {
		return err
	}
	y, err := m.to.Session(x.Ref())
	if err != nil {
		return err
	}
	return y.Apply(c)
}

func (m *mirrored) CommitName(_ context.Context, s *session.Store, n session.NameChange) error {
	m.kinds[string(n.Kind)]++
	if m.refuse != nil {
		return m.refuse
	}
	if err := s.ApplyName(n); err != nil {
		return err
	}
	return m.to.ApplyName(n)
}

// held is all files of the homes of a store, but for reports; directories are empty.
func held(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, "home"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "errors.jsonl" {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if d.IsDir() {
			files[rel] = ""
			return nil
		}
		b, err := os.ReadFile(p)
		files[rel] = "file " + string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Whatever is changed beside records goes through the committer, and another store to which it is applied holds the same.
func TestAStoreIsWhatIsAppliedToIt(t *testing.T) {
	there := t.TempDir()
	m := &mirrored{Committer: session.Local(), to: openStore(t, there, session.Options{}), kinds: map[string]int{}}
	here := t.TempDir()
	s := openStore(t, here, session.Options{Committer: m})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		want, got := held(t, here), held(t, there)
		if !maps.Equal(got, want) {
			t.Fatalf("the other store holds\n%q\nand this one\n%q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
	refB := ctxabi.Ref{UID: 1000, Agent: "rev", Session: "r1"}
	x, y := create(t, s, refA), create(t, s, refB)
	must(nil)
	must(s.CreateAgent(ctxabi.Ref{UID: 1000, Agent: "idle"}, home))
	must(x.SetControl(ctxabi.StateFile, []byte("active\n")))
	must(x.SetControl(ctxabi.BudgetFile, []byte("4000\n")))
	must(x.AppendNote(ctxabi.TodoFile, []byte("one\n")))
	must(x.AppendNote(ctxabi.TodoFile, []byte("two\n")))
	must(x.SetNote(ctxabi.TodoFile, []byte("all of it\n"), ctxabi.OriginAgent))
	must(x.SetNote(ctxabi.TodoFile, []byte("a part\n"), ctxabi.OriginMixed))
	must(x.DropNote(ctxabi.TodoFile))
	must(x.MakeChild("rev-0"))
	must(x.RenameChild("rev-0", "rev-1"))
	must(x.MakeChild("empty"))
	must(x.RemoveChild("empty"))
	must(x.SetControl(ctxabi.ChildPath("rev-1", ctxabi.ChildAgent), []byte("rev\n")))
	must(x.SetControl(ctxabi.ChildPath("rev-1", ctxabi.ChildSession), []byte("r1\n")))
	must(s.Rename("home/1000/agent/rev", "home/1000/agent/judge"))
	must(y.SetControl(ctxabi.StateFile, []byte("done\n")))
	must(s.Remove(y.Ref())) // the child keeps how it ended
	if status, _, origin, err := x.ChildFile("rev-1", ctxabi.ChildStatus); string(status) != "done\n" || origin != ctxabi.OriginAgent || err != nil {
		t.Errorf("%q %s %v", status, origin, err)
	}
	want := strings.Fields("agent create note remove rename set")
	got := slices.Sorted(maps.Keys(m.kinds))
	got = slices.DeleteFunc(got, func(k string) bool { return strings.HasSuffix(k, " child") })
	if !slices.Equal(got, want) || m.kinds["make child"] != 2 || m.kinds["rename child"] != 1 || m.kinds["remove child"] != 1 {
		t.Errorf("what was committed: %v", m.kinds)
	}

	m.refuse = errors.New("nobody answers")
	before := held(t, here)
	for what, err := range map[string]error{
		"set":     x.SetControl(ctxabi.StateFile, []byte("idle\n")),
		"note":    x.AppendNote(ctxabi.TodoFile, []byte("more\n")),
		"child":   x.MakeChild("another"),
		"rename":  s.Rename("home/1000/agent/coder/session/s1", "home/1000/agent/coder/session/s2"),
		"remove":  s.Remove(refA),
		"create":  func() error { _, err := s.Create(refB, home); return err }(),
		"agent":   s.CreateAgent(ctxabi.Ref{UID: 1000, Agent: "other"}, home),
		"rmchild": x.RemoveChild("rev-1"),
	} {
		if !errors.Is(err, m.refuse) {
			t.Errorf("%s of what could not be committed: %v", what, err)
		}
	}
	if !maps.Equal(held(t, here), before) {
		t.Error("what was not committed was done")
	}
	if got, err := x.Control(ctxabi.StateFile); err != nil || !bytes.Equal(got, []byte("active\n")) {
		t.Errorf("%q %v", got, err)
	}
}

func TestAChangeOfNoKindIsRefused(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	if err := x.Apply(session.Change{Kind: "paint", Name: "state"}); !errors.Is(err, ctxabi.ErrMalformed) {
		t.Error(err)
	}
	if err := s.ApplyName(session.NameChange{Kind: "paint"}); !errors.Is(err, ctxabi.ErrMalformed) {
		t.Error(err)
	}
	other := session.NameChange{Kind: session.RemoveSession, Ref: refA, ID: strings.Repeat("0", 32)}
	if err := s.ApplyName(other); !errors.Is(err, ctxabi.ErrNotFound) || x.Removed() {
		t.Errorf("another session of that name: %v", err)
	}
	again := session.NameChange{Kind: session.CreateSession, Ref: refA, Owner: home, ID: x.ID()}
	if err := s.ApplyName(again); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
}
