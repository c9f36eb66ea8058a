package session

import (
	"bufio"
	"errors"
	"io"
	"sort"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// callReach is how many records back the call of a tool result is looked for.
const callReach = 1024

// callWindow knows the calls of the last callReach records. It is filled from
// the log when it is first asked, so that an index that was loaded and one
// that was built give the same answers.
type callWindow struct {
	ready bool
	line  map[string]int32 // call id → last line that makes it
	queue []callAt         // in line order, for forgetting
}

type callAt struct {
	line int32
	id   string
}

// add notes the calls of a line.
func (w *callWindow) add(line int, ids []string) {
	if !w.ready {
		return // fill will read them
	}
	for _, id := range ids {
		if id != "" {
			w.line[id] = int32(line)
			w.queue = append(w.queue, callAt{int32(line), id})
		}
	}
}

// find gives the nearest line before the next one that makes the call id; 0 when none within reach does.
func (w *callWindow) find(x *logIndex, id string) int32 {
	next := int32(x.n + 1)
	if !w.ready {
		w.fill(x)
	}
	for len(w.queue) > 0 && w.queue[0].line < next-callReach {
		if c := w.queue[0]; w.line[c.id] == c.line {
			delete(w.line, c.id)
		}
		w.queue = w.queue[1:]
	}
	return w.line[id]
}

// fill reads the calls of the indexed records within reach.
func (w *callWindow) fill(x *logIndex) {
	w.ready, w.line = true, map[string]int32{}
	for line := max(1, x.n+1-callReach); line <= x.n; line++ {
		r := x.at(line)
		if r.flags&HasCalls == 0 {
			continue
		}
		b := make([]byte, r.len)
		if _, err := x.log.ReadAt(b, r.off); err != nil && err != io.EOF {
			continue
		}
		w.add(line, scanMessage(b).calls)
	}
}

// eventCounter tells how many events had arrived before a message. It walks
// the arrival rows beside the records.
type eventCounter struct {
	events *Index
	rows   *bufio.Reader
	cur    arrival // the row that covers the offset asked for last
	more   bool
	count  int32 // events before cur
}

// eventCounter gives the counter for the records behind x.size; nil when there are no events.
func (x *logIndex) eventCounter(f *logFiles) (*eventCounter, error) {
	l := x.log
	if l.name != ctxabi.MessagesFile || l.session.events.Len() == 0 {
		return nil, nil
	}
	events, err := l.session.events.Index()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	end := l.tail.arrivals
	l.mu.Unlock()
	from, err := seekArrival(f.arrivals, end, x.size)
	if err != nil {
		return nil, err
	}
	c := &eventCounter{events: events, more: true}
	c.rows = bufio.NewReaderSize(io.NewSectionReader(f.arrivals, from, end-from), 64<<10)
	return c, nil
}

// before is asked with growing offsets.
func (c *eventCounter) before(off int64) int32 {
	for c.more && c.cur.end() <= off {
		line, err := c.rows.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			c.more = false
			c.count = int32(c.events.n) // data without a row yet: all that is known
			break
		}
		a, ok := parseArrival(line[:len(line)-1])
		if !ok || a.Events == c.cur.Events {
			if ok {
				c.cur = a
			}
			continue
		}
		c.cur = a
		c.count = int32(sort.Search(c.events.n, func(i int) bool { return c.events.row(i+1).end() > a.Events }))
	}
	return c.count
}

// seekArrival finds where to begin reading arrival rows so that the row that
// covers offset off of the log is met: by halving, since rows are in order.
func seekArrival(f File, size, off int64) (int64, error) {
	const near = 4 << 10
	lo, hi := int64(0), size
	buf := make([]byte, near)
	for hi-lo > 2*near {
		mid := lo + (hi-lo)/2
		b := buf[:min(near, hi-mid)]
		if err := readFull(f, b, mid); err != nil {
			return 0, err
		}
		at, a, ok := firstRow(b)
		if !ok {
			return lo, nil // damaged here: read on from the last good place
		}
		if a.Off <= off {
			lo = mid + int64(at)
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// firstRow finds the first whole row behind a newline in b.
func firstRow(b []byte) (at int, a arrival, ok bool) {
	start := -1
	for i, c := range b {
		if c != '\n' {
			continue
		}
		if start >= 0 {
			if a, ok := parseArrival(b[start:i]); ok {
				return start, a, true
			}
		}
		start = i + 1
	}
	return 0, arrival{}, false
}
