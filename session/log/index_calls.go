package log

import (
	"io"

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

// find returns the nearest line before next that makes the call id; 0 when none within reach does.
// The window is ready.
func (w *callWindow) find(next int, id string) int32 {
	for len(w.queue) > 0 && int(w.queue[0].line) < next-callReach {
		if c := w.queue[0]; w.line[c.id] == c.line {
			delete(w.line, c.id)
		}
		w.queue = w.queue[1:]
	}
	return w.line[id]
}

// begin makes a window ready that no record stands before.
func (w *callWindow) begin() {
	if !w.ready {
		w.ready, w.line = true, map[string]int32{}
	}
}

// fill reads the calls of the indexed records within reach, once.
func (w *callWindow) fill(x *logIndex) {
	if w.ready {
		return
	}
	w.begin()
	for line := max(1, x.n+1-callReach); line <= x.n; line++ {
		r := x.at(line)
		if r.flags&ctxabi.HasCalls == 0 {
			continue
		}
		b := make([]byte, r.len)
		if _, err := x.log.ReadAt(b, r.off); err != nil && err != io.EOF {
			continue
		}
		w.add(line, x.scanner()(b).calls)
	}
}
