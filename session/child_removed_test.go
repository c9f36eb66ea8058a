package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestARemovedChildLeavesItsResult(t *testing.T) {
	for _, c := range []struct{ state, result, status, keptResult, keptStatus string }{
		{"done", "", "", "the answer\n", "done\n"},
		{"idle", "", "", "the answer\n", "error\n"},
		{"cancelled", "by hand", "active\n", "by hand", "active\n"},
	} {
		s, parent, child := family(t)
		say(t, child, "assistant", "the answer")
		child.SetControl(ctxabi.StateFile, []byte(c.state))
		if c.result != "" {
			tell(t, parent, "rev-1", ctxabi.ChildResult, c.result)
			tell(t, parent, "rev-1", ctxabi.ChildStatus, c.status)
		}
		if err := s.Remove(childRef); err != nil {
			t.Fatal(err)
		}
		reads(t, parent, "rev-1", ctxabi.ChildResult, c.keptResult, ctxabi.OriginAgent)
		reads(t, parent, "rev-1", ctxabi.ChildStatus, c.keptStatus, ctxabi.OriginAgent)
		// A new session of that name is another one.
		say(t, create(t, s, childRef), "assistant", "somebody else")
		reads(t, parent, "rev-1", ctxabi.ChildResult, c.keptResult, ctxabi.OriginAgent)
	}
}

// Whatever fails on the way, and when: the answer is there, with the session or without it.
func TestAResultIsNotLostWhereARemovalFails(t *testing.T) {
	for _, kind := range []sessiontest.Kind{sessiontest.EIO, sessiontest.ENOSPC, sessiontest.Stopped} {
		for at, failed := 1, true; failed; at++ {
			d := sessiontest.New()
			s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
			parent, child := create(t, s, refA), create(t, s, childRef)
			if err := parent.MakeChild("rev-1"); err != nil {
				t.Fatal(err)
			}
			link(t, parent, "rev-1", "rev", "r1")
			say(t, child, "assistant", "the answer")
			d.Fail(sessiontest.Fault{Kind: kind, At: at, Changes: true})
			err := s.Remove(childRef)
			hit, what := d.Hit()
			d.Heal()
			if failed = hit > 0; !failed && err != nil {
				t.Fatalf("nothing failed, and yet: %v", err)
			}
			if kind == sessiontest.Stopped {
				s.Close()
				s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
				if parent, err = s.Session(refA); err != nil {
					t.Fatal(err)
				}
			}
			data, _, _, err := parent.ChildFile("rev-1", ctxabi.ChildResult)
			if err != nil || string(data) != "the answer\n" {
				t.Errorf("kind %d, operation %d (%s): the result is %q, %v", kind, at, what, data, err)
			}
		}
	}
}

// A session that could not be removed goes on, and so does what its parents see of it.
func TestAChildThatIsStillThereHasNotFailed(t *testing.T) {
	for _, state := range []string{"idle", "done"} {
		for _, kind := range []sessiontest.Kind{sessiontest.EIO, sessiontest.ENOSPC, sessiontest.Stopped} {
			for at, failed := 1, true; failed; at++ {
				d := sessiontest.New()
				s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
				parent, child := create(t, s, refA), create(t, s, childRef)
				if err := parent.MakeChild("rev-1"); err != nil {
					t.Fatal(err)
				}
				link(t, parent, "rev-1", "rev", "r1")
				say(t, child, "assistant", "the answer")
				child.SetControl(ctxabi.StateFile, []byte(state))
				d.Fail(sessiontest.Fault{Kind: kind, At: at, Changes: true})
				s.Remove(childRef)
				hit, what := d.Hit()
				d.Heal()
				failed = hit > 0
				if kind == sessiontest.Stopped {
					s.Close()
					s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
				}
				if _, err := s.Session(childRef); err != nil {
					continue // it was removed
				}
				parent, err := s.Session(refA)
				if err != nil {
					t.Fatal(err)
				}
				c, err := parent.Child("rev-1")
				if err != nil || c.Status == "error" || kind != sessiontest.Stopped && (c.StatusOrigin != ctxabi.OriginDerived || c.ResultOrigin != ctxabi.OriginDerived) {
					t.Errorf("%s, kind %d, operation %d (%s): it is %s (%s), its result %s, %v", state, kind, at, what, c.Status, c.StatusOrigin, c.ResultOrigin, err)
				}
			}
		}
	}
}

func TestAChildWhoseLastAnswerIsDamagedCanBeRemoved(t *testing.T) {
	s, parent, child := family(t)
	appendTo(t, child.Messages(), msg("assistant", strings.Repeat("the answer ", 10<<10)))
	if _, err := child.Messages().Index(); err != nil { // it is kept, and tells where the answer is
		t.Fatal(err)
	}
	seal(t, child.Messages())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(child.Dir(), part1)
	data, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data[:len(data)/2] {
		data[i] ^= 0xff
	}
	if err := os.WriteFile(part, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, s.Dir(), session.Options{})
	if child, err = s.Session(childRef); err != nil {
		t.Fatal(err)
	}
	if text, err := child.Latest(); err == nil {
		t.Fatalf("it can be read: %.40q", text)
	}
	if err := s.Remove(childRef); err != nil {
		t.Fatal(err)
	}
	if parent, err = s.Session(parent.Ref()); err != nil {
		t.Fatal(err)
	}
	reads(t, parent, "rev-1", ctxabi.ChildStatus, "error\n", ctxabi.OriginAgent)
	reads(t, parent, "rev-1", ctxabi.ChildResult, "", ctxabi.OriginDerived)
}

func TestARemovedChildWithALongAnswer(t *testing.T) {
	s, parent, child := family(t)
	say(t, child, "assistant", "a"+strings.Repeat("ä", ctxabi.MaxControl))
	if err := s.Remove(childRef); err != nil {
		t.Fatal(err)
	}
	data, _, origin, err := parent.ChildFile("rev-1", ctxabi.ChildResult)
	if err != nil || origin != ctxabi.OriginAgent || len(data) > ctxabi.MaxControl || len(data) < ctxabi.MaxControl-64 || !strings.Contains(string(data[len(data)-64:]), "[cut") {
		t.Errorf("%d bytes, %s, %v", len(data), origin, err)
	}
}

func TestASessionThatIsItsOwnChildCanBeRemoved(t *testing.T) {
	s, parent, _ := family(t)
	link(t, parent, "rev-1", refA.Agent, refA.Session)
	if err := s.Remove(refA); err != nil {
		t.Fatal(err)
	}
}

// What a session had said last was lost when its parent was renamed while it was removed.
func TestAResultStaysWhereTheParentIsRenamedMeanwhile(t *testing.T) {
	for range 15 {
		s, parent, child := family(t)
		say(t, child, "assistant", "the answer")
		to := refA
		to.Session = "renamed"
		var both sync.WaitGroup
		var renamed, removed error
		both.Go(func() { renamed = s.Rename(refA.Path(), to.Path()) })
		both.Go(func() { removed = s.Remove(childRef) })
		both.Wait()
		if renamed != nil || removed != nil {
			t.Fatal(renamed, removed)
		}
		reads(t, parent, "rev-1", ctxabi.ChildResult, "the answer\n", ctxabi.OriginAgent)
	}
}
