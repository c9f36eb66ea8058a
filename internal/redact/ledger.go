package redact

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Log is one log of a session: records that never change, numbered from 1.
type Log interface {
	Record(line int) ([]byte, error)
}

// History is both logs of a session, and their order.
type History struct {
	Messages, Events Log
	// Before returns how many records of the other log had arrived before a record.
	Before func(event bool, line int) int
	// Damaged reports whether a record can be passed over because of an error; nil: none can.
	Damaged func(error) bool
}

func (h *History) log(s int) Log {
	if s == events {
		return h.Events
	}
	return h.Messages
}

// Ledger knows which record of a session first told which secret. A record is redacted by what it says, by what the records in
// front of it in its own log told, and by what those of the other log did that had arrived before it: so
// it looks the same whatever comes later. It is safe for concurrent use.
type Ledger struct {
	r *Redactor

	mu      sync.Mutex
	scanned [2]int              // records of messages and of events that were gone through
	changed [2]map[int][]string // the rules that found something, by record
	missed  [2]map[int]bool     // records that could not be read
	told    map[string]*teller  // by value
	order   []string            // of the values, longest first
}

// The sides of a Ledger.
const (
	messages = iota
	events
)

// teller is who told a value first.
type teller struct {
	first [2]int // the line in messages and in events; 0: none
	rule  string
}

// carried is a value that is a secret wherever it stands.
type carried struct{ value, rule string }

// Known are values that are secrets wherever they stand.
type Known []carried

// NewLedger returns the ledger of a session of which nothing was seen yet.
func (r *Redactor) NewLedger() *Ledger {
	return &Ledger{r: r, changed: [2]map[int][]string{{}, {}}, missed: [2]map[int]bool{{}, {}}, told: map[string]*teller{}}
}

// Learning collects what records tell, where their order does not matter: everything is known everywhere.
type Learning struct {
	l *Ledger
	n int
}

// Learning returns one that knows nothing yet.
func (r *Redactor) Learning() *Learning { return &Learning{l: r.NewLedger()} }

// Add reads one record.
func (x *Learning) Add(raw []byte) {
	x.n++
	h := History{Before: func(bool, int) int { return 0 }}
	x.l.learn(&h, messages, x.n, raw)
}

// Known returns the values that the records told.
func (x *Learning) Known() Known { return x.l.toldBy([2]int{x.n, 0}) }

// maxLedgers is how many sessions a Redactor remembers; of others the history is gone through again.
const maxLedgers = 1024

// Ledger returns the ledger of the session that is called so, for all who ask.
func (r *Redactor) Ledger(session string) *Ledger {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.ledgers[session]
	if l == nil {
		if len(r.ledgers) >= maxLedgers || r.ledgers == nil {
			r.ledgers = map[string]*Ledger{}
		}
		l = r.NewLedger()
		r.ledgers[session] = l
	}
	return l
}

func side(event bool) int {
	if event {
		return events
	}
	return messages
}

// Record returns a record without its secrets; raw itself where it has none. raw is what h has there.
// It returns the error of h, for a record before it as well.
func (l *Ledger) Record(h History, event bool, line int, raw []byte) ([]byte, error) {
	s := side(event)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.scan(&h, s, line); err != nil {
		return nil, err
	}
	if len(l.changed[s][line]) == 0 && !l.missed[s][line] {
		return raw, nil
	}
	out, _ := l.r.document(raw, l.known(&h, s, line), 0)
	return out, nil
}

// Changes reports whether a record holds secrets. It returns the error of h.
func (l *Ledger) Changes(h History, event bool, line int) (bool, error) {
	s := side(event)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.scan(&h, s, line); err != nil {
		return false, err
	}
	return len(l.changed[s][line]) > 0 || l.missed[s][line], nil
}

// Known returns the values that the first records of both logs told, for files that stand beside them.
// It returns the error of h.
func (l *Ledger) Known(h History, upTo [2]int) (Known, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range upTo {
		if err := l.scan(&h, s, upTo[s]); err != nil {
			return nil, err
		}
	}
	return l.toldBy(upTo), nil
}

// Count is how often a rule found something in a log.
type Count struct {
	Rule    string
	Secrets int
	Records []Address // in order, messages first
}

// Address names a record.
type Address struct {
	Event bool
	Line  int
}

// Counts returns what was found in the first records of both logs, by rule, sorted. They must have been gone through.
func (l *Ledger) Counts(upTo [2]int) (list []Count) {
	l.mu.Lock()
	defer l.mu.Unlock()
	by := map[string]*Count{}
	for s := range l.changed {
		for _, line := range slices.Sorted(maps.Keys(l.changed[s])) {
			for _, rule := range l.changed[s][line] {
				c := by[rule]
				if c == nil {
					c = &Count{Rule: rule}
					by[rule] = c
				}
				if line > upTo[s] {
					continue
				}
				c.Secrets++
				if at := (Address{s == events, line}); len(c.Records) == 0 || c.Records[len(c.Records)-1] != at {
					c.Records = append(c.Records, at)
				}
			}
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(by)) {
		if by[rule].Secrets > 0 {
			list = append(list, *by[rule])
		}
	}
	return list
}

// known returns the values that are secrets in a record, longest first; l.mu is held.
func (l *Ledger) known(h *History, s, line int) Known {
	upTo := [2]int{}
	upTo[s], upTo[1-s] = line, h.Before(s == events, line)
	return l.toldBy(upTo)
}

func (l *Ledger) toldBy(upTo [2]int) (list Known) {
	for _, v := range l.order {
		t := l.told[v]
		if t.first[0] > 0 && t.first[0] <= upTo[0] || t.first[1] > 0 && t.first[1] <= upTo[1] {
			list = append(list, carried{v, t.rule})
		}
	}
	return list
}

// scan goes through the records of a log up to one, and through those of the other log that had arrived before; l.mu is held.
func (l *Ledger) scan(h *History, s, upTo int) error {
	for l.scanned[s] < upTo {
		line := l.scanned[s] + 1
		if before := h.Before(s == events, line); before > l.scanned[1-s] {
			if err := l.scan(h, 1-s, before); err != nil {
				return err
			}
		}
		raw, err := h.log(s).Record(line)
		switch {
		case err == nil:
			l.learn(h, s, line, raw)
		case h.Damaged != nil && h.Damaged(err):
			l.missed[s][line] = true
		default:
			return err
		}
		l.scanned[s] = line
	}
	return nil
}

// learn notes what one record tells.
func (l *Ledger) learn(h *History, s, line int, raw []byte) {
	out, found := l.r.document(raw, l.known(h, s, line), 0)
	if len(found) == 0 {
		return
	}
	for {
		before := len(l.order)
		for _, f := range found {
			if f.carry {
				l.tell(strings.Trim(f.Secret, "\"'`\\"), f.Rule, s, line)
			}
		}
		if len(l.order) == before {
			break
		}
		var more []Found // what the record says elsewhere of what it just told
		if out, more = l.r.document(out, l.known(h, s, line), 0); len(more) == 0 {
			break
		}
		found = append(found, more...)
	}
	for _, f := range found {
		l.changed[s][line] = append(l.changed[s][line], f.Rule)
	}
}

func (l *Ledger) tell(value, rule string, s, line int) {
	if !isCarried(value) || l.r.allow.allows(value) {
		return
	}
	t := l.told[value]
	if t == nil {
		t = &teller{rule: rule}
		l.told[value] = t
		at, _ := slices.BinarySearchFunc(l.order, value, func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
		l.order = slices.Insert(l.order, at, value)
	}
	if t.first[s] == 0 {
		t.first[s] = line
	}
}
