package runner

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// How many commands run at once: of all, and of one user, whose hanging
// commands must not keep the others' from running.
const (
	maxRuns       = 64
	maxRunsOfUser = 6 // four that readers wait for, and two that nobody does
)

// turns decides who may run a command now. Who comes first runs first.
type turns struct {
	all *semaphore.Weighted

	mu    sync.Mutex
	users map[uint32]*share // guarded by mu
}

// share is one user's part of the turns.
type share struct {
	places *semaphore.Weighted
	in     int // commands that run or wait
}

func (t *turns) init() {
	t.all, t.users = semaphore.NewWeighted(maxRuns), make(map[uint32]*share)
}

// take waits for a turn of the user; leave gives it back. It is false when ctx ends before.
func (t *turns) take(ctx context.Context, uid uint32) (leave func(), ok bool) {
	t.mu.Lock()
	s := t.users[uid]
	if s == nil {
		s = &share{places: semaphore.NewWeighted(maxRunsOfUser)}
		t.users[uid] = s
	}
	s.in++
	t.mu.Unlock()
	out := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if s.in--; s.in == 0 {
			delete(t.users, uid)
		}
	}
	if s.places.Acquire(ctx, 1) != nil {
		out()
		return nil, false
	}
	if t.all.Acquire(ctx, 1) != nil {
		s.places.Release(1)
		out()
		return nil, false
	}
	return func() {
		t.all.Release(1)
		s.places.Release(1)
		out()
	}, true
}
