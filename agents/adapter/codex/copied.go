package codex

import (
	"io"
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// leave writes an event that lists the lines copied from another rollout, and clears lines. The
// other rollout's session stores their content. It returns the errors of the output.
func (r *Reader) leave(lines *adapter.Stamp) error {
	if len(lines.IDs) == 0 {
		return nil
	}
	s := *lines
	lines.IDs, lines.At = nil, nil
	if err := r.Flush(); err != nil {
		return err
	}
	event := adapter.Object{{"type", adapter.Raw(codexCopied)}, {"lines", adapter.Raw(len(s.IDs))},
		{adapter.StampKey, adapter.Raw(s)}}
	return r.Out.Record(adapter.Record{Chain: r.Chain, Event: true, Line: adapter.Raw(event)})
}

// copiedLines returns the number of lines before the first own item of a rollout that begins with a
// copy of its parent's history, as sub-agents and forks do. The copy may omit lines and have other
// timestamps. copiedLines returns an error if it cannot read the parent.
func copiedLines(lines []codexLine, from *adapter.From) (n int, err error) {
	if from == nil || len(lines) == 0 {
		return 0, nil
	}
	key := func(l codexLine) string {
		return adapter.SourceID([]byte(l.kind+"\n"+string(adapter.Raw(l.payload))), 0)
	}
	began := lines[0].whole.Text("timestamp")
	places := map[string][]int{}
	for in, at := adapter.NewLines(from.R), 0; ; at++ {
		l, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		c, err := readCodexLine(l.Bytes)
		if ts := c.whole.Text("timestamp"); err != nil || len(ts) == len(began) && ts > began {
			continue // written after the copy was made
		}
		places[key(c)] = append(places[key(c)], at)
	}
	next := 0
	for i, l := range lines[1:] {
		at, found := places[key(l)], false
		if k, _ := slices.BinarySearch(at, next); k < len(at) {
			next, found = at[k]+1, true
		}
		said := l.kind == ItemLine || l.kind == codexCompacted
		if said && !found {
			break
		}
		if said || l.kind == codexMeta {
			n = i + 2
		}
	}
	from.Lines = n
	return n, nil
}
