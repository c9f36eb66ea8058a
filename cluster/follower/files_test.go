package follower

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/shared"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// memoryDisk is the copy of one session on a host. It outlives the process of the host.
type memoryDisk struct {
	mu      sync.Mutex
	session string // id in hex, the start of the chains of its logs
	created time.Time
	full    bool
	handle  int // of the process that may use the disk
	mark    Mark
	entries []shared.Opened
	chains  []shared.Hash  // before each entry, and after the last one
	counts  map[string]int // of records by their ids
	aside   int
	dropped bool

	applied func(*shared.Opened, Mark) // after each entry
}

// memoryFiles is the access of one process to a memoryDisk.
type memoryFiles struct {
	*memoryDisk
	own int
}

var errDisk = errors.New("no space left on the disk")

// open gives the disk to a new process; the one before it can change nothing any more.
func (d *memoryDisk) open() *memoryFiles {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handle++
	return &memoryFiles{d, d.handle}
}

// usable locks the disk if the process may write.
func (f *memoryFiles) usable() error {
	f.mu.Lock()
	if f.full || f.own != f.handle {
		f.mu.Unlock()
		return errDisk
	}
	return nil
}

func (f *memoryFiles) Load() (Mark, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mark, nil
}

func (f *memoryFiles) Seeds() [2]arrival.Hash {
	return [2]arrival.Hash{arrival.ChainSeed(f.session, "messages"), arrival.ChainSeed(f.session, "events")}
}

func (f *memoryFiles) Apply(e *shared.Opened, after Mark) error {
	if err := f.usable(); err != nil {
		return err
	}

	if len(f.chains) == 0 {
		f.chains = append(f.chains, shared.Hash{})
	}
	for _, id := range recordsOf([]shared.Opened{*e}) {
		if f.counts == nil {
			f.counts = map[string]int{}
		}
		f.counts[id]++
	}
	f.entries, f.chains, f.mark = append(f.entries, *e), append(f.chains, after.Chain), after
	f.mu.Unlock()
	if f.applied != nil {
		f.applied(e, after)
	}
	return nil
}

func (f *memoryFiles) Note(m Mark) error {
	if err := f.usable(); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.mark = m
	return nil
}

func (f *memoryFiles) ChainAt(i uint64) (shared.Hash, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i == 0 || i >= uint64(len(f.chains)) {
		return shared.Hash{}, false
	}
	return f.chains[i], true
}

func (f *memoryFiles) RecordsFrom(i uint64) (list []Request, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.entries[min(i, uint64(len(f.entries))):] {
		for _, row := range e.Rows {
			r := Request{Kind: row.Kind, Body: row.Body}
			if isRecords(row.Kind) {
				a, _ := parseArrival(&row)
				r.Key, r.UID, r.PID = a.Key, a.UID, a.PID
			} else {
				r.Content = row.Content
			}
			list = append(list, r)
		}
	}
	return list, nil
}

func (f *memoryFiles) SetAside() error {
	if err := f.usable(); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.mark, f.entries, f.chains, f.counts = Mark{}, nil, nil, nil
	f.aside++
	return nil
}

func (f *memoryFiles) Drop() error {
	if err := f.usable(); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.dropped = true
	return nil
}

// records returns the ids of all records of the copy.
func (d *memoryDisk) records() (list []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return recordsOf(d.entries)
}

// count returns how often the copy has a record.
func (d *memoryDisk) count(id string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts[id]
}

// idOf returns the end of a record, which differs for all records.
func idOf(body string) string { return body[max(0, len(body)-10):] }

// recordsOf returns the ids of the records of entries.
func recordsOf(entries []shared.Opened) (list []string) {
	for _, e := range entries {
		for _, row := range e.Rows {
			if isRecords(row.Kind) {
				list = append(list, idOf(string(row.Body)))
			}
		}
	}
	return list
}

func TestMarksAreLines(t *testing.T) {
	m := Mark{
		Journal: shared.NewID(), Position: shared.Position{I: 7, Chain: shared.Hash{1, 2}}, Complete: true,
		Logs: [2]LogEnd{{Size: 5, Chain: arrival.Hash{3}}, {Size: 6}},
	}
	line := AppendMark(nil, m)
	if got, ok := ParseMark(line); !ok || got != m {
		t.Fatalf("got %+v, %v, want %+v", got, ok, m)
	}
	for i := range line {
		damaged := slices.Clone(line)
		damaged[i] ^= 1
		if got, ok := ParseMark(damaged); ok {
			t.Fatalf("a changed byte %d gives %+v", i, got)
		}
	}
}
