package codex

import (
	"bufio"
	"cmp"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/picture"

	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func exportCodex(src *adapter.Source, w io.Writer) error {
	type placed struct {
		file, at int
		line     []byte
	}
	var all []placed
	var lost adapter.Tally
	var foreign []adapter.Record
	file, at := 0, -1
	ours := slices.ContainsFunc(src.Records, func(r adapter.Record) bool {
		_, own := ItemStamp(r, codexName)
		return own && r.Chain == ""
	})
	children := map[string]int{}
	now := codexEpoch // the time of what stands last
	flush := func() {
		for _, line := range codexForeign(src.Name, foreign, ours, now, &lost) {
			all = append(all, placed{file, at, line})
		}
		foreign = nil
	}
	for _, r := range src.Records {
		s, own := ItemStamp(r, codexName)
		if r.Chain != "" {
			children[r.Chain]++
			continue
		}
		if !own {
			foreign = append(foreign, r)
			continue
		}
		if r.EventType() == codexCopied {
			where := fmt.Sprintf("%d lines behind line %d", len(s.IDs), s.At[0])
			lost.Add(where, "are a copy of another rollout; export the session that has it")
			continue
		}
		if len(foreign) > 0 && !r.Event { // said before this, and after all that happened before
			flush()
		}
		o, _ := adapter.ParseObject(r.Line)
		lines := Lines(r, o, s, &lost)
		for i, line := range lines {
			at := s.At[min(i, len(s.At)-1)]
			all = append(all, placed{s.File, at, line})
		}
		file, at = s.File, s.At[len(s.At)-1]
		if ts := o.Text("ts"); ts != "" {
			now = ts
		}
	}
	if len(foreign) > 0 || !ours {
		flush()
	}
	// A message of several items has other lines between them.
	slices.SortStableFunc(all, func(a, b placed) int {
		if a.file != b.file {
			return a.file - b.file
		}
		return a.at - b.at
	})
	for _, chain := range slices.Sorted(maps.Keys(children)) {
		lost.Add("the session of the child "+chain, fmt.Sprintf("has %d records, and a rollout is of one session; export the child itself", children[chain]))
	}
	b := bufio.NewWriter(w)
	for _, p := range all {
		b.Write(p.line)
		b.WriteByte('\n')
	}
	lost.Report(src.Loss)
	return b.Flush()
}

// ItemStamp is the stamp of a record that was made of items of a format.
func ItemStamp(r adapter.Record, format string) (s adapter.Stamp, own bool) {
	s, ok := r.Stamp()
	return s, ok && s.Format == format && len(s.At) > 0
}

// Lines returns the lines that a record was made of.
func Lines(r adapter.Record, o adapter.Object, s adapter.Stamp, lost *adapter.Tally) (lines [][]byte) {
	if r.Event {
		if line, ok := r.KeptLine(); ok {
			return [][]byte{line}
		}
		if o.Text("type") == s.Format+adapter.KeptLarge {
			lost.Add("a record", "what was too large for the session at import is missing")
			return nil
		}
		if len(s.Rest) == 0 {
			return nil // the answer itself exports its compaction block
		}
		if summary := o.Get("summary"); summary != nil && o.Text("type") == "compaction" {
			line, _ := adapter.ParseObject(s.Rest)
			return [][]byte{adapter.Raw(line.WithAt("payload.message", summary))}
		}
		return [][]byte{s.Rest}
	}
	var rest struct{ Items []json.RawMessage }
	json.Unmarshal(s.Rest, &rest)
	parts, calls := o.Array("content"), o.Array("tool_calls")
	take := func() json.RawMessage {
		if len(parts) == 0 {
			return adapter.Raw(nil)
		}
		part := parts[0]
		parts = parts[1:]
		return part
	}
	for _, raw := range rest.Items {
		item, _ := adapter.ParseObject(raw)
		line := item.Object("line")
		var n int
		json.Unmarshal(item.Get("parts"), &n)
		bare := line.Object("payload") == nil
		payload, key := line.Object("payload"), item.Text("key")
		if bare {
			payload = line
		}
		switch {
		case n == codexWhole, n == Text && o.Text("role") != "assistant":
			payload = payload.WithAt(key, o.Get("content"))
			if id := o.Get("tool_call_id"); id != nil {
				payload = payload.With("call_id", id)
			}
		case n == Text:
			part, _ := adapter.ParseObject(take())
			payload = payload.WithAt(key, part.Get("text"))
		case key == "text": // of what was thought
			part, _ := adapter.ParseObject(take())
			if summary := part.Array("summary"); len(summary) > 0 {
				text, _ := adapter.ParseObject(summary[0])
				payload = payload.With(key, text.Get("text"))
			}
		case key == "content":
			content := make([]json.RawMessage, 0, n)
			for range n {
				content = append(content, take())
			}
			payload = payload.With(key, adapter.Raw(content))
		case n == 1:
			payload, _ = adapter.ParseObject(take())
		case len(calls) > 0:
			call, _ := adapter.ParseObject(calls[0])
			calls = calls[1:]
			payload = codexCallBack(call, payload)
		}
		if bare {
			lines = append(lines, adapter.Raw(payload))
		} else {
			lines = append(lines, adapter.Raw(line.With("payload", payload)))
		}
	}
	return lines
}

// codexForeign returns records from elsewhere as lines of a rollout; a session
// that has none of its own gets a first line, too.
func codexForeign(name string, records []adapter.Record, ours bool, now string, lost *adapter.Tally) (lines [][]byte) {
	said := adapter.Dialogue(records, lost)
	adapter.Authors(said, lost)
	adapter.AcceptedBy(picture.OpenAI, said, lost)
	Reasoned(said, lost)
	if len(adapter.Definitions(records, lost)) > 0 {
		lost.Add("events.jsonl", "the format has no place for definitions of tools")
	}
	if i := slices.IndexFunc(said, func(s adapter.Speech) bool { return codexTime(s.Ts) != "" }); i >= 0 && !ours {
		now = codexTime(said[i].Ts)
	}
	add := func(kind string, payload adapter.Object) {
		if payload.Text("type") == Thought {
			lost.Add("messages.jsonl", "thinking is carried as the user is shown it; the format has no place for its signature")
		}
		lines = append(lines, adapter.Raw(adapter.Object{{"timestamp", adapter.Raw(now)}, {"type", adapter.Raw(kind)}, {"payload", adapter.Raw(payload)}}))
	}
	message := func(role string, content []adapter.Object) {
		add(ItemLine, adapter.Object{{"type", adapter.Raw("message")}, {"role", adapter.Raw(role)}, {"content", adapter.Raw(content)}})
	}
	if !ours {
		var system []string
		for len(said) > 0 && (said[0].Role == ctxabi.System || said[0].Role == ctxabi.Developer) {
			system, said = append(system, adapter.TextOf(said[0].Parts)), said[1:]
		}
		add(codexMeta, codexSession(name, now, strings.Join(system, "\n\n")))
	}
	for _, s := range said {
		if ts := codexTime(s.Ts); ts != "" {
			now = ts
		}
		text := adapter.TextOf(s.Parts)
		switch s.Role {
		case ctxabi.Assistant:
			Assistant(s, lost, add)
		case ctxabi.User:
			message("user", Content(s.Where, "input_text", s.Parts, lost))
			if text != "" {
				add(codexEventLine, adapter.Object{{"type", adapter.Raw("user_message")}, {"message", adapter.Raw(text)}})
			}
		default:
			message("developer", Content(s.Where, "input_text", s.Parts, lost))
		}
	}
	return lines
}

// Thought is the type of an event: what the user is shown of what the model thought.
const Thought = "agent_reasoning"

const codexEpoch = "1970-01-01T00:00:00.000Z"

// codexTime is a time as rollouts have it; "" for what is none.
func codexTime(ts string) string {
	t, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// Assistant adds the items of an assistant's message and the results of its calls.
func Assistant(s adapter.Speech, lost *adapter.Tally, add func(kind string, payload adapter.Object)) {
	var said []ctxabi.Part
	custom := map[string]bool{} // calls whose arguments are no object
	say := func() {
		if content := Content(s.Where, "output_text", said, lost); content != nil {
			add(codexEventLine, adapter.Object{{"type", adapter.Raw("agent_message")}, {"message", adapter.Raw(adapter.TextOf(said))}})
			add(ItemLine, adapter.Object{{"type", adapter.Raw("message")}, {"role", adapter.Raw("assistant")}, {"content", adapter.Raw(content)}})
		}
		said = nil
	}
	for _, p := range s.Parts {
		switch p.Kind {
		case ctxabi.PartThinking:
			say()
			o, _ := adapter.ParseObject(p.Raw)
			switch {
			case isReasoning(p.Raw):
				add(ItemLine, o)
			case o.Text("thinking") != "":
				add(codexEventLine, adapter.Object{{"type", adapter.Raw(Thought)}, {"text", o.Get("thinking")}})
			default:
				lost.Add(s.Where, "the format has no place for thinking that is redacted")
			}
		case ctxabi.PartCall:
			say()
			arguments, isObject := adapter.JsonObject(p.Call.Arguments)
			if !isObject { // as a freeform call has them
				custom[p.Call.ID] = true
				add(ItemLine, adapter.Object{{"type", adapter.Raw("custom_tool_call")}, {"name", adapter.Raw(p.Call.Name)}, {"input", adapter.Raw(p.Call.Arguments)}, {"call_id", adapter.Raw(p.Call.ID)}})
				continue
			}
			add(ItemLine, adapter.Object{{"type", adapter.Raw("function_call")}, {"name", adapter.Raw(p.Call.Name)}, {"arguments", adapter.Raw(string(arguments))}, {"call_id", adapter.Raw(p.Call.ID)}})
		default:
			said = append(said, p)
		}
	}
	say()
	for _, a := range s.Answers {
		output := adapter.Raw(cmp.Or(adapter.TextOf(a.Inner), adapter.NoText))
		if slices.ContainsFunc(a.Inner, func(p ctxabi.Part) bool { return p.Kind == ctxabi.PartData }) {
			output = adapter.Raw(Content(s.Where, "input_text", a.Inner, lost))
		}
		if a.IsError {
			lost.Add(s.Where, "the format has no mark for a result that is an error")
		}
		kind := "function_call_output"
		if custom[a.CallID] {
			kind = "custom_tool_call_output"
		}
		add(ItemLine, adapter.Object{{"type", adapter.Raw(kind)}, {"call_id", adapter.Raw(a.CallID)}, {"output", output}})
	}
}

func Content(where, kind string, parts []ctxabi.Part, lost *adapter.Tally) (content []adapter.Object) {
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartText:
			content = append(content, adapter.Object{{"type", adapter.Raw(kind)}, {"text", adapter.Raw(p.Text)}})
		case ctxabi.PartData:
			if d, ok := adapter.ReadDatum(p.Raw); ok && d.IsImage() && kind == "input_text" {
				content = append(content, adapter.Object{{"type", adapter.Raw("input_image")}, {"image_url", adapter.Raw(d.DataURL())}})
				continue
			}
			lost.Add(where, "the format has no place for data of this kind; its type replaces it")
			content = append(content, adapter.Object{{"type", adapter.Raw(kind)}, {"text", adapter.Raw(adapter.Marker(p.Raw))}})
		}
	}
	return content
}

// codexSession is the payload of the first line.
func codexSession(name, now, instructions string) adapter.Object {
	sum := sha256.Sum256([]byte(name + "\x00" + now))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8: made of something of one's own
	id := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	meta := adapter.Object{{"id", adapter.Raw(id)}, {"timestamp", adapter.Raw(now)}, {"cwd", adapter.Raw("/")}, {"originator", adapter.Raw("ctxfs")}, {"cli_version", adapter.Raw("0.0.0")}, {"source", adapter.Raw("cli")}}
	if instructions != "" {
		meta = append(meta, adapter.Field{"base_instructions", adapter.Raw(adapter.Object{{"text", adapter.Raw(instructions)}})})
	}
	return meta
}
