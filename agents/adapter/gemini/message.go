package gemini

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// said is what a message says that the session does not have, with a mark for each thing.
type said struct {
	parts []json.RawMessage
	marks []adapter.SourceRecord
}

// result is what a call gave.
type result struct {
	callID, name json.RawMessage
	content      json.RawMessage
	failed       bool
	sources      []adapter.SourceRecord
}

// say makes the records of a message, as far as the session does not have them: what it says with
// its calls, a result for each call that has one, and what the provider says that it took.
func (r *reader) say(m *message) error {
	var src []adapter.SourceRecord
	for _, s := range m.from {
		if !r.Has(r.chain, s.ID) {
			src = append(src, s)
		}
	}
	var new said
	role := "user"
	switch m.o.Text("type") {
	case "user":
		r.asked(m, &new)
	case "gemini":
		role = "assistant"
		r.answered(m, &new)
	}
	results := r.results(m)
	for _, res := range results {
		r.Also = append(r.Also, res.sources[1])
	}
	if err := r.message(m, role, new, src); err != nil {
		return err
	}
	r.Also = nil
	for _, res := range results {
		record := adapter.ToolResult(adapter.Object{}, res.callID, res.name, res.content, res.failed)
		if err := r.emit(m, adapter.AppendTime(record, m.o, "timestamp"), "result", res.sources); err != nil {
			return err
		}
		r.share(res.sources[1])
	}
	for _, s := range m.from { // not before the results, which these lines have as well
		r.Earlier.Add("@"+s.ID, s.Raw)
	}
	return r.usage(m)
}

// message makes the record of what is new, or keeps the lines of a message that says nothing new.
func (r *reader) message(m *message, role string, new said, src []adapter.SourceRecord) error {
	if len(new.parts) == 0 {
		if len(src) == 0 {
			return nil
		}
		kind := m.o.Text("type")
		if kind == "" {
			kind = "message"
		}
		event := adapter.Object{{"type", adapter.Raw(r.Format + "/" + kind)}}
		return r.EventOf(r.chain, adapter.AppendTime(event, m.o, "timestamp"), src...)
	}
	content := adapter.Raw(new.parts)
	if c := m.o.Get("content"); len(new.parts) == 1 && adapter.IsString(c) && string(new.parts[0]) == string(adapter.TextPart(c)) {
		content = c
	}
	if m.shared != nil {
		src = append(src, adapter.Shared(m.first, m.shared))
	}
	if event, ok := r.snapshot(m); ok {
		sources := append(src, new.marks...)
		return r.Summary(r.chain, adapter.AppendTime(event, m.o, "timestamp"), m.compacted(), sources...)
	}
	record := adapter.Object{{"role", adapter.Raw(role)}, {"content", content}, {"id", m.o.Get("id")}}
	return r.emit(m, adapter.AppendTime(record, m.o, "timestamp"), "message", append(src, new.marks...))
}

// stateSnapshot is the opening tag of a compaction summary of Gemini CLI.
const stateSnapshot = "<state_snapshot>"

// snapshot returns the event that delivers a compaction summary. It returns false for all other
// messages, including a summary that a rewind removed.
func (r *reader) snapshot(m *message) (event adapter.Object, ok bool) {
	if m.shared == nil || m.gone || m.o.Text("type") != "user" {
		return nil, false
	}
	text := m.o.Text("content")
	for _, raw := range partsOf(m.o.Get("content")) {
		part, _ := adapter.ParseObject(raw)
		if part.Text("type") != "text" || text != "" && !adapter.IsString(m.o.Get("content")) {
			return nil, false
		}
		text = part.Text("text")
	}

	begin := strings.TrimSpace(text)
	if !strings.HasPrefix(begin, stateSnapshot) && !strings.HasPrefix(begin, "<scratchpad>") {
		return nil, false
	}
	return adapter.SummaryEvent(text)
}

// compacted returns the range of a compaction summary. The line of the summary repeats the messages
// that Gemini CLI kept; the summary replaces all other earlier messages.
func (m *message) compacted() (c adapter.Compacted) {
	for _, k := range m.kept {
		for _, s := range k.from {
			c.Kept = append(c.Kept, s.ID)
		}
		if k.shared != nil {
			c.Kept = append(c.Kept, adapter.Shared(k.first, k.shared).ID)
		}
		c.Kept = append(c.Kept, adapter.Mark(k.first, k.id, "text").ID)
	}
	return c
}

// emit puts a message into the session; one that a rewind took back into an event of that kind.
func (r *reader) emit(m *message, record adapter.Object, kind string, sources []adapter.SourceRecord) error {
	if !m.gone {
		return r.Message(r.chain, record, sources...)
	}
	event := adapter.Object{{"type", adapter.Raw(r.Format + "/" + kind)}, {"abandoned", adapter.Raw(true)}}
	return r.EventOf(r.chain, adapter.AppendTime(event, m.o, "timestamp"), sources...)
}

// add adds parts that are said once under a mark.
func (r *reader) add(to *said, mark adapter.SourceRecord, parts ...json.RawMessage) {
	if len(parts) > 0 && !r.Has(r.chain, mark.ID) {
		to.parts, to.marks = append(to.parts, parts...), append(to.marks, mark)
	}
}

// command is how a user calls a command of the program, which no model sees. Its content is a text; what a model sees has parts.
var command = lazy.Regexp(`^\s*[/?][a-z-]*(\s|$)`)

