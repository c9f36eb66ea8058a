package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

var childRef = ctxabi.Ref{UID: 1000, Agent: "rev", Session: "r1"}

// family is a session with a child rev-1 that is linked to another one.
func family(t *testing.T) (s *session.Store, parent, child *session.Session) {
	t.Helper()
	s = openStore(t, t.TempDir()+"/store", session.Options{})
	parent, child = create(t, s, refA), create(t, s, childRef)
	if err := parent.MakeChild("rev-1"); err != nil {
		t.Fatal(err)
	}
	link(t, parent, "rev-1", "rev", "r1")
	return s, parent, child
}

func link(t *testing.T, x *session.Session, name, agent, to string) {
	t.Helper()
	tell(t, x, name, ctxabi.ChildAgent, agent+"\n")
	tell(t, x, name, ctxabi.ChildSession, to+"\n")
}

func tell(t *testing.T, x *session.Session, name, file, data string) {
	t.Helper()
	if err := x.SetControl(ctxabi.ChildPath(name, file), []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func say(t *testing.T, x *session.Session, role, text string) {
	t.Helper()
	if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(msg(role, text))}); err != nil {
		t.Fatal(err)
	}
}

// reads fails the test unless a file of a child has that content and origin.
func reads(t *testing.T, x *session.Session, name, file, want, origin string) {
	t.Helper()
	data, at, from, err := x.ChildFile(name, file)
	if err != nil || string(data) != want || from != origin || at.IsZero() {
		t.Errorf("%s of %s: %q, %s, %v, %v; want %q, %s", file, name, data, from, at, err, want, origin)
	}
}

func TestAChildShowsWhatItsSessionSays(t *testing.T) {
	_, parent, child := family(t)
	reads(t, parent, "rev-1", ctxabi.ChildStatus, "pending\n", ctxabi.OriginDerived)
	reads(t, parent, "rev-1", ctxabi.ChildResult, "", ctxabi.OriginDerived)
	say(t, child, "assistant", "found two bugs")
	reads(t, parent, "rev-1", ctxabi.ChildStatus, "active\n", ctxabi.OriginDerived)
	reads(t, parent, "rev-1", ctxabi.ChildResult, "found two bugs\n", ctxabi.OriginDerived)
	for _, state := range []string{"done", "error", "cancelled", "idle"} {
		if err := child.SetControl(ctxabi.StateFile, []byte(state)); err != nil {
			t.Fatal(err)
		}
		if state == "idle" {
			state = "active"
		}
		reads(t, parent, "rev-1", ctxabi.ChildStatus, state+"\n", ctxabi.OriginDerived)
	}
	tell(t, parent, "rev-1", ctxabi.ChildStatus, "cancelled\n")
	tell(t, parent, "rev-1", ctxabi.ChildResult, "never mind\n")
	reads(t, parent, "rev-1", ctxabi.ChildStatus, "cancelled\n", ctxabi.OriginAgent)
	reads(t, parent, "rev-1", ctxabi.ChildResult, "never mind\n", ctxabi.OriginAgent)
}

func TestChildrenAreEqualUntilTheySaySomethingElse(t *testing.T) {
	s, parent, child := family(t)
	last := fmt.Sprint()
	look := func() string {
		list, err := parent.Children()
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return fmt.Sprintf("%+v", list[0])
	}
	changed := func(what string, change func()) {
		t.Helper()
		change()
		if now := look(); now == last {
			t.Errorf("%s changed nothing: %s", what, now)
		} else if last = now; look() != last {
			t.Errorf("behind %s two looks differ", what)
		}
	}
	changed("the link", func() {})
	changed("a message", func() { say(t, child, "assistant", "one") })
	changed("an answer", func() { say(t, child, "assistant", "two") })
	changed("a state", func() { child.SetControl(ctxabi.StateFile, []byte("done")) })
	changed("a handoff", func() { tell(t, parent, "rev-1", ctxabi.ChildHandoff, "read this") })
	changed("a result", func() { tell(t, parent, "rev-1", ctxabi.ChildResult, "a") })
	changed("another result of that length", func() { tell(t, parent, "rev-1", ctxabi.ChildResult, "b") })
	changed("another session", func() { link(t, parent, "rev-1", "rev", "r2") })
	changed("that session", func() { create(t, s, ctxabi.Ref{UID: 1000, Agent: "rev", Session: "r2"}) })
}

func TestALinkNeverLeadsToAnotherOwner(t *testing.T) {
	s, parent, _ := family(t)
	other := create(t, s, ctxabi.Ref{UID: 1001, Agent: "rev", Session: "secret"})
	say(t, other, "assistant", "the password")
	link(t, parent, "rev-1", "rev", "secret")
	reads(t, parent, "rev-1", ctxabi.ChildStatus, "pending\n", ctxabi.OriginDerived)
	reads(t, parent, "rev-1", ctxabi.ChildResult, "", ctxabi.OriginDerived)
	for _, name := range []string{"../../../1001/agent/rev/session/secret", "..", ".", "a/b", "\x00", "a b", "../rev"} {
		for _, file := range []string{ctxabi.ChildAgent, ctxabi.ChildSession} {
			if err := parent.SetControl(ctxabi.ChildPath("rev-1", file), []byte(name)); !errors.Is(err, ctxabi.ErrMalformed) {
				t.Errorf("%s %q: %v", file, name, err)
			}
		}
		if err := parent.MakeChild(name); !errors.Is(err, ctxabi.ErrMalformed) {
			t.Errorf("a child %q: %v", name, err)
		}
	}
}

