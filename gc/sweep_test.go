package gc

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// sweepNow sweeps the only session of a store and says what came of it.
func sweepNow(t *testing.T, c *Collector, s *fakeStore) (removed, waiting, kept string) {
	t.Helper()
	r, err := c.Sweep(context.Background(), s.refs[0])
	if err != nil {
		t.Fatal(err)
	}
	paths := func(g Group) string {
		var list []string
		for _, row := range g.Rows {
			list = append(list, row.Path)
		}
		return strings.Join(list, " ")
	}
	return paths(r.Removed), paths(r.Waiting), paths(r.Kept)
}

func TestNothingGoesAtFirstSight(t *testing.T) {
	s := newFakeStore(1)
	x := s.sessions[s.refs[0]]
	x.items = []Item{{Kind: Cache, Path: "old", Used: s.now.Add(-40 * day)}}
	c := New(s, Options{Grace: time.Minute})
	if r, err := c.Plan(context.Background(), s.refs[0]); err != nil || r.Waiting.Count != 1 || len(x.items) != 1 {
		t.Fatalf("a plan: %+v, %v", r, err)
	}
	before := string(x.report)
	if r, err := c.Preview(context.Background(), s.refs[0]); err != nil || r.Run != RunPlan || r.Waiting.Count != 1 || len(x.items) != 1 || string(x.report) != before {
		t.Fatalf("a preview: %+v, %v", r, err)
	}
	s.now = s.now.Add(2 * time.Minute)
	expect := func(what, removed, waiting, kept string) {
		t.Helper()
		if r, w, k := sweepNow(t, c, s); r != removed || w != waiting || k != kept {
			t.Fatalf("%s: %q gone, %q waiting, %q kept", what, r, w, k)
		}
	}
	expect("a plan marks nothing", "", "old", "")
	s.now = s.now.Add(time.Minute - 1)
	expect("before the grace is over", "", "old", "")
	x.items[0].Used = s.now
	expect("while it is used", "", "", "old")
	x.items[0].Used = s.now.Add(-40 * day)
	s.now = s.now.Add(1)
	expect("its mark went when it was used", "", "old", "")
	s.now = s.now.Add(time.Minute)
	x.meddle = func() { x.items[0].Used = s.now }
	expect("it is used between the plan and the last look", "", "", "old")
	x.meddle, x.items[0].Used = nil, s.now.Add(-40*day)
	expect("it begins anew", "", "old", "")
	s.now = s.now.Add(time.Minute)
	expect("after the grace", "old", "", "")
	if n := c.Totals(); n.Removed != 1 || n.Runs != 7 || n.LastUnix() != s.now.Unix() {
		t.Errorf("%+v", n)
	}
}

// Rows that came to be candidates later wait for a grace of their own.
func TestYoungerRowsWaitLonger(t *testing.T) {
	s := newFakeStore(1)
	x := s.sessions[s.refs[0]]
	x.packs = []Pack{{"a", s.now.Add(-day - time.Minute)}, {"b", s.now.Add(-day + time.Second)}}
	c := New(s, Options{Grace: time.Minute})
	for i, want := range []int{2, 1, 0} {
		if _, err := c.Sweep(context.Background(), s.refs[0]); err != nil {
			t.Fatal(err)
		}
		if len(x.packs) != want {
			t.Fatalf("after sweep %d %d rows are left, want %d", i+1, len(x.packs), want)
		}
		s.now = s.now.Add(time.Minute)
	}
}

