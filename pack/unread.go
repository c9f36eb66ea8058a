package pack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/redact"
	"github.com/ctxfs/ctxfs/session"
)

// A record that cannot be read because what is stored of it is damaged costs a pack no more than its own words: a short text
// stands in its place, under the role that the index knows.

// unread are the records of a session that somebody found unreadable, until one can be read again.
type unread struct {
	met atomic.Uint64 // how often one was

	mu    sync.Mutex
	lines map[address]bool
}

// readable gives a snapshot of a log of which records may be damaged.
func (u *unread) readable(ix *session.Index, event bool) Records {
	return &readable{Index: ix, event: event, unread: u}
}

// readable is a log in which a stand-in takes the place of each record that cannot be read.
type readable struct {
	*session.Index
	event  bool
	unread *unread

	veil    *veil // nil: records are shown as they are stored
	history redact.History
}

// At gives what the index says of a record.
func (r *readable) At(line int) ctxabi.Entry {
	e := r.Index.At(line)
	if r.veil == nil {
		return e
	}
	return r.veil.entryOf(r, address{line, r.event}, e)
}

// Record gives a record, or what stands in for one that is damaged.
func (r *readable) Record(line int) ([]byte, error) {
	raw, err := r.Index.Record(line)
	a := address{line, r.event}
	if err != nil {
		if !session.IsDamage(err) {
			return nil, err
		}
		r.unread.note(a, true)
		return standIn(a, r.Index.At(line)), nil
	}
	r.unread.note(a, false)
	if r.veil != nil {
		return r.veil.record(r.history, a, raw)
	}
	return raw, nil
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

// standIn is a record of the form of the one at a, which cannot be read.
func standIn(a address, e ctxabi.Entry) []byte {
	text := fmt.Sprintf("[record %s cannot be read: what is stored of it is damaged]", a)
	record := map[string]string{"role": e.Role.String(), "content": text}
	switch {
	case e.Role == ctxabi.RoleUnknown:
		return []byte(text)
	case e.Role == ctxabi.Event:
		record = map[string]string{"type": eventResultType, "output": text}
		if e.Flags&ctxabi.HasCalls != 0 {
			record = map[string]string{"type": eventCallType, "arguments": text}
		}
	}
	raw, _ := json.Marshal(record) // strings alone
	return raw
}

// unreadOf gives what was found unreadable in a history; nil of one that is in no store.
func unreadOf(m Records) *unread {
	if r, ok := logOfPlaces(m).(*readable); ok {
		return r.unread
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
