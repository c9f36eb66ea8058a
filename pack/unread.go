package pack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A record that cannot be read because what is stored of it is damaged costs a pack no more than its own words: a short text
// stands in its place, under the role that the index knows.

// unread are the records of a session that somebody found unreadable, until one can be read again.
type unread struct {
	met atomic.Uint64 // how often one was

	mu    sync.Mutex
	lines map[address]bool
}

// note notes whether a record could not be read.
func (u *unread) note(a address, bad bool) {
	if bad {
		u.met.Add(1)
	} else if u.met.Load() == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case !bad:
		delete(u.lines, a)
	case u.lines == nil:
		u.lines = map[address]bool{a: true}
	default:
		u.lines[a] = true
	}
}

// has says whether a record is one of them.
func (u *unread) has(a address) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.lines[a]
}

// unreadOf gives what was found unreadable in a history; nil of one that is in no store.
func unreadOf(m Records) *unread {
	if r, ok := logOfPlaces(m).(interface{ Unread() *unread }); ok {
		return r.Unread()
	}
	return nil
}

// isUnread says whether the record at a place was not read, when it was last tried.
func isUnread(m Records, at int) bool {
	u := unreadOf(m)
	return u != nil && u.has(addressOf(m, at))
}

// unreadSoFar counts stand-ins that were given: what was read between two equal counts was read whole.
func unreadSoFar(m Records) uint64 {
	if u := unreadOf(m); u != nil {
		return u.met.Load()
	}
	return 0
}

// unreadNote says in one line which records could not be read; "" when all could.
func unreadNote(m Records) string {
	u := unreadOf(m)
	if u == nil || u.met.Load() == 0 {
		return ""
	}
	u.mu.Lock()
	list := make([]address, 0, len(u.lines))
	for a := range u.lines {
		list = append(list, a)
	}
	u.mu.Unlock()
	slices.SortFunc(list, func(a, b address) int {
		if a.event != b.event {
			return strings.Compare(b.log(), a.log()) // messages first
		}
		return cmp.Compare(a.n, b.n)
	})
	var runs []string
	for i := 0; i < len(list); {
		k := i + 1
		for k < len(list) && list[k] == (address{list[k-1].n + 1, list[i].event}) {
			k++
		}
		run := list[i].String()
		if k-i > 1 {
			run += " to " + list[k-1].String()
		}
		runs, i = append(runs, run), k
	}
	if len(runs) == 0 {
		return ""
	}
	return fmt.Sprintf("records that cannot be read, since what is stored of them is damaged: %s", strings.Join(runs, ", "))
}
