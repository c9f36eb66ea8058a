package adapter

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// codexReader reads one rollout, or the items of another format that has them.
type codexReader struct {
	format  string
	chain   string
	in      *Input
	out     Output
	counter Counter
	items   bool // the rollout has items; else what its events say is all there is

	// The message that is being put together, of items that an assistant says
	// behind each other.
	stamp  Stamp
	pieces []codexPiece
	events []Record // of lines between these: records go out in the order in which they begin

	total []byte // the token counts of the last event that had some
	told  string // the instructions that the last session_meta had
}

func importCodex(in *Input, out Output) error {
	var list []Line
	var parsed []codexLine
	r := codexReader{format: codexName, in: in, out: out, counter: Counter{}}
	lines := NewLines(in.R)
	for {
		l, err := lines.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		var c codexLine
		if l.Problem == "" {
			if c, err = readCodexLine(l.Bytes); err != nil {
				l.Problem = "is not a JSON object"
			}
		}
		r.items = r.items || c.kind == codexItemLine
		list, parsed = append(list, l), append(parsed, c)
	}
	for at, l := range list {
		raw := l.Bytes
		if l.Problem == "" {
			raw = compactJSON(raw)
		}
		s := Stamp{Format: codexName, IDs: []string{r.counter.ID(raw)}, At: []int{at}}
		var err error
		if l.Problem != "" {
			if err = r.flush(); err == nil {
				err = l.Keep(in, out, s, l.Problem)
			}
		} else {
			err = r.line(parsed[at], raw, s)
		}
		if err != nil {
			return err
		}
	}
	return r.flush()
}

// line takes a line. One that the session has is only looked at for what later ones are compared with.
func (r *codexReader) line(l codexLine, raw []byte, s Stamp) error {
	usage := r.usage(l)
	instructions := r.instructions(l)
	if r.in.Seen(r.chain, s.IDs[0]) {
		return nil
	}
	if p, ok := r.piece(l); ok {
		p.item.Line = unspaced(p.item.Line)
		if p.role == "assistant" {
			r.pieces = append(r.pieces, p)
			r.stamp.IDs, r.stamp.At = append(r.stamp.IDs, s.IDs[0]), append(r.stamp.At, s.At[0])
			return nil
		}
		if err := r.flush(); err != nil {
			return err
		}
		r.pieces, r.stamp = []codexPiece{p}, s
		return r.flush()
	}
	s.Rest = raw
	switch {
	case instructions.text != nil:
		if err := r.flush(); err != nil {
			return err
		}
		r.pieces, r.stamp = []codexPiece{{role: "system", content: instructions.text, item: codexItem{instructions.line, codexText, instructions.key}}}, s
		return r.flush()
	case l.kind == codexCompacted:
		if err := r.flush(); err != nil {
			return err
		}
		o := Object{{"type", Raw("compaction")}}
		if textAt(l.payload, "message") {
			o = append(o, Field{"summary", l.payload.Get("message")})
			s.Rest = Raw(l.whole.withoutAt("payload.message"))
		}
		return r.event(o, l, s)
	case usage != nil:
		return r.event(Object{{"type", Raw("usage")}, {"usage", Raw(usage)}}, l, s)
	}
	return r.event(Object{{"type", Raw(r.format + "/" + l.name())}}, l, s)
}

func (r *codexReader) event(o Object, l codexLine, s Stamp) error {
	o = appendTime(o, l.whole, "timestamp")
	event := Record{Chain: r.chain, Event: true, Line: Raw(append(o, Field{StampKey, Raw(s)}))}
	if len(r.pieces) > 0 {
		r.events = append(r.events, event)
		return nil
	}
	return r.out.Record(event)
}

