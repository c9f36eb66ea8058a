package node

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
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
