package gc

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// fakeStore is a store in memory whose clock a test moves.
type fakeStore struct {
	now      time.Time
	refs     []ctxabi.Ref
	sessions map[ctxabi.Ref]*fakeSession
	looks    int // looks in full
	opened   int // sessions that were asked for
	tmp      []Item
}

func newFakeStore(n int) *fakeStore {
	s := &fakeStore{now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), sessions: map[ctxabi.Ref]*fakeSession{}}
	for i := range n {
		ref := ctxabi.Ref{UID: 1000, Agent: "coder", Session: fmt.Sprintf("s%d", i+1)}
		s.refs = append(s.refs, ref)
		s.sessions[ref] = &fakeSession{store: s, policy: ctxabi.DefaultPolicy(), open: map[string]int{}}
	}
	return s
}

func (s *fakeStore) Now() time.Time                 { return s.now }
func (s *fakeStore) Sessions() iter.Seq[ctxabi.Ref] { return slices.Values(s.refs) }

func (s *fakeStore) Glance(ref ctxabi.Ref, was string) (Glance, error) {
	x := s.sessions[ref]
	if x == nil {
		return Glance{}, ctxabi.ErrNotFound
	}
	stamp := fmt.Sprint(x.policy, len(x.items) > 0)
	if stamp == was {
		return Glance{Stamp: stamp}, nil
	}
	s.looks++
	return Glance{Stamp: stamp, Derived: len(x.items)+len(x.packs) > 0}, nil
}

func (s *fakeStore) Session(ref ctxabi.Ref) (Session, error) {
	s.opened++
	if x := s.sessions[ref]; x != nil {
		return x, nil
	}
	return nil, ctxabi.ErrNotFound
}

func (s *fakeStore) Tmp(before time.Time) (old []Item) {
	for _, it := range s.tmp {
		if it.Used.Before(before) {
			old = append(old, it)
		}
	}
	return old
}

func (s *fakeStore) RemoveTmp(it Item) (int64, error) {
	s.tmp = slices.DeleteFunc(s.tmp, func(other Item) bool { return other == it })
	return it.Size, nil
}

// fakeSession is a session of it.
type fakeSession struct {
	store   *fakeStore
	policy  ctxabi.Policy
	packs   []Pack
	items   []Item
	names   map[string]Named
	open    map[string]int
	parents []string
	meddle  func() // runs between the plan and the last look
	fails   error
	report  []byte
	unread  bool // the disk does not give the policy
}

func (x *fakeSession) Policy() ctxabi.Policy {
	if x.unread {
		return ctxabi.KeepPolicy()
	}
	return x.policy
}
func (x *fakeSession) Packs() ([]Pack, error)                        { return slices.Clone(x.packs), nil }
func (x *fakeSession) PackBytes(before time.Time) int64              { return 100 }
func (x *fakeSession) Items(ctx context.Context) ([]Item, error)     { return slices.Clone(x.items), nil }
func (x *fakeSession) Open(path string) int                          { return x.open[path] }
func (x *fakeSession) Parents(ctx context.Context) ([]string, error) { return x.parents, nil }
func (x *fakeSession) SetReport(text []byte) error                   { x.report = text; return nil }
func (x *fakeSession) Names(_ context.Context, ids []string) (map[string]Named, error) {
	return x.names, nil
}

func (x *fakeSession) DropPacks(before time.Time) (rows int, freed int64, err error) {
	for len(x.packs) > 0 && x.packs[0].At.Before(before) {
		x.packs = x.packs[1:]
		rows++
	}
	return rows, 100, nil
}

func (x *fakeSession) Remove(ctx context.Context, it Item, confirm func(Item) (bool, error)) (int64, bool, error) {
	if x.meddle != nil {
		x.meddle()
	}
	i := slices.IndexFunc(x.items, func(other Item) bool { return other.Path == it.Path })
	if i < 0 {
		return 0, false, nil
	}
	if ok, err := confirm(x.items[i]); !ok || err != nil || x.fails != nil {
		return 0, false, firstOf(err, x.fails)
	}
	x.items = slices.Delete(x.items, i, i+1)
	return it.Size, true, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