// flush puts the message together and out.
func (r *codexReader) flush() error {
	if len(r.pieces) == 0 {
		return nil
	}
	m := Object{{"role", Raw(r.pieces[0].role)}}
	var parts, calls []json.RawMessage
	var content json.RawMessage
	alone := len(r.pieces) == 1
	rest := codexRest{}
	for _, p := range r.pieces {
		switch {
		case p.call != nil:
			calls = append(calls, Raw(p.call))
		case p.item.Parts == codexWhole && alone || p.item.Parts == codexText && alone && p.role != "assistant":
			content = p.content
		case p.item.Parts == codexWhole && p.content[0] == '[':
			list, _ := parseArray(p.content)
			parts, p.item.Parts = append(parts, list...), len(list)
		case p.item.Parts == codexWhole: // a text, or null
			p.item.Parts = codexText
			parts = append(parts, Raw(Object{{"type", Raw("output_text")}, {"text", p.content}}))
		case p.item.Parts == codexText:
			parts = append(parts, Raw(Object{{"type", Raw("output_text")}, {"text", p.content}}))
		default:
			parts = append(parts, p.content)
		}
		rest.Items = append(rest.Items, p.item)
	}
	switch {
	case parts != nil:
		content = Raw(parts)
	case content == nil && calls == nil:
		content = Raw([]json.RawMessage{})
	}
	if content != nil {
		m = append(m, Field{"content", content})
	}
	if calls != nil {
		m = append(m, Field{"tool_calls", Raw(calls)})
	}
	if id := r.pieces[0].callID; id != nil {
		m = append(m, Field{"tool_call_id", id})
	}
	if line := r.pieces[0].item.Line; line.Object("payload") != nil && textAt(line.Object("payload"), "id") {
		m = append(m, Field{"id", line.Object("payload").Get("id")})
	}
	m = appendTime(m, r.pieces[0].item.Line, "timestamp")
	s := r.stamp
	s.Format, s.Rest = r.format, Raw(rest)
	events := append([]Record{{Chain: r.chain, Line: Raw(append(m, Field{StampKey, Raw(s)}))}}, r.events...)
	r.pieces, r.stamp, r.events = nil, Stamp{}, nil
	for _, record := range events {
		if err := r.out.Record(record); err != nil {
			return err
		}
	}
	return nil
}

// piece returns what a line says to or by the model; ok is false for all other lines.
func (r *codexReader) piece(l codexLine) (p codexPiece, ok bool) {
	switch {
	case l.kind == codexItemLine:
		p, ok = codexPieceOf(l.payload)
	case l.kind == codexEventLine && !l.bare && !r.items:
		p, ok = codexSaid(l.payload)
	}
	if !ok {
		return p, false
	}
	if rest := p.item.Line; l.bare {
		p.item.Line = rest
	} else {
		p.item.Line = l.whole.With("payload", rest)
	}
	return p, true
}

// codexPieceOf reads an item; the line of the piece is the payload's remainder.
func codexPieceOf(payload Object) (p codexPiece, ok bool) {
	kind := payload.Text("type")
	if call, rest := codexCall(payload); call != nil {
		return codexPiece{role: "assistant", call: call, item: codexItem{Line: rest}}, true
	}
	switch {
	case kind == "message", kind == "" && payload.Has("role"): // an item of Responses may leave the type out
		role, content := payload.Text("role"), payload.Get("content")
		if ctxabi.ParseRole(role) == ctxabi.RoleUnknown || role == "tool" || len(content) == 0 || !strings.ContainsRune(`["n`, rune(content[0])) {
			return p, false
		}
		return codexPiece{role: role, content: content, item: codexItem{payload.Without("content"), codexWhole, "content"}}, true
	case kind == "reasoning", strings.HasSuffix(kind, "_call") && kind != "function_call" && kind != "custom_tool_call":
		return codexPiece{role: "assistant", content: Raw(payload), item: codexItem{Object{{"type", payload.Get("type")}}, 1, ""}}, true
	case strings.HasSuffix(kind, "_call_output"):
		id, output := payload.Get("call_id"), payload.Get("output")
		if len(output) == 0 || len(id) == 0 || id[0] != '"' {
			return p, false
		}
		p = codexPiece{role: "tool", callID: id, item: codexItem{payload.Without("call_id", "output"), codexWhole, "output"}}
		switch output[0] {
		case '"', '[':
			p.content = output
		case '{': // as it was once: {"content", "success"}
			o, _ := ParseObject(output)
			if !textAt(o, "content") {
				return p, false
			}
			p.content = o.Get("content")
			p.item.Line, p.item.Key = payload.Without("call_id").With("output", o.Without("content")), "output.content"
		default:
			return p, false
		}
		return p, true
	}
	return p, false
}

