package node

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// link makes a child of x whose session is in. As an older ctxfs does it, the owner's journal does not have it that x has
// children.
func (m *mounted) link(x *session.Session, name string, in ctxabi.Ref, asOlder bool) {
	m.r.t.Helper()
	make := func() error { return x.MakeChild(name) }
	if asOlder {
		make = func() error {
			return m.Host.CommitChange(m.r.t.Context(), x, session.Change{Kind: session.MakeChild, Name: name})
		}
	}
	err := errors.Join(make(), x.SetControl(ctxabi.ChildPath(name, ctxabi.ChildAgent), []byte(in.Agent+"\n")),
		x.SetControl(ctxabi.ChildPath(name, ctxabi.ChildSession), []byte(in.Session+"\n")))
	if err != nil {
		m.r.t.Fatal(err)
	}
}

// linked waits until m shows that a child of the session ref has the session in.
func (m *mounted) linked(ref ctxabi.Ref, name string, in ctxabi.Ref) {
	m.r.t.Helper()
	within(m.r.t, m.Name(), func() string {
		if c, err := m.open(ref).Child(name); err != nil || !c.Linked || c.Ref != in {
			return fmt.Sprintf("the child %s of %s is %+v, %v", name, ref.Path(), c, err)
		}
		return ""
	})
}

// read returns how many of the sessions a host has read something of.
func (m *mounted) read(list []ctxabi.Ref) (count int) {
	m.r.t.Helper()
	for _, ref := range list {
		x, err := m.s.Session(ref)
		if err != nil {
			m.r.t.Fatal(err)
		}
		if m.hasCopy(x) {
			count++
		}
	}
	return count
}

// others makes sessions without children.
func (m *mounted) others(n int) (list []ctxabi.Ref) {
	for i := range n {
		other := ref
		other.Session = fmt.Sprint("other", i)
		m.create(other)
		list = append(list, other)
	}
	return list
}

func named(session string) ctxabi.Ref {
	r := ref
	r.Session = session
	return r
}

// The first rename or removal on a host read all sessions of the owner.
func TestARenameReadsNoSessionsWithoutChildren(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict)
	others := a.others(5)
	in := named("in")
	a.create(in)
	a.link(a.create(ref), "c", in, false)
	b.open(in)
	to := named("to")
	if err := b.s.Rename(in.Path(), to.Path()); err != nil {
		t.Fatal(err)
	}
	a.linked(ref, "c", to)
	if n := b.read(others); n > 0 {
		t.Errorf("%d of %d sessions without children were read", n, len(others))
	}
	if n := b.read([]ctxabi.Ref{ref}); n != 1 {
		t.Error("the parent was not read")
	}
}

// older is an owner's first entry as it was before parents were noted.
type older struct{}

func (older) Plan(*names.State, string) ([]journal.Row, error) {
	return []journal.Row{names.Name{Op: names.MakeHome, Owner: names.Owner(owner)}.Row()}, nil
}

// A child that was made before parents were noted is found, and so is one that is made while they are looked for.
func TestChildrenOfOlderJournalsKeepTheirSessions(t *testing.T) {
	r := newRig(t)
	if _, err := names.NewReplica(r.servers.Host("older"), "older", names.SubjectOf(ref), names.Options{}).Commit(t.Context(), older{}); err != nil {
		t.Fatal(err)
	}
	a, b, c := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict), r.mount("c", t.TempDir(), strict)
	known := func() (known bool) {
		a.enter()
		a.keeper.View(ref, func(s *names.State) { known = s.ParentsKnown() })
		return known
	}
	others := a.others(journal.MaxRows + 1)
	in, second := named("in"), named("second")
	a.create(in)
	a.link(a.create(ref), "c", in, true)
	for _, other := range others {
		a.link(a.open(other), "c", in, true)
	}
	a.link(a.create(second), "c", in, false)
	if known() {
		t.Fatal("parents are known before anybody has looked for them")
	}
	to := named("to")
	b.open(in)
	if err := b.s.Rename(in.Path(), to.Path()); err != nil {
		t.Fatal(err)
	}
	for _, parent := range append(others, ref, second) {
		a.linked(parent, "c", to)
	}
	if !known() {
		t.Error("parents are not known after a host has looked for them")
	}
	late := named("late")
	a.create(late)
	a.link(a.open(to), "c", late, false)
	c.open(late)
	if err := c.s.Rename(late.Path(), in.Path()); err != nil {
		t.Fatal(err)
	}
	a.linked(to, "c", in)
}