func TestWhatCannotBeRemovedIsToldAndTriedAgain(t *testing.T) {
	s := newFakeStore(1)
	x := s.sessions[s.refs[0]]
	x.items = []Item{{Kind: Cache, Path: "old", Size: 7, Used: s.now.Add(-40 * day)}}
	x.fails = errors.New("the disk is on fire")
	c := New(s, Options{})
	r, err := c.Sweep(context.Background(), s.refs[0])
	if err != nil || r.Failed.Count != 1 || !strings.Contains(string(x.report), "failed\tcache\t7\told\tthe disk is on fire\n") {
		t.Fatalf("%v\n%s", err, x.report)
	}
	x.fails = nil
	if r, err := c.Sweep(context.Background(), s.refs[0]); err != nil || r.Removed.Bytes != 7 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// An idle session is not opened before something about it changes, or its time has come.
func TestARoundLeavesIdleSessionsAlone(t *testing.T) {
	s := newFakeStore(3)
	idle, used, young := s.sessions[s.refs[0]], s.sessions[s.refs[1]], s.sessions[s.refs[2]]
	used.items = []Item{{Kind: Cache, Path: "old", Used: s.now.Add(-40 * day)}}
	young.items = []Item{{Kind: Cache, Path: "new", Used: s.now.Add(-29 * day)}}
	c := New(s, Options{})
	round := func(what string, swept int) {
		t.Helper()
		s.opened, s.looks = 0, 0
		if n, err := c.Round(context.Background()); err != nil || n != swept || s.opened != swept {
			t.Fatalf("%s: %d were swept, %d opened (%v), want %d", what, n, s.opened, err, swept)
		}
	}
	round("the first", 2)
	if len(used.items) != 0 {
		t.Fatal("what is old is still there")
	}
	used.items = []Item{{Kind: Cache, Path: "next", Used: s.now}} // as the loop would find it: the last sweep left another stamp
	round("something came", 1)
	round("nothing happened", 0)
	if s.looks != 0 {
		t.Errorf("%d looks in full while nothing happened", s.looks)
	}
	idle.policy.PackTTL = time.Hour
	young.policy.SwapTTL = 20 * day
	round("two policies changed, one of a session that has nothing", 1)
	if len(young.items) != 0 {
		t.Fatal("the policy changed, and nothing went")
	}
	young.policy.SwapTTL = 30 * day
	s.now = s.now.Add(29 * day)
	used.policy.PackTTL, young.policy.PackTTL = 0, 0
	round("the policy of one that has something changed", 1)
	s.now = s.now.Add(day)
	round("its time has come", 1)
	if len(used.items) != 0 {
		t.Fatal("what is old is still there")
	}
	s.refs = s.refs[:1]
	delete(s.sessions, ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s2"})
	round("one was removed", 0)
	if len(c.states) != 1 {
		t.Errorf("%d sessions are remembered", len(c.states))
	}
}

func TestTheRestOfTheStore(t *testing.T) {
	s := newFakeStore(0)
	s.tmp = []Item{{Kind: Tmp, Path: "tmp/a", Size: 3, Used: s.now.Add(-day - 1)}, {Kind: Tmp, Path: "tmp/b", Used: s.now.Add(-day)}}
	c := New(s, Options{})
	if _, err := c.Round(context.Background()); err != nil || len(s.tmp) != 1 || s.tmp[0].Path != "tmp/b" || c.Totals().Freed != 3 {
		t.Errorf("%v left, %+v, %v", s.tmp, c.Totals(), err)
	}
}

// One round does not sweep more than it may, and those that wait come first in the next.
func TestARoundIsBounded(t *testing.T) {
	s := newFakeStore(maxSwept + 5)
	for _, x := range s.sessions {
		x.policy.SwapTTL = 1
		x.items = []Item{{Kind: Cache, Path: "old", Why: "it is needed", Used: s.now.Add(-day)}}
	}
	c := New(s, Options{})
	seen := map[string]bool{}
	for range 2 {
		if n, err := c.Round(context.Background()); err != nil || n != maxSwept {
			t.Fatalf("%d, %v", n, err)
		}
		s.now = s.now.Add(time.Second)
	}
	for ref, st := range c.states {
		if !st.due.IsZero() {
			seen[ref.Session] = true
		}
	}
	if len(seen) != maxSwept+5 {
		t.Errorf("after two rounds %d of %d sessions were swept", len(seen), maxSwept+5)
	}
}

// A policy that changes while its session is swept is heeded by the next round, and not when the
// old one would have asked again.
func TestAPolicyThatChangesDuringASweepIsSeen(t *testing.T) {
	s := newFakeStore(1)
	x := s.sessions[s.refs[0]]
	x.items = []Item{{Kind: Cache, Path: "old", Used: s.now.Add(-40 * day)}, {Kind: Cache, Path: "young", Used: s.now.Add(-2 * day)}}
	c := New(s, Options{})
	x.meddle = func() { x.policy.SwapTTL = day }
	round := func() {
		if _, err := c.Round(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	x.meddle = nil
	if round(); len(x.items) != 0 {
		t.Errorf("left after the next round: %v", x.items)
	}
}

// A session whose policy could not be read would have been left alone for as long as one that lets
// nothing go.
func TestAPolicyThatCouldNotBeReadIsAskedForAgainSoon(t *testing.T) {
	s := newFakeStore(1)
	x := s.sessions[s.refs[0]]
	x.items = []Item{{Kind: Cache, Path: "old", Used: s.now.Add(-40 * day)}}
	x.unread = true
	c := New(s, Options{})
	round := func() {
		if _, err := c.Round(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if round(); len(x.items) != 1 {
		t.Error("it went while nobody knew the policy")
	}
	x.unread = false
	s.now = s.now.Add(recheck)
	if round(); len(x.items) != 0 {
		t.Errorf("left after the next round: %v", x.items)
	}
}
