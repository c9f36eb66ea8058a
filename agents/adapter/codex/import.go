package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Reader reads one rollout, or the items of another format that has them.
type Reader struct {
	Format  string
	Chain   string
	In      *adapter.Input
	Out     adapter.Output
	Counter adapter.Counter
	Items   bool // the rollout has items; else what its events say is all there is

	// The message that is being put together, of items that an assistant says
	// behind each other.
	Stamp  adapter.Stamp
	Pieces []Piece
	events []adapter.Record // of lines between these: records go out in the order in which they begin

	total   []byte   // the token counts of the last event that had some
	thought thoughts // what its reasoning items say

	told string // the instructions that the last session_meta had
}

func importCodex(in *adapter.Input, out adapter.Output) error {
	var list []adapter.Line
	var parsed []codexLine
	r := Reader{Format: codexName, Chain: in.Chain, In: in, Out: out, Counter: adapter.Counter{}}
	lines := adapter.NewLines(in.R)
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
		r.Items = r.Items || c.kind == ItemLine
		list, parsed = append(list, l), append(parsed, c)
	}
	copied, err := copiedLines(parsed, in.From)
	if err != nil {
		return err
	}
	r.thought = thoughtsIn(parsed)
	left := adapter.Stamp{Format: codexName}
	for at, l := range list {
		raw := l.Bytes
		if l.Problem == "" {
			raw = adapter.CompactJSON(raw)
		}
		s := adapter.Stamp{Format: codexName, IDs: []string{r.Counter.ID(raw)}, At: []int{at}}
		if in.Chain != "" && at > 0 && at < copied {
			in.HasSaid(raw)
			if r.usage(parsed[at]); !in.Seen(in.Chain, s.IDs[0]) {
				left.IDs, left.At = append(left.IDs, s.IDs[0]), append(left.At, at)
			}
			continue
		}
		if err := r.leave(&left); err != nil {
			return err
		}
		if l.Problem != "" {
			if err = r.Flush(); err == nil {
				err = l.Keep(in, out, s, l.Problem)
			}
		} else {
			err = r.line(parsed[at], raw, s)
		}
		if err != nil {
			return err
		}
	}
	if err := r.leave(&left); err != nil {
		return err
	}
	return r.Flush()
}

// line takes a line. One that the session has is only looked at for what later ones are compared with.
func (r *Reader) line(l codexLine, raw []byte, s adapter.Stamp) error {
	usage := r.usage(l)
	instructions := r.instructions(l)
	p, ok := r.piece(l, s.At[0])
	if r.In.Seen(r.Chain, s.IDs[0]) {
		if ok || instructions.text != nil {
			r.In.HasSaid(raw)
		}
		return nil
	}
	if ok {
		p.Item.Line = unspaced(p.Item.Line)
		if p.Role == "assistant" {
			r.Pieces = append(r.Pieces, p)
			r.Stamp.IDs, r.Stamp.At = append(r.Stamp.IDs, s.IDs[0]), append(r.Stamp.At, s.At[0])
			return nil
		}
		if err := r.Flush(); err != nil {
			return err
		}
		r.Pieces, r.Stamp = []Piece{p}, s
		return r.Flush()
	}
	s.Rest = raw
	switch {
	case instructions.text != nil:
		if err := r.Flush(); err != nil {
			return err
		}
		r.Pieces, r.Stamp = []Piece{{Role: "system", Content: instructions.text, Item: Item{instructions.line, Text, instructions.key}}}, s
		return r.Flush()
	case l.kind == codexCompacted:
		if err := r.Flush(); err != nil {
			return err
		}
		if summary, ok := adapter.SummaryEvent(l.payload.Text("message")); ok {
			return r.record(summary, l, s, &adapter.Compacted{})
		}
		o := adapter.Object{{"type", adapter.Raw("compaction")}}
		if adapter.TextAt(l.payload, "message") {
			o = append(o, adapter.Field{"summary", l.payload.Get("message")})
			s.Rest = adapter.Raw(l.whole.WithoutAt("payload.message"))
		}
		return r.event(o, l, s)
	case usage != nil:
		return r.event(adapter.Object{{"type", adapter.Raw("usage")}, {"usage", adapter.Raw(usage)}}, l, s)
	}
	if l.kind == codexEventLine && !r.Items && slices.Contains(codexRepeated, l.itemType) {
		r.Out.Loss(adapter.Loss{Where: fmt.Sprintf("line %d", s.At[0]+1),
			What: fmt.Sprintf("a record of type %q is not read, and no item says the same; it is kept in an event", l.name())})
	}
	return r.event(adapter.Object{{"type", adapter.Raw(r.Format + "/" + l.name())}}, l, s)
}

