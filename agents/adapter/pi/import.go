package pi

import (
	"io"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

type reader struct {
	*adapter.Emitter
	counter adapter.Counter
	lines   []line
}

// line is one of the transcript.
type line struct {
	src    adapter.SourceRecord
	l      adapter.Line
	o      adapter.Object
	parent int  // the line of its parent, -1 for none
	gone   bool // a branch that was left
}

func importSession(in *adapter.Input, out adapter.Output) error {
	r := &reader{Emitter: adapter.NewEmitter(in, out, formatName), counter: adapter.Counter{}}
	lines := adapter.NewLines(in.R)
	for at := 0; ; at++ {
		l, o, raw, err := lines.NextObject()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		r.lines = append(r.lines, line{l: l, o: o, src: adapter.SourceRecord{ID: r.counter.ID(raw), At: at, Raw: raw}})
	}
	r.arrange()
	for i := range r.lines {
		if err := r.take(&r.lines[i]); err != nil {
			return err
		}
	}
	return nil
}

// arrange finds the parent of each line, and which lines are on no way to the last one. A line without a
// parent that is there follows the one before it.
func (r *reader) arrange() {
	ids := map[string]int{}
	last := -1
	for i := range r.lines {
		n := &r.lines[i]
		n.parent, n.gone = last, true
		if n.l.Problem != "" || n.o.Text("type") == "session" {
			n.gone = false
			continue
		}
		switch parent := n.o.Get("parentId"); {
		case adapter.IsString(parent):
			at, ok := ids[n.o.Text("parentId")]
			if ok {
				n.parent = at
			} else if !r.Has("", n.src.ID) {
				r.Out.Loss(adapter.Loss{Where: n.l.Where(), What: "its parent is not there; it follows the line before it"})
			}
		case string(parent) == "null": // a conversation begins
			n.parent = -1
		}
		if adapter.TextAt(n.o, "id") {
			ids[n.o.Text("id")] = i
		}
		last = i
	}
	for at := last; at >= 0; at = r.lines[at].parent { // a parent stands before its child
		r.lines[at].gone = false
	}
}

// take makes the records of a line, as far as the session does not have them.
func (r *reader) take(n *line) error {
	if n.l.Problem != "" {
		return n.l.Keep(r.In, r.Out, adapter.Stamp{Format: formatName, IDs: []string{n.src.ID}, At: []int{n.src.At}}, n.l.Problem)
	}
	if summary, ok := summaryOf(n.o); ok && !n.gone {
		if r.Has("", n.src.ID) {
			return nil
		}
		kept := adapter.Compacted{Kept: r.idsFrom(n.o.Text("firstKeptEntryId"), n.src.At)}
		return r.Summary("", adapter.AppendTime(summary, n.o, "timestamp"), kept, n.src)
	}
	if !r.Has("", n.src.ID) {
		record, event := recordOf(n.o)
		if n.gone && !event {
			record, event = adapter.Object{{"type", adapter.Raw(formatName + "/message")}}, true
		}
		record = adapter.AppendTime(record, n.o, "timestamp")
		emit := r.Message
		if event {
			emit = r.EventOf
			if n.gone {
				record = append(record, adapter.Field{"abandoned", adapter.Raw(true)})
			}
		}
		if err := emit("", record, n.src); err != nil {
			return err
		}
	}
	return r.usage(n)
}

// idsFrom returns the source record ids of the entry id and of all later entries before line at.
// The result is nil if the entry does not exist.
func (r *reader) idsFrom(id string, at int) (ids []string) {
	for i := range r.lines[:at] {
		if n := &r.lines[i]; len(ids) > 0 || id != "" && n.o.Text("id") == id {
			ids = append(ids, n.src.ID)
		}
	}
	return ids
}

// usage notes what the provider says that an answer took.
func (r *reader) usage(n *line) error {
	m := n.o.Object("message")
	took := m.Object("usage")
	mark := adapter.Mark(n.src.At, n.src.ID, "usage")
	if !took.Has("input") || r.Has("", mark.ID) {
		return nil
	}
	var usage adapter.Object
	for _, f := range [][2]string{{"input_tokens", "input"}, {"cache_read_input_tokens", "cacheRead"}, {"cache_creation_input_tokens", "cacheWrite"}, {"output_tokens", "output"}} {
		if v := took.Get(f[1]); v != nil {
			usage = append(usage, adapter.Field{f[0], v})
		}
	}
	event := adapter.Object{{"type", adapter.Raw("usage")}, {"usage", adapter.Raw(usage)}}
	if v := m.Get("model"); adapter.IsString(v) {
		event = append(event, adapter.Field{"model", v})
	}
	return r.EventOf("", adapter.AppendTime(event, n.o, "timestamp"), mark)
}
