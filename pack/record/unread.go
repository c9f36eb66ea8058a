package record

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

// Unread are the records of a session that somebody found unreadable, until one can be read again.
type Unread struct {
	Count atomic.Uint64 // how often one was

	mu    sync.Mutex
	lines map[Address]bool
}

// Note notes whether a record could not be read.
func (u *Unread) Note(a Address, bad bool) {
	if bad {
		u.Count.Add(1)
	} else if u.Count.Load() == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case !bad:
		delete(u.lines, a)
	case u.lines == nil:
		u.lines = map[Address]bool{a: true}
	default:
		u.lines[a] = true
	}
}

// Has reports whether a record is one of them.
func (u *Unread) Has(a Address) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.lines[a]
}

// unreadOf returns what was found unreadable in a history; nil of one that is in no store.
func unreadOf(m Records) *Unread {
	if r, ok := MessagesOf(m).(interface{ Unread() *Unread }); ok {
		return r.Unread()
	}
	return nil
}

// IsUnread reports whether the record at a place was not read, when it was last tried.
func IsUnread(m Records, at int) bool {
	u := unreadOf(m)
	return u != nil && u.Has(AddressOf(m, at))
}

// UnreadSoFar counts stand-ins that were given: what was read between two equal counts was read whole.
func UnreadSoFar(m Records) uint64 {
	if u := unreadOf(m); u != nil {
		return u.Count.Load()
	}
	return 0
}

// UnreadNote returns a line that names the records which could not be read; "" when all could.
func UnreadNote(m Records) string {
	u := unreadOf(m)
	if u == nil || u.Count.Load() == 0 {
		return ""
	}
	u.mu.Lock()
	list := make([]Address, 0, len(u.lines))
	for a := range u.lines {
		list = append(list, a)
	}
	u.mu.Unlock()
	slices.SortFunc(list, func(a, b Address) int {
		if a.Event != b.Event {
			return strings.Compare(b.Log(), a.Log()) // messages first
		}
		return cmp.Compare(a.Line, b.Line)
	})
	var runs []string
	for i := 0; i < len(list); {
		k := i + 1
		for k < len(list) && list[k] == (Address{list[k-1].Line + 1, list[i].Event}) {
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