func (r *Reader) event(o adapter.Object, l codexLine, s adapter.Stamp) error {
	return r.record(o, l, s, nil)
}

// record emits an event with the time of its line and a stamp, after the messages that are still
// pending. compacted is the range of a compaction summary; it is nil for other events.
func (r *Reader) record(o adapter.Object, l codexLine, s adapter.Stamp, compacted *adapter.Compacted) error {
	o = adapter.AppendTime(o, l.whole, "timestamp")
	line := adapter.Raw(append(o, adapter.Field{adapter.StampKey, adapter.Raw(s)}))
	event := adapter.Record{Chain: r.Chain, Event: true, Line: line, Compacted: compacted}
	if len(r.Pieces) > 0 {
		r.events = append(r.events, event)
		return nil
	}
	return r.Out.Record(event)
}

// Flush puts the message together and out; it returns the error of the output.
func (r *Reader) Flush() error {
	if len(r.Pieces) == 0 {
		return nil
	}
	m := adapter.Object{{"role", adapter.Raw(r.Pieces[0].Role)}}
	var parts, calls []json.RawMessage
	var content json.RawMessage
	alone := len(r.Pieces) == 1
	rest := codexRest{}
	for _, p := range r.Pieces {
		switch {
		case p.call != nil:
			calls = append(calls, adapter.Raw(p.call))
		case p.Item.Parts == codexWhole && alone || p.Item.Parts == Text && alone && p.Role != "assistant":
			content = p.Content
		case p.Item.Parts == codexWhole && p.Content[0] == '[':
			list, _ := adapter.ParseArray(p.Content)
			parts, p.Item.Parts = append(parts, list...), len(list)
		case p.Item.Parts == codexWhole: // a text, or null
			p.Item.Parts = Text
			parts = append(parts, adapter.Raw(adapter.Object{{"type", adapter.Raw("output_text")}, {"text", p.Content}}))
		case p.Item.Parts == Text:
			parts = append(parts, adapter.Raw(adapter.Object{{"type", adapter.Raw("output_text")}, {"text", p.Content}}))
		default:
			parts = append(parts, p.Content)
		}
		rest.Items = append(rest.Items, p.Item)
	}
	switch {
	case parts != nil:
		content = adapter.Raw(parts)
	case content == nil && calls == nil:
		content = adapter.Raw([]json.RawMessage{})
	}
	if content != nil {
		m = append(m, adapter.Field{"content", content})
	}
	if calls != nil {
		m = append(m, adapter.Field{"tool_calls", adapter.Raw(calls)})
	}
	if id := r.Pieces[0].callID; id != nil {
		m = append(m, adapter.Field{"tool_call_id", id})
	}
	if line := r.Pieces[0].Item.Line; line.Object("payload") != nil && adapter.TextAt(line.Object("payload"), "id") {
		m = append(m, adapter.Field{"id", line.Object("payload").Get("id")})
	}
	m = adapter.AppendTime(m, r.Pieces[0].Item.Line, "timestamp")
	s := r.Stamp
	s.Format, s.Rest = r.Format, adapter.Raw(rest)
	events := append([]adapter.Record{{Chain: r.Chain, Line: adapter.Raw(append(m, adapter.Field{adapter.StampKey, adapter.Raw(s)}))}}, r.events...)
	r.Pieces, r.Stamp, r.events = nil, adapter.Stamp{}, nil
	for _, record := range events {
		if err := r.Out.Record(record); err != nil {
			return err
		}
	}
	return nil
}

// piece returns the text or call that the line at index at adds to the conversation. ok is false
// for all other lines.
func (r *Reader) piece(l codexLine, at int) (p Piece, ok bool) {
	switch {
	case l.kind == ItemLine:
		p, ok = codexPieceOf(l.payload)
	case l.kind == codexEventLine && !l.bare && !r.Items, r.thought.lack(l, at):
		p, ok = codexSaid(l.payload)
	}
	if !ok {
		return p, false
	}
	if rest := p.Item.Line; l.bare {
		p.Item.Line = rest
	} else {
		p.Item.Line = l.whole.With("payload", rest)
	}
	return p, true
}

