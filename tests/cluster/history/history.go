package history

import (
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// History is what clients did and saw. It is safe for concurrent use.
type History struct {
	begin time.Time

	mu        sync.Mutex // guards all below
	lists     map[string]*list
	registers map[string]*register
	file      *os.File // nil: nothing is kept
	broken    error    // of the file
}

// New returns an empty history that is kept in memory alone.
func New() *History {
	return &History{begin: time.Now(), lists: map[string]*list{}, registers: map[string]*register{}}
}

// Now returns the present moment.
func (h *History) Now() time.Duration { return time.Since(h.begin) }

// List is the history of one log.
type List struct {
	h    *History
	name string
	l    *list
}

// List returns the history of the log with a name.
func (h *History) List(name string) *List {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &List{h, name, h.list(name)}
}

func (h *History) list(name string) *list {
	if h.lists[name] == nil {
		h.lists[name] = &list{finals: map[string][]string{}}
	}
	return h.lists[name]
}

// Wrote notes a write. IDs are not used twice.
func (l *List) Wrote(w Write) { l.h.note(line{List: l.name, Write: &w}) }

// Read notes what a host showed.
func (l *List) Read(r Look) { l.h.note(line{List: l.name, Look: &r}) }

// Final notes the keys of all records that a host has at the end.
func (l *List) Final(host string, keys []string) {
	l.h.note(line{List: l.name, Host: host, Keys: keys, Final: true})
}

// Register is the history of one setting.
type Register struct {
	h    *History
	name string
}

// Register returns the history of the setting with a name.
func (h *History) Register(name string) *Register {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.register(name)
	return &Register{h, name}
}

func (h *History) register(name string) *register {
	if h.registers[name] == nil {
		h.registers[name] = &register{finals: map[string]string{}}
	}
	return h.registers[name]
}

// Wrote notes a write, whose ID is the value. No value is written twice.
func (r *Register) Wrote(w Write) { r.h.note(line{Register: r.name, Write: &w}) }

// Read notes the value that a host showed.
func (r *Register) Read(s Sight) { r.h.note(line{Register: r.name, Sight: &s}) }

// Final notes the value that a host has at the end.
func (r *Register) Final(host, id string) {
	r.h.note(line{Register: r.name, Host: host, ID: id, Final: true})
}

// Counts is how many writes, and records of them, there were.
type Counts struct {
	Writes, Records, Stored, Refused, Unknown int
	Looks                                     int
}

// Counts returns how many writes to lists, and to registers, there were so far. Stored, Refused and Unknown
// are records.
func (h *History) Counts() (lists, registers Counts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.lists {
		lists.add(l.writes)
		lists.Looks += len(l.looks)
	}
	for _, r := range h.registers {
		registers.add(r.writes)
		registers.Looks += len(r.sights)
	}
	return lists, registers
}

func (c *Counts) add(writes []Write) {
	for i := range writes {
		w := &writes[i]
		n := w.parts()
		c.Writes, c.Records = c.Writes+1, c.Records+n
		switch w.Result {
		case Stored:
			c.Stored += n
		case Refused:
			c.Refused += n
		default:
			c.Unknown += n
		}
	}
}

// Check returns all that is wrong. It is called when all calls have ended.
func (h *History) Check() (all []Problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(h.lists)) {
		all = append(all, h.lists[name].check(name)...)
	}
	for _, name := range slices.Sorted(maps.Keys(h.registers)) {
		all = append(all, h.registers[name].check(name)...)
	}
	return all
}
