package log

import (
	"math"
	"sort"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Prefix is the index as it was with its first n records.
func (ix *Index) Prefix(n int) *Index {
	if n >= ix.n {
		return ix
	}
	out := *ix
	out.n, out.size = max(n, 0), 0
	if out.n > 0 {
		out.size = ix.row(out.n).end()
	}
	out.tools = ix.tools[:sort.Search(len(ix.tools), func(i int) bool { return int(ix.tools[i]) > out.n })]
	return &out
}

// Prefix is the timeline as it was before message n+1 came: the first n messages, and the
// events that had arrived by then. With all messages it is t.
func (t *Timeline) Prefix(n int) *Timeline {
	if n >= t.Messages.Len() {
		return t
	}
	n = max(n, 0)
	events := int(t.Messages.At(n + 1).Events)
	tools := sort.Search(len(t.Tools), func(i int) bool { return int(t.Tools[i].After) > n || int(t.Tools[i].Line) > events })
	out := &Timeline{Messages: t.Messages.Prefix(n), Events: t.Events.Prefix(events), Tools: t.Tools[:tools]}
	out.Settled = out.Events.size
	return out
}

// LinesAt is how many records the log had at a time: those of the commits until the first that
// arrived later. It goes by the daemon's clock as it was then. The first call of a process reads
// the arrival rows up to there. It returns the error of a log that cannot be read.
func (l *Log) LinesAt(when time.Time) (int, error) {
	ix, err := l.Index()
	if err != nil || ix.n == 0 {
		return 0, err
	}
	size, err := l.sizeAt(unixNano(when))
	return sort.Search(ix.n, func(i int) bool { return ix.row(i+1).end() > size }), err
}

// arrivalMark is what is known in front of an arrival row. Clocks go back, so that rows cannot be
// halved by their times; the latest time until a row only grows.
type arrivalMark struct {
	at     int64 // of the row, in its file
	size   int64 // of the log
	latest int64 // unix ns of the latest row until then
}

// arrivalMarks are in the order of the rows, and begin with the first.
type arrivalMarks struct {
	mu   sync.Mutex
	list []arrivalMark // guarded by mu
}

// forget drops what is known of a file of rows that another one takes the place of.
func (m *arrivalMarks) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = nil
}

// unixNano is the time in ns since 1970, or the nearest that there is.
func unixNano(t time.Time) int64 {
	if first, last := time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64); t.Before(first) {
		return math.MinInt64
	} else if t.After(last) {
		return math.MaxInt64
	}
	return t.UnixNano()
}

// sizeAt is how many bytes the log had at a time, in ns since 1970.
func (l *Log) sizeAt(when int64) (int64, error) {
	f, err := l.acquire()
	if err != nil {
		return 0, err
	}
	defer l.release()
	l.mu.Lock()
	end := f.tail.Arrivals
	m := &l.asOneOfFew().marks
	l.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.list) == 0 {
		m.list = []arrivalMark{{latest: math.MinInt64}}
	}
	i := sort.Search(len(m.list)-1, func(i int) bool { return m.list[i+1].latest > when })
	here := m.list[i]
	unknown := i == len(m.list)-1
	err = vfs.ScanLines(f.arrivals, here.at, end, func(at, _ int64, line []byte, _ bool) bool {
		a, ok := arrival.ParseRow(line)
		if !ok {
			return true
		}
		if unknown && at >= m.list[len(m.list)-1].at+l.set.limits.MarkEvery {
			here.at = at
			m.list = append(m.list, here)
		}
		if a.At > when {
			return false
		}
		here.size, here.latest = a.End(), max(here.latest, a.At)
		return true
	})
	return here.size, err
}