// A session that is published with its children is a parent in the cluster, too.
func TestAPublishedParentIsNoted(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict)
	in := named("in")
	a.create(in)
	x := a.create(ref)
	a.link(x, "c", in, false)
	if err := a.Withdraw(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if err := a.Publish(t.Context(), a.open(ref)); err != nil {
		t.Fatal(err)
	}
	b.open(in)
	to := named("to")
	if err := b.s.Rename(in.Path(), to.Path()); err != nil {
		t.Fatal(err)
	}
	a.linked(ref, "c", to)
	b.linked(ref, "c", to)
}

// A link that another host had made within the last second was not followed by a rename on a host that had looked at the
// parent just before.
func TestALinkThatWasJustMadeIsFollowed(t *testing.T) {
	r := newRig(t)
	fresh := func(s *Setup) { s.Freshness = time.Hour }
	a, b := r.mount("a", t.TempDir(), fresh), r.mount("b", t.TempDir(), fresh)
	x, in := a.create(ref), named("in")
	a.create(in)
	a.link(x, "first", in, false)
	b.open(in)
	to, then := named("to"), named("then")
	if err := b.s.Rename(in.Path(), to.Path()); err != nil {
		t.Fatal(err)
	}
	a.link(x, "second", to, false)
	other := named("other")
	a.link(a.create(other), "third", to, false)
	if err := b.s.Rename(to.Path(), then.Path()); err != nil {
		t.Fatal(err)
	}
	for parent, child := range map[ctxabi.Ref]string{ref: "second", other: "third"} {
		a.linked(parent, child, then)
	}
}

// What a session had said last on another host was lost to its parent when a host removed it that had looked at it just before.
func TestARemovalKeepsWhatWasSaidLast(t *testing.T) {
	r := newRig(t)
	fresh := func(s *Setup) { s.Freshness = time.Hour }
	a, b := r.mount("a", t.TempDir(), fresh), r.mount("b", t.TempDir(), fresh)
	x, in := a.create(ref), named("in")
	work := a.create(in)
	a.link(x, "c", in, false)
	say := func(text string) {
		if _, err := work.Messages().Append(t.Context(), log.Batch{Data: fmt.Appendf(nil, `{"role":"assistant","content":%q}`+"\n", text)}); err != nil {
			t.Fatal(err)
		}
	}
	say("a guess")
	b.enter()
	y, err := b.s.Session(in)
	if err == nil {
		err = b.Glance(t.Context(), y)
	}
	if err != nil {
		t.Fatal(err)
	}
	say("the answer")
	if err := b.s.Remove(in); err != nil {
		t.Fatal(err)
	}
	within(t, "a", func() string {
		if data, _, _, err := a.open(ref).ChildFile("c", ctxabi.ChildResult); err != nil || string(data) != "the answer\n" {
			return fmt.Sprintf("the result is %q, %v", data, err)
		}
		return ""
	})
}

// A link kept the dead name of its session where one host renamed that and another one the parent at the same time.
func TestALinkIsFollowedWhileItsParentIsRenamed(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict)
	parent, in := ref, named("in")
	a.create(in)
	a.link(a.create(parent), "c", in, false)
	b.open(parent)
	b.open(in)
	for i := range 20 {
		to, then := named(fmt.Sprint("parent", i)), named(fmt.Sprint("in", i))
		var both sync.WaitGroup
		var one, other error
		both.Go(func() { one = a.s.Rename(parent.Path(), to.Path()) })
		both.Go(func() { other = b.s.Rename(in.Path(), then.Path()) })
		both.Wait()
		if one != nil || other != nil {
			t.Fatal(one, other)
		}
		parent, in = to, then
		for _, m := range []*mounted{a, b} {
			m.enter()
			m.linked(parent, "c", in)
		}
		if t.Failed() {
			return
		}
	}
}

// A fork on a host that had read nothing of a session was empty, and nobody was told.
func TestAForkOfASessionThatWasNotReadHasAllOfIt(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir()), r.mount("b", t.TempDir())
	x := a.create(ref)
	if err := appendTo(x, "one"); err != nil {
		t.Fatal(err)
	}
	b.enter()
	y, err := b.s.Session(ref)
	if err != nil {
		t.Fatal(err)
	}
	fork, _, err := b.s.Fork(y, -1, named("fork"), owner)
	if err != nil || !strings.Contains(content(t, fork, ctxabi.MessagesFile), "one") {
		t.Errorf("the fork has %q, %v", content(t, fork, ctxabi.MessagesFile), err)
	}
}