// codexSaid reads an event of a rollout that has no items.
func codexSaid(payload Object) (p codexPiece, ok bool) {
	text := func(role, key string) (codexPiece, bool) {
		return codexPiece{role: role, content: payload.Get(key), item: codexItem{payload.Without(key), codexText, key}}, textAt(payload, key)
	}
	switch payload.Text("type") {
	case "user_message":
		return text("user", "message")
	case "agent_message":
		return text("assistant", "message")
	case "agent_reasoning":
		if !textAt(payload, "text") {
			return p, false
		}
		summary := Raw([]Object{{{"type", Raw("summary_text")}, {"text", payload.Get("text")}}})
		return codexPiece{role: "assistant", content: Raw(Object{{"type", Raw("reasoning")}, {"summary", summary}}),
			item: codexItem{payload.Without("text"), 1, "text"}}, true
	case "exec_command_begin":
		if !textAt(payload, "call_id") || !payload.Has("command") {
			return p, false
		}
		return codexPiece{role: "assistant", call: Object{{"id", payload.Get("call_id")}, {"name", Raw("exec_command")}, {"arguments", payload.Get("command")}},
			item: codexItem{Line: payload.Without("call_id", "command")}}, true
	case "exec_command_end":
		for _, key := range []string{"formatted_output", "aggregated_output", "stdout"} {
			if textAt(payload, "call_id") && textAt(payload, key) && payload.Text(key) != "" {
				return codexPiece{role: "tool", callID: payload.Get("call_id"), content: payload.Get(key),
					item: codexItem{payload.Without("call_id", key), codexWhole, key}}, true
			}
		}
	}
	return p, false
}

// codexInstructions are those of a session_meta.
type codexInstructions struct {
	text []byte // nil when it has none, or the same as the one before
	line Object // without them
	key  string // of the payload where they stood
}

func (r *codexReader) instructions(l codexLine) (i codexInstructions) {
	if l.kind != codexMeta {
		return i
	}
	at := "base_instructions.text"
	if l.payload.Object("base_instructions") == nil {
		at = "instructions"
	}
	text := l.payload.at(at)
	if len(text) <= 2 || text[0] != '"' || string(text) == r.told {
		return i
	}
	r.told = string(text)
	i.text, i.key = text, at
	if l.bare {
		i.line = l.whole.withoutAt(at)
	} else {
		i.line = l.whole.withoutAt("payload." + at)
	}
	return i
}

// usage returns the tokens that a call of the model took, as ctxabi reads them;
// nil for other lines, and for one that repeats the last.
func (r *codexReader) usage(l codexLine) Object {
	info := l.payload.Object("info")
	if l.kind != codexEventLine || l.itemType != "token_count" || info == nil {
		return nil
	}
	total := info.Get("total_token_usage")
	repeats := bytes.Equal(total, r.total)
	r.total = total
	last := info.Object("last_token_usage")
	if repeats || !last.Has("input_tokens") {
		return nil
	}
	usage := Object{{"input_tokens", last.Get("input_tokens")}}
	if v := last.Get("cached_input_tokens"); v != nil {
		usage = append(usage, Field{"input_tokens_details", Raw(Object{{"cached_tokens", v}})})
	}
	if v := last.Get("output_tokens"); v != nil {
		usage = append(usage, Field{"output_tokens", v})
	}
	return usage
}

// unspaced is o without blanks, in memory of its own.
func unspaced(o Object) Object {
	c, err := ParseObject(Raw(o))
	if err != nil {
		return o
	}
	return c
}
