package log

import (
	"context"
	"encoding/hex"
	"io"
	"sort"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Timeline is a snapshot of both logs in one order. It never changes, and a
// later one of the same session begins with it: a message stands behind all
// that stood in an earlier Timeline, and so does a tool event.
type Timeline struct {
	Messages *Index
	Events   *Index
	Tools    []ctxabi.EventPlace // in their order; other events have no place
	Settled  int64               // bytes of events.jsonl that are taken into account

	// EventsErr is why events.jsonl cannot be opened; nil: it can. Where it cannot, Events is empty and there are no Tools.
	EventsErr error
}

// merge finds the places of tool events. It goes forward only and its state
// follows from the two logs and the messages' arrival rows.
//
// An event stands in front of the first message that had noted a length of
// events.jsonl that covers it. When none has, it arrived after all messages,
// which is certain only while no message is on its way: until then it waits.
//
// It has a twin when a message in front of it, no more than callReach back,
// makes the call of its id or carries that call's result.
type merge struct {
	tools []ctxabi.EventPlace // without twin
	seen  int                 // tool events that have been decided
	next  int                 // messages in front of which no event that comes may stand, and one more

	read  int              // messages whose ids were noted
	ids   map[uint64]int32 // hashID → last message that names it
	queue []idAt           // in line order, for forgetting
}

type idAt struct {
	line int32
	id   uint64
}

// Timeline brings both indexes up to date and gives a snapshot of them. Messages do without
// events.jsonl where its disk fails or something else stands in its place: see
// [Timeline.EventsErr]. A session without tool events pays nothing for the merging. Otherwise it
// costs what is new, and once a process the reading of the messages that make calls. It returns the
// errors of Index of messages.
func (l *Log) Timeline() (*Timeline, error) { return l.TimelineWithin(context.Background()) }

// TimelineWithin is Timeline with a context. If ctx ends, TimelineWithin returns its error and
// keeps the records indexed so far.
func (l *Log) TimelineWithin(ctx context.Context) (*Timeline, error) {
	ix := l.index()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.stop = ctx.Err
	defer func() { ix.stop = nil }()
	m, err := ix.current()
	if err != nil {
		return nil, err
	}
	// Asked after the events were looked at: an append of a message that has
	// noted a shorter length of theirs is either under way still or published.
	atRest := !l.pending.Load() && l.length.Load() == m.size
	if ix.eventsErr != nil {
		return &Timeline{Messages: m, Events: m.events, EventsErr: ix.eventsErr}, nil
	}
	w := &ix.merge
	if err := w.advance(ix, m.events, atRest); err != nil {
		return nil, err
	}
	t := &Timeline{Messages: m, Events: m.events, Tools: w.tools, Settled: m.events.size}
	if w.seen < len(m.events.tools) {
		t.Settled = m.events.row(int(m.events.tools[w.seen])).off
	}
	return t, nil
}

// advance places the tool events that can be placed.
func (w *merge) advance(x *logIndex, events *Index, atRest bool) error {
	for w.seen < len(events.tools) {
		line := events.tools[w.seen]
		r := events.row(int(line))
		for w.next = max(w.next, 1); w.next <= x.n && x.at(w.next).events < r.end(); w.next++ {
		}
		if w.next > x.n && !atRest {
			return nil
		}
		twin, err := w.hasTwin(x, uint64(r.events))
		if err != nil {
			return err
		}
		if !twin {
			w.tools = append(w.tools, ctxabi.EventPlace{Line: line, After: int32(w.next - 1)})
		}
		w.seen++
	}
	return nil
}

// hasTwin reports whether a message in front of w.next, within reach, names id.
func (w *merge) hasTwin(x *logIndex, id uint64) (bool, error) {
	if id == 0 {
		return false, nil
	}
	if w.ids == nil {
		w.ids = map[uint64]int32{}
	}
	reach := w.next - callReach
	for line := max(w.read+1, reach, 1); line < w.next; line++ {
		if err := w.note(x, line); err != nil {
			return false, err
		}
	}
	w.read = w.next - 1
	for len(w.queue) > 0 && int(w.queue[0].line) < reach {
		if c := w.queue[0]; w.ids[c.id] == c.line {
			delete(w.ids, c.id)
		}
		w.queue = w.queue[1:]
	}
	return w.ids[id] > 0, nil
}

// note notes the ids that a message names.
func (w *merge) note(x *logIndex, line int) error {
	r := x.at(line)
	if r.flags&(ctxabi.HasCalls|ctxabi.HasResults) == 0 && r.role != ctxabi.Tool || r.flags&ctxabi.Damaged != 0 {
		return nil
	}
	b := make([]byte, r.len)
	if _, err := x.log.ReadAt(b, r.off); archive.IsDamage(err) {
		return nil // it names nothing
	} else if err != nil && err != io.EOF {
		return err
	}
	m := ctxabi.DecodeMessage(b)
	add := func(id string) {
		if h := hashID(id); h != 0 {
			w.ids[h] = int32(line)
			w.queue = append(w.queue, idAt{int32(line), h})
		}
	}
	for _, c := range m.Calls {
		add(c.ID)
	}
	for _, c := range m.Results {
		add(c.CallID)
	}
	add(m.CallID)
	return nil
}

// HeadAt is the value of the log's chain, in hex, behind the commit that holds the byte before
// size: it stands for all that was appended until then. It returns the error of a log that cannot
// be opened or read.
func (l *Log) HeadAt(size int64) (string, error) {
	if size <= 0 {
		seed := l.seed()
		return hex.EncodeToString(seed.Value[:]), nil
	}
	f, err := l.acquire()
	if err != nil {
		return "", err
	}
	defer l.release()
	l.mu.Lock()
	tail := f.tail
	l.mu.Unlock()
	if size >= tail.Size {
		return hex.EncodeToString(tail.Chain[:]), nil
	}
	from, err := seekArrival(f.arrivals, tail.Arrivals, size-1)
	if err != nil {
		return "", err
	}
	end := int64(0) // of the row, in its file
	err = vfs.ScanLines(f.arrivals, from, tail.Arrivals, func(at, length int64, line []byte, _ bool) bool {
		a, ok := arrival.ParseRow(line)
		if ok {
			end = at + length + 1
		}
		return !ok || a.End() < size
	})
	if err != nil {
		return "", err
	}
	chain, err := l.chainAt(f, end)
	return hex.EncodeToString(chain.Value[:]), err
}

// Before returns how many records of the other log had arrived before a record. It is the same in
// every later Timeline.
func (t *Timeline) Before(event bool, line int) int {
	if !event {
		return int(t.Messages.At(line).Events)
	}
	return sort.Search(t.Messages.Len(), func(i int) bool { return int(t.Messages.At(i+1).Events) >= line })
}