func TestLinksInACircleEnd(t *testing.T) {
	_, parent, child := family(t)
	for _, c := range []struct {
		x  *session.Session
		to ctxabi.Ref
	}{{child, refA}, {parent, refA}} {
		if err := c.x.MakeChild("back"); err != nil {
			t.Fatal(err)
		}
		link(t, c.x, "back", c.to.Agent, c.to.Session)
	}
	say(t, parent, "assistant", "mine")
	reads(t, parent, "back", ctxabi.ChildResult, "mine\n", ctxabi.OriginDerived)
	reads(t, child, "back", ctxabi.ChildResult, "mine\n", ctxabi.OriginDerived)
	if list, err := parent.Children(); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAChildsSessionMayMove(t *testing.T) {
	s, parent, child := family(t)
	say(t, child, "assistant", "hello")
	moved := childRef
	moved.Session = "r9"
	if err := s.Rename(childRef.Path(), moved.Path()); err != nil {
		t.Fatal(err)
	}
	reads(t, parent, "rev-1", ctxabi.ChildSession, "r9\n", ctxabi.OriginAgent)
	reads(t, parent, "rev-1", ctxabi.ChildResult, "hello\n", ctxabi.OriginDerived)
	home := moved
	home.Agent = "reviewer"
	if err := s.Rename(moved.AgentHome(), home.AgentHome()); err != nil {
		t.Fatal(err)
	}
	reads(t, parent, "rev-1", ctxabi.ChildAgent, "reviewer\n", ctxabi.OriginAgent)
	reads(t, parent, "rev-1", ctxabi.ChildResult, "hello\n", ctxabi.OriginDerived)
	if links, err := s.Parents(home); err != nil || len(links) != 1 || links[0].Parent != refA || links[0].Child.Name != "rev-1" {
		t.Errorf("%+v, %v", links, err)
	}
	// The parent and its agent may move, too.
	if err := s.Rename(refA.AgentHome(), "home/1000/agent/boss"); err != nil {
		t.Fatal(err)
	}
	reads(t, parent, "rev-1", ctxabi.ChildResult, "hello\n", ctxabi.OriginDerived)
}

func TestChildDirectories(t *testing.T) {
	_, parent, _ := family(t)
	if err := parent.MakeChild("rev-1"); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("twice: %v", err)
	}
	if err := parent.MakeChild("b"); err != nil {
		t.Fatal(err)
	}
	if err := parent.RenameChild("rev-1", "b"); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("onto another: %v", err)
	}
	if err := parent.RenameChild("rev-1", "a"); err != nil {
		t.Fatal(err)
	}
	if err := parent.RemoveChild("a"); err == nil {
		t.Error("a child with files was removed")
	}
	if err := parent.RemoveChild("b"); err != nil {
		t.Error(err)
	}
	list, err := parent.Children()
	if err != nil || len(list) != 1 || list[0].Name != "a" || !list[0].Linked {
		t.Errorf("%+v, %v", list, err)
	}
	if _, _, _, err := parent.ChildFile("b", ctxabi.ChildStatus); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("of a child that is gone: %v", err)
	}
}

func TestAForkHasTheChildren(t *testing.T) {
	s, parent, child := family(t)
	say(t, child, "assistant", "derived")
	if err := parent.MakeChild("written"); err != nil {
		t.Fatal(err)
	}
	tell(t, parent, "written", ctxabi.ChildResult, "by hand\n")
	artifact := filepath.Join(parent.Dir(), "context/child/written/artifact")
	secret := filepath.Join(t.TempDir(), "secret")
	for _, err := range []error{
		os.WriteFile(secret, []byte("secret"), 0o600),
		os.MkdirAll(artifact+"/deep/er", 0o700),
		os.WriteFile(artifact+"/deep/er/a.bin", []byte{0, 1, 2}, 0o640),
		os.Symlink(secret, artifact+"/link"),
		os.Symlink("deep", artifact+"/inside"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 { // what others keep from him stays behind
		for _, name := range []string{"/deep", "/deep/er", "/deep/er/a.bin"} {
			if err := os.Chown(artifact+name, int(home.UID), int(home.GID)); err != nil {
				t.Fatal(err)
			}
		}
	}
	to := refA
	to.Session = "branch"
	fork, _, err := s.Fork(parent, -1, to, home)
	if err != nil {
		t.Fatal(err)
	}
	reads(t, fork, "rev-1", ctxabi.ChildResult, "derived\n", ctxabi.OriginDerived)
	reads(t, fork, "written", ctxabi.ChildResult, "by hand\n", ctxabi.OriginAgent)
	of, _ := parent.Child("written")
	if c, err := fork.Child("written"); err != nil || !c.Changed.Equal(of.Changed) {
		t.Errorf("its result is of %v, %v; want %v", c.Changed, err, of.Changed)
	}
	dir := filepath.Join(fork.Dir(), "context/child/written/artifact")
	if b, err := os.ReadFile(dir + "/deep/er/a.bin"); err != nil || string(b) != "\x00\x01\x02" {
		t.Errorf("%q, %v", b, err)
	}
	for name, want := range map[string]string{"link": secret, "inside": "deep"} {
		if got, err := os.Readlink(dir + "/" + name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// It is its own: what is written there does not show in the other.
	if err := os.WriteFile(dir+"/deep/er/a.bin", []byte("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(artifact + "/deep/er/a.bin"); string(b) != "\x00\x01\x02" {
		t.Errorf("the first one's artifact holds %q", b)
	}
}
