package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// reader reads one chat.
type reader struct {
	*adapter.Emitter
	counter adapter.Counter
	chain   string              // of a sub-agent, whose chat is a file of its own
	said    []*message          // in the order in which they begin
	live    map[string]*message // those that no rewind took back
	stand   []*message          // the same, in order
}

// message is what was written under one id.
type message struct {
	id     string
	first  int            // the line in which it begins
	o      adapter.Object // as it was written last
	from   []adapter.SourceRecord
	shared json.RawMessage // it stands in a line that brings several; nil for a line of its own
	gone   bool            // a rewind took it back
	kept   []*message      // earlier messages that the same line repeats
}

// line is a line of the transcript that is no message of its own.
type line struct {
	src adapter.SourceRecord
	o   adapter.Object
	l   adapter.Line
}

func isDocument(doc adapter.Line) bool {
	if doc.Problem != "" || len(doc.Bytes) == 0 || doc.Bytes[0] != '{' {
		return false
	}
	raw := doc.Bytes
	if !json.Valid(raw) {
		end := bytes.IndexByte(raw, '\n')
		if end < 0 {
			end = len(raw)
		}
		if json.Valid(raw[:end]) { // a line
			return false
		}
		whole, _, ok := adapter.Mended(raw, 2)
		if !ok {
			return false
		}
		raw = whole
	}
	o, err := adapter.ParseObject(raw)
	return err == nil && o.Has("sessionId") && adapter.IsArray(o.Get("messages"))
}

// lines reads a chat of one record a line.
func (r *reader) lines(data []byte) error {
	in := adapter.NewLines(bytes.NewReader(data))
	r.live = map[string]*message{}
	var others []line
	for at := 0; ; at++ {
		l, o, raw, err := in.NextObject()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		src := adapter.SourceRecord{ID: r.counter.ID(raw), At: at, Raw: raw}
		if l.Problem == "" && adapter.TextAt(o, "id") && !o.Has("$set") && !o.Has("$rewindTo") {
			r.meet(o, src, nil)
			continue
		}
		r.head(o)
		others = append(others, line{src, o, l})
		if l.Problem != "" {
			continue
		}
		if to := o.Get("$rewindTo"); adapter.IsString(to) {
			r.rewind(o.Text("$rewindTo"))
		}
		from, kept := len(r.said), []*message(nil)
		for _, m := range slices.Concat(o.Array("messages"), o.Object("$set").Array("messages")) {
			mo, err := adapter.ParseObject(m)
			switch had := r.live[mo.Text("id")]; {
			case err != nil || !adapter.TextAt(mo, "id"):
			case had == nil:
				r.meet(mo, src, m)
			case had.first < at:
				kept = append(kept, had)
			}
		}
		for _, m := range r.said[from:] {
			m.kept = kept
		}
	}
	return r.inOrder(others)
}

// inOrder makes the records of all messages and of the other lines. What a line brings that brings several
// stands in front of it, but for the summary of a compaction.
func (r *reader) inOrder(others []line) error {
	next := 0
	upTo := func(at int) error {
		for ; next < len(r.said) && r.said[next].first < at; next++ {
			if err := r.say(r.said[next]); err != nil {
				return err
			}
		}
		return nil
	}
	for _, l := range others {
		at := l.src.At
		if err := upTo(at); err != nil {
			return err
		}
		compacts := false
		for i := next; i < len(r.said) && r.said[i].first == at; i++ {
			compacts = compacts || strings.Contains(string(r.said[i].shared), stateSnapshot)
		}
		if !compacts {
			at++
		}
		if err := upTo(at); err != nil {
			return err
		}
		if err := r.other(l, compacts); err != nil {
			return err
		}
	}
	return upTo(math.MaxInt)
}

// head takes from the head of a chat of whom it is.
func (r *reader) head(o adapter.Object) {
	if id := o.Text("sessionId"); r.chain == "" && len(r.said) == 0 && o.Text("kind") == "subagent" && id != "" {
		r.chain = "agent-" + id
	}
}

// meet notes a message that a line brings; shared is its bytes where the line brings others as well.
func (r *reader) meet(o adapter.Object, src adapter.SourceRecord, shared json.RawMessage) {
	id := o.Text("id")
	m := r.live[id]
	if m == nil {
		m = &message{id: id, first: src.At, shared: shared}
		r.live[id] = m
		r.said, r.stand = append(r.said, m), append(r.stand, m)
	}
	if m.o = o; shared == nil {
		m.from = append(m.from, src)
	}
}

// rewind takes back the message of that id and those behind it; all, where there is none.
func (r *reader) rewind(id string) {
	if r.live[id] == nil {
		id = ""
	}
	for n := len(r.stand); n > 0; n-- {
		m := r.stand[n-1]
		r.stand, m.gone = r.stand[:n-1], true
		delete(r.live, m.id)
		if m.id == id {
			return
		}
	}
}

// other keeps a line that is no message of its own.
func (r *reader) other(l line, compacts bool) error {
	if l.l.Problem != "" {
		return l.l.Keep(r.In, r.Out, adapter.Stamp{Format: r.Format, IDs: []string{l.src.ID}, At: []int{l.src.At}}, l.l.Problem)
	}
	kind, set := "record", l.o.Object("$set")
	switch {
	case set != nil:
		kind = "set"
	case l.o.Has("$rewindTo"):
		kind = "rewind"
	case l.o.Has("sessionId"):
		kind = "session"
	}
	record := adapter.Object{{"type", adapter.Raw(r.Format + "/" + kind)}}
	if compacts {
		record = adapter.Object{{"type", adapter.Raw("compaction")}}
	}
	for _, m := range slices.Concat(l.o.Array("messages"), set.Array("messages")) {
		r.share(adapter.Shared(l.src.At, m))
	}
	record = adapter.AppendTime(record, slices.Concat(l.o, set), "timestamp", "lastUpdated")
	if !r.Has(r.chain, l.src.ID) {
		if err := r.Event(r.chain, record, l.src); err != nil {
			return err
		}
	}
	r.Earlier.Add("@"+l.src.ID, l.src.Raw)
	return nil
}

// document reads a chat of earlier versions: one object with all messages.
func (r *reader) document(doc adapter.Line) error {
	raw, err := adapter.ReadObject(r.In, r.Out, r.Format, doc)
	if raw == nil {
		return err
	}
	r.live = map[string]*message{}
	tree := &adapter.Tree{Raw: raw}
	list, _ := adapter.ParseArray(tree.Cut("messages"))
	var ids []string
	for i, m := range list {
		src := adapter.SourceRecord{ID: r.counter.ID(m), At: i + 1, Raw: m}
		ids = append(ids, src.ID)
		o, err := adapter.ParseObject(m)
		if err != nil || !adapter.TextAt(o, "id") {
			if r.Has(r.chain, src.ID) {
				continue
			}
			r.Out.Loss(adapter.Loss{Where: fmt.Sprintf("message %d", i+1), What: "is not a message; kept in an event"})
			if err := r.Event(r.chain, adapter.Object{{"type", adapter.Raw(r.Format + "/other")}}, src); err != nil {
				return err
			}
			continue
		}
		r.meet(o, src, nil)
	}
	for _, m := range r.said {
		if err := r.say(m); err != nil {
			return err
		}
	}
	if ids == nil {
		ids = []string{}
	}
	return r.Document(r.chain, nil, tree, adapter.Object{{"messages", adapter.Raw(ids)}})
}
