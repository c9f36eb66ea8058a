package opencode

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

type reader struct {
	*adapter.Emitter
	counter adapter.Counter
	seen    []*message // all messages so far, in their order
	tail    string     // id of the first message that the last compaction kept
}

// message is one of the document.
type message struct {
	src   adapter.SourceRecord
	info  adapter.Object
	parts []adapter.Object
}

func importSession(in *adapter.Input, out adapter.Output) error {
	doc, err := adapter.ReadDocument(in.R)
	if err != nil || len(doc.Bytes) == 0 {
		return err
	}
	raw, err := adapter.ReadObject(in, out, formatName, doc)
	if raw == nil {
		return err
	}
	r := &reader{Emitter: adapter.NewEmitter(in, out, formatName), counter: adapter.Counter{}}
	r.Earlier = adapter.NewLifter()
	tree, lists := &adapter.Tree{Raw: raw}, adapter.Object(nil)
	o, _ := adapter.ParseObject(raw)
	if adapter.IsArray(o.Get("messages")) {
		list := o.Array("messages")
		tree.Cut("messages")
		ids := []string{}
		for i, m := range list {
			src := adapter.SourceRecord{ID: r.counter.ID(m), At: i + 1, Raw: m}
			if i == len(list)-1 && unfinished(m) {
				out.Loss(adapter.Loss{Where: fmt.Sprintf("message %d", i+1), What: "is an answer that is not finished; import again when it is"})
				break
			}
			ids = append(ids, src.ID)
			if err := r.message(src); err != nil {
				return err
			}
		}
		lists = adapter.Object{{"messages", adapter.Raw(ids)}}
	}
	return r.Document("", nil, tree, lists)
}

// unfinished reports whether a message is an answer that the model is still giving.
func unfinished(raw json.RawMessage) bool {
	o, _ := adapter.ParseObject(raw)
	info := o.Object("info")
	return info.Text("role") == "assistant" && !info.Has("error") && !info.Object("time").Has("completed")
}

// message makes the records of a message, as far as the session does not have them.
func (r *reader) message(src adapter.SourceRecord) error {
	o, _ := adapter.ParseObject(src.Raw)
	m := message{src: src, info: o.Object("info")}
	for _, raw := range o.Array("parts") {
		part, _ := adapter.ParseObject(raw)
		m.parts = append(m.parts, part)
	}
	if m.info.Text("role") != "user" && m.info.Text("role") != "assistant" {
		if r.Has("", src.ID) {
			return nil
		}
		r.Out.Loss(adapter.Loss{Where: fmt.Sprintf("message %d", src.At), What: "is not a message; kept in an event"})
		return r.Event("", adapter.Object{{"type", adapter.Raw(formatName + "/other")}}, src)
	}
	var sources []adapter.SourceRecord
	if !r.Has("", src.ID) {
		sources = append(sources, src)
	}
	r.seen = append(r.seen, &m)
	for _, p := range m.parts {
		if p.Text("type") == "compaction" {
			r.tail = p.Text("tail_start_id")
		}
	}
	results := r.results(&m)
	parts, marks := r.said(&m)
	for _, res := range results {
		if res.shared.Raw != nil {
			r.Also = append(r.Also, res.shared)
		}
	}
	var err error
	summary, compacts := m.summary()
	switch sources = append(sources, marks...); {
	case compacts && len(parts) > 0:
		err = r.Summary("", m.timed(summary), r.compacted(), sources...)
	case len(parts) > 0:
		record := adapter.Object{{"role", m.info.Get("role")}, {"content", adapter.Raw(parts)}}
		if id := m.info.Get("id"); adapter.IsString(id) {
			record = append(record, adapter.Field{"id", id})
		}
		err = r.Message("", m.timed(record), sources...)
	case len(sources) > 0:
		kind := formatName + "/message"
		for _, p := range m.parts {
			if p.Text("type") == "compaction" {
				kind = "compaction"
			}
		}
		err = r.EventOf("", m.timed(adapter.Object{{"type", adapter.Raw(kind)}}), sources...)
	}
	if r.Also = nil; err != nil {
		return err
	}
	for _, res := range results {
		if err := r.result(&m, res); err != nil {
			return err
		}
	}
	return r.usage(&m)
}

// summary returns the event that delivers a compaction summary. It returns false for all other
// messages, and for a summary with tool calls, files, or subtasks.
func (m *message) summary() (event adapter.Object, ok bool) {
	if m.info.Text("role") != "assistant" || string(m.info.Get("summary")) != "true" {
		return nil, false
	}
	var texts []string
	for _, p := range m.parts {
		switch p.Text("type") {
		case "text":
			texts = append(texts, p.Text("text"))
		case "tool", "file", "subtask":
			return nil, false
		}
	}
	return adapter.SummaryEvent(strings.Join(texts, "\n"))
}

