package session

import (
	"sort"
	"time"
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

// MessagesAt is how many messages the session had at a time: those of the commits until the first that arrived later.
// It goes by the daemon's clock as it was then.
func (x *Session) MessagesAt(when time.Time) (int, error) {
	ix, err := x.messages.Index()
	if err != nil || ix.n == 0 {
		return 0, err
	}
	l := &x.messages
	f, err := l.acquire()
	if err != nil {
		return 0, err
	}
	defer l.release()
	l.mu.Lock()
	end := l.tail.arrivals
	l.mu.Unlock()
	size := int64(0)
	err = scanLines(f.arrivals, 0, end, func(_, _ int64, line []byte, _ bool) bool {
		a, ok := parseArrival(line)
		if ok && time.Unix(0, a.At).After(when) {
			return false
		}
		if ok {
			size = a.end()
		}
		return true
	})
	return sort.Search(ix.n, func(i int) bool { return ix.row(i+1).end() > size }), err
}