// asked is what a user says. What a function answered stands at its call.
func (r *reader) asked(m *message, to *said) {
	var parts []json.RawMessage
	for i, p := range partsOf(m.o.Get("content")) {
		o, _ := adapter.ParseObject(p)
		if o.Text("type") == "tool_result" || i == 0 && adapter.IsString(m.o.Get("content")) && command().MatchString(o.Text("text")) {
			continue
		}
		parts = append(parts, p)
	}
	r.add(to, adapter.Mark(m.first, m.id, "text"), parts...)
}

// answered is what the model says, thinks and calls.
func (r *reader) answered(m *message, to *said) {
	var thoughts, texts, calls []json.RawMessage
	for _, p := range partsOf(m.o.Get("content")) {
		switch o, _ := adapter.ParseObject(p); o.Text("type") {
		case "thinking":
			thoughts = append(thoughts, p)
		case "tool_use":
			calls = append(calls, p)
		case "tool_result":
		default:
			texts = append(texts, p)
		}
	}
	if len(thoughts) == 0 {
		for _, raw := range m.o.Array("thoughts") {
			o, _ := adapter.ParseObject(raw)
			text := o.Text("description")
			if s := o.Text("subject"); s != "" {
				text = fmt.Sprintf("**%s** %s", s, text)
			}
			if text != "" {
				thoughts = append(thoughts, adapter.ThinkingPart(adapter.Raw(text)))
			}
		}
	}
	r.add(to, adapter.Mark(m.first, m.id, "thoughts"), thoughts...)
	r.add(to, adapter.Mark(m.first, m.id, "text"), texts...)
	for _, raw := range m.o.Array("toolCalls") {
		if o, _ := adapter.ParseObject(raw); adapter.TextAt(o, "name") {
			calls = append(calls, callPart(o))
		}
	}
	for i, p := range calls {
		o, _ := adapter.ParseObject(p)
		id := o.Text("id")
		if id == "" {
			id = fmt.Sprint(m.id, "/", i)
		}
		mark := adapter.Mark(m.first, "call", id)
		for _, had := range to.marks { // in the content and in the list
			if had.ID == mark.ID {
				id = ""
			}
		}
		if id != "" {
			r.add(to, mark, p)
		}
	}
}

// results are what calls gave that the session does not have the result of.
func (r *reader) results(m *message) (all []result) {
	add := func(id, name, raw json.RawMessage, said json.RawMessage, failed bool) {
		mark, shared := adapter.Mark(m.first, "result", string(id)), adapter.Shared(m.first, raw)
		if !r.Has(r.chain, mark.ID) {
			r.Emitted[[2]string{r.chain, mark.ID}] = true // it comes again in this message
			all = append(all, result{id, name, said, failed, []adapter.SourceRecord{mark, shared}})
		}
		r.share(shared)
	}
	for _, raw := range m.o.Array("toolCalls") {
		call, _ := adapter.ParseObject(raw)
		given := call.Get("result")
		if !adapter.TextAt(call, "id") || given == nil || string(given) == "null" {
			continue
		}
		said, failed := given, false
		if !adapter.IsString(given) {
			said, failed = givenOf(given)
		}
		add(call.Get("id"), call.Get("name"), given, said, failed || call.Text("status") == "error")
	}
	list, _ := adapter.ParseArray(m.o.Get("content"))
	for _, raw := range list {
		o, _ := adapter.ParseObject(raw)
		if response := o.Object("functionResponse"); adapter.TextAt(response, "id") {
			said, failed := responseOf(response)
			add(response.Get("id"), response.Get("name"), raw, said, failed)
		}
	}
	return all
}

// givenOf is what the result of a call says: parts of the API, one of which has what the function answered.
func givenOf(given json.RawMessage) (said json.RawMessage, failed bool) {
	var parts []json.RawMessage
	list, isList := adapter.ParseArray(given)
	if !isList {
		list = []json.RawMessage{given}
	}
	for _, raw := range list {
		o, _ := adapter.ParseObject(raw)
		response := o.Object("functionResponse")
		if response == nil {
			parts = append(parts, partsOf(raw)...)
			continue
		}
		text, bad := responseOf(response)
		failed = failed || bad
		if adapter.IsString(text) && len(list) == 1 {
			return text, failed
		}
		if inner, ok := adapter.ParseArray(text); ok {
			parts = append(parts, inner...)
		} else {
			parts = append(parts, adapter.TextPart(text))
		}
	}
	return adapter.PartsContent(parts), failed
}

// usage notes what the provider says that a message took.
func (r *reader) usage(m *message) error {
	tokens := m.o.Object("tokens")
	mark := adapter.Mark(m.first, m.id, "tokens")
	if !tokens.Has("input") || r.Has(r.chain, mark.ID) {
		return nil
	}
	usage := adapter.Object{{"promptTokenCount", tokens.Get("input")}}
	for _, f := range [][2]string{{"cachedContentTokenCount", "cached"}, {"candidatesTokenCount", "output"}, {"thoughtsTokenCount", "thoughts"}} {
		if v := tokens.Get(f[1]); v != nil {
			usage = append(usage, adapter.Field{f[0], v})
		}
	}
	event := adapter.Object{{"type", adapter.Raw("usage")}, {"usage", adapter.Raw(usage)}}
	if v := m.o.Get("model"); adapter.IsString(v) {
		event = append(event, adapter.Field{"model", v})
	}
	return r.EventOf(r.chain, adapter.AppendTime(event, m.o, "timestamp"), mark)
}

// share makes known a value that the session has or gets: later records need not keep it.
func (r *reader) share(s adapter.SourceRecord) {
	if r.Has(r.chain, s.ID) {
		r.Earlier.Add("@"+s.ID, s.Raw)
	}
}