// compacted returns the range of the newest message, a compaction summary. The summary replaces the
// messages before r.tail, or all earlier messages if r.tail is empty or unknown.
func (r *reader) compacted() (c adapter.Compacted) {
	for _, m := range r.seen[:len(r.seen)-1] {
		if len(c.Kept) == 0 && (r.tail == "" || m.info.Text("id") != r.tail) {
			continue
		}
		c.Kept = append(c.Kept, m.src.ID)
		for i, p := range m.parts {
			c.Kept = append(c.Kept, adapter.Mark(m.src.At, "part", m.info.Text("id"), partID(p, i)).ID)
		}
	}
	return c
}

// timed appends when the message was begun.
func (m *message) timed(record adapter.Object) adapter.Object {
	var ms float64
	if json.Unmarshal(m.info.Object("time").Get("created"), &ms) != nil || ms <= 0 || ms > 1<<47 {
		return record
	}
	return append(record, adapter.Field{"ts", adapter.Raw(time.UnixMilli(int64(ms)).UTC().Format(timeForm))})
}

const timeForm = "2006-01-02T15:04:05.000Z"

// said is what a message says that the session does not have, with a mark for each part. A part without an id is known by its place.
func (r *reader) said(m *message) (parts []json.RawMessage, marks []adapter.SourceRecord) {
	for i, p := range m.parts {
		said := partOf(p)
		mark := adapter.Mark(m.src.At, "part", m.info.Text("id"), partID(p, i))
		if len(said) == 0 || r.Has("", mark.ID) {
			continue
		}
		r.Emitted[[2]string{"", mark.ID}] = true
		parts, marks = append(parts, said...), append(marks, mark)
	}
	return parts, marks
}

func partID(p adapter.Object, i int) string {
	if id := p.Text("id"); id != "" {
		return id
	}
	return strconv.Itoa(i)
}

// result is what a call gave.
type result struct {
	part         adapter.Object
	content      json.RawMessage
	failed       bool
	mark, shared adapter.SourceRecord
}

// results are what calls gave that the session does not have the result of.
func (r *reader) results(m *message) (all []result) {
	for i, p := range m.parts {
		state := p.Object("state")
		if p.Text("type") != "tool" || !adapter.TextAt(p, "callID") || !adapter.TextAt(p, "tool") {
			continue
		}
		res := result{part: p, mark: adapter.Mark(m.src.At, "result", m.info.Text("id"), partID(p, i))}
		switch state.Text("status") {
		case "completed":
			res.content = state.Get("output")
		case "error":
			res.content, res.failed = state.Get("error"), true
		}
		if !adapter.IsString(res.content) || r.Has("", res.mark.ID) {
			continue
		}
		r.Emitted[[2]string{"", res.mark.ID}] = true
		if shared := adapter.Shared(m.src.At, res.content); !r.Has("", shared.ID) {
			r.Emitted[[2]string{"", shared.ID}] = true
			res.shared = shared
		}
		if media := attachments(state); len(media) > 0 {
			res.content = adapter.Raw(append([]json.RawMessage{adapter.TextPart(res.content)}, media...))
		}
		all = append(all, res)
	}
	return all
}

func (r *reader) result(m *message, res result) error {
	record := adapter.ToolResult(adapter.Object{}, res.part.Get("callID"), res.part.Get("tool"), res.content, res.failed)
	sources := []adapter.SourceRecord{res.mark}
	if res.shared.Raw != nil {
		sources = append(sources, res.shared)
	}
	if err := r.Message("", m.timed(record), sources...); err != nil {
		return err
	}
	if res.shared.Raw != nil {
		r.Earlier.Add("@"+res.shared.ID, res.shared.Raw)
	}
	return nil
}

// usage notes what the provider says that an answer took.
func (r *reader) usage(m *message) error {
	tokens := m.info.Object("tokens")
	mark := adapter.Mark(m.src.At, "tokens", m.info.Text("id"))
	if !tokens.Has("input") || !tokens.Has("output") || r.Has("", mark.ID) {
		return nil
	}
	var output, reasoning float64
	json.Unmarshal(tokens.Get("output"), &output)
	json.Unmarshal(tokens.Get("reasoning"), &reasoning)
	cache := tokens.Object("cache")
	usage := adapter.Object{{"input_tokens", tokens.Get("input")}}
	for _, f := range [][2]string{{"cache_read_input_tokens", "read"}, {"cache_creation_input_tokens", "write"}} {
		if v := cache.Get(f[1]); v != nil {
			usage = append(usage, adapter.Field{f[0], v})
		}
	}
	sum := math.Min(math.Max(output+reasoning, 0), 1<<50)
	usage = append(usage, adapter.Field{"output_tokens", adapter.Raw(int64(sum))})
	event := adapter.Object{{"type", adapter.Raw("usage")}, {"usage", adapter.Raw(usage)}}
	if v := m.info.Get("modelID"); adapter.IsString(v) {
		event = append(event, adapter.Field{"model", v})
	}
	return r.EventOf("", m.timed(event), mark)
}