// codexPieceOf reads an item; the line of the piece is the payload's remainder.
func codexPieceOf(payload adapter.Object) (p Piece, ok bool) {
	kind := payload.Text("type")
	if call, rest := codexCall(payload); call != nil {
		return Piece{Role: "assistant", call: call, Item: Item{Line: rest}}, true
	}
	switch {
	case kind == "message", kind == "" && payload.Has("role"): // an item of Responses may leave the type out
		role, content := payload.Text("role"), payload.Get("content")
		if ctxabi.ParseRole(role) == ctxabi.RoleUnknown || role == "tool" || len(content) == 0 || !strings.ContainsRune(`["n`, rune(content[0])) {
			return p, false
		}
		return Piece{Role: role, Content: content, Item: Item{payload.Without("content"), codexWhole, "content"}}, true
	case kind == "reasoning", strings.HasSuffix(kind, "_call") && kind != "function_call" && kind != "custom_tool_call":
		return Piece{Role: "assistant", Content: adapter.Raw(payload), Item: Item{adapter.Object{{"type", payload.Get("type")}}, 1, ""}}, true
	case strings.HasSuffix(kind, "_call_output"):
		id, output := payload.Get("call_id"), payload.Get("output")
		if len(output) == 0 || len(id) == 0 || id[0] != '"' {
			return p, false
		}
		p = Piece{Role: "tool", callID: id, Item: Item{payload.Without("call_id", "output"), codexWhole, "output"}}
		switch output[0] {
		case '"', '[':
			p.Content = output
		case '{': // as it was once: {"content", "success"}
			o, _ := adapter.ParseObject(output)
			if !adapter.TextAt(o, "content") {
				return p, false
			}
			p.Content = o.Get("content")
			p.Item.Line, p.Item.Key = payload.Without("call_id").With("output", o.Without("content")), "output.content"
		default:
			return p, false
		}
		return p, true
	}
	return p, false
}

// codexSaid reads an event of a rollout that has no items.
func codexSaid(payload adapter.Object) (p Piece, ok bool) {
	text := func(role, key string) (Piece, bool) {
		return Piece{Role: role, Content: payload.Get(key), Item: Item{payload.Without(key), Text, key}}, adapter.TextAt(payload, key)
	}
	switch payload.Text("type") {
	case "user_message":
		return text("user", "message")
	case "agent_message":
		return text("assistant", "message")
	case "agent_reasoning":
		if !adapter.TextAt(payload, "text") {
			return p, false
		}
		summary := adapter.Raw([]adapter.Object{{{"type", adapter.Raw("summary_text")}, {"text", payload.Get("text")}}})
		return Piece{Role: "assistant", Content: adapter.Raw(adapter.Object{{"type", adapter.Raw("reasoning")}, {"summary", summary}}),
			Item: Item{payload.Without("text"), 1, "text"}}, true
	case "exec_command_begin":
		if !adapter.TextAt(payload, "call_id") || !payload.Has("command") {
			return p, false
		}
		return Piece{Role: "assistant", call: adapter.Object{{"id", payload.Get("call_id")}, {"name", adapter.Raw("exec_command")}, {"arguments", payload.Get("command")}},
			Item: Item{Line: payload.Without("call_id", "command")}}, true
	case "exec_command_end":
		for _, key := range []string{"formatted_output", "aggregated_output", "stdout"} {
			if adapter.TextAt(payload, "call_id") && adapter.TextAt(payload, key) && payload.Text(key) != "" {
				return Piece{Role: "tool", callID: payload.Get("call_id"), Content: payload.Get(key),
					Item: Item{payload.Without("call_id", key), codexWhole, key}}, true
			}
		}
	}
	return p, false
}

// codexInstructions are those of a session_meta.
type codexInstructions struct {
	text []byte         // nil when it has none, or the same as the one before
	line adapter.Object // without them
	key  string         // of the payload where they stood
}

func (r *Reader) instructions(l codexLine) (i codexInstructions) {
	if l.kind != codexMeta {
		return i
	}
	at := "base_instructions.text"
	if l.payload.Object("base_instructions") == nil {
		at = "instructions"
	}
	text := l.payload.At(at)
	if len(text) <= 2 || text[0] != '"' || string(text) == r.told {
		return i
	}
	r.told = string(text)
	i.text, i.key = text, at
	if l.bare {
		i.line = l.whole.WithoutAt(at)
	} else {
		i.line = l.whole.WithoutAt("payload." + at)
	}
	return i
}

// usage returns the tokens that a call of the model took, as ctxabi reads them;
// nil for other lines, and for one that repeats the last.
func (r *Reader) usage(l codexLine) adapter.Object {
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
	usage := adapter.Object{{"input_tokens", last.Get("input_tokens")}}
	if v := last.Get("cached_input_tokens"); v != nil {
		usage = append(usage, adapter.Field{"input_tokens_details", adapter.Raw(adapter.Object{{"cached_tokens", v}})})
	}
	if v := last.Get("output_tokens"); v != nil {
		usage = append(usage, adapter.Field{"output_tokens", v})
	}
	return usage
}

// unspaced is o without blanks, in memory of its own.
func unspaced(o adapter.Object) adapter.Object {
	c, err := adapter.ParseObject(adapter.Raw(o))
	if err != nil {
		return o
	}
	return c
}
