package adapter

import (
	"bufio"

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

func exportCodex(src *Source, w io.Writer) error {
	type placed struct {
		file, at int
		line     []byte
	}
	var all []placed
	var lost tally
	var foreign []Record
	file, at := 0, -1
	ours := slices.ContainsFunc(src.Records, func(r Record) bool { _, own := itemStamp(r, codexName); return own })
	children := map[string]int{}
	now := codexEpoch // the time of what stands last
	flush := func() {
		for _, line := range codexForeign(src.Name, foreign, ours, now, &lost) {
			all = append(all, placed{file, at, line})
		}
		foreign = nil
	}
	for _, r := range src.Records {
		s, own := itemStamp(r, codexName)
		if !own {
			if r.Chain != "" {
				children[r.Chain]++
			} else {
				foreign = append(foreign, r)
			}
			continue
		}
		if len(foreign) > 0 && !r.Event { // said before this, and after all that happened before
			flush()
		}
		o, _ := ParseObject(r.Line)
		lines := codexLines(r, o, s, &lost)
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
		lost.add("the session of the child "+chain, fmt.Sprintf("has %d records, and a rollout is of one session; export the child itself", children[chain]))
	}
	b := bufio.NewWriter(w)
	for _, p := range all {
		b.Write(p.line)
		b.WriteByte('\n')
	}
	lost.report(src.Loss)
	return b.Flush()
}

// itemStamp is the stamp of a record that was made of items of a format.
func itemStamp(r Record, format string) (s Stamp, own bool) {
	s, ok := r.Stamp()
	return s, ok && s.Format == format && len(s.At) > 0
}

// codexLines returns the lines that a record was made of.
func codexLines(r Record, o Object, s Stamp, lost *tally) (lines [][]byte) {
	if r.Event {
		if line, ok := r.KeptLine(); ok {
			return [][]byte{line}
		}
		if o.Text("type") == s.Format+keptLarge {
			lost.add("a record", "what was too large for the session at import is not there")
			return nil
		}
		if summary := o.Get("summary"); summary != nil && o.Text("type") == "compaction" {
			line, _ := ParseObject(s.Rest)
			return [][]byte{Raw(line.withAt("payload.message", summary))}
		}
		return [][]byte{s.Rest}
	}
	var rest struct{ Items []json.RawMessage }
	json.Unmarshal(s.Rest, &rest)
	parts, calls := o.Array("content"), o.Array("tool_calls")
	take := func() json.RawMessage {
		if len(parts) == 0 {
			return Raw(nil)
		}
		part := parts[0]
		parts = parts[1:]
		return part
	}
	for _, raw := range rest.Items {
		item, _ := ParseObject(raw)
		line := item.Object("line")
		var n int
		json.Unmarshal(item.Get("parts"), &n)
		bare := line.Object("payload") == nil
		payload, key := line.Object("payload"), item.Text("key")
		if bare {
			payload = line
		}
		switch {
		case n == codexWhole, n == codexText && o.Text("role") != "assistant":
			payload = payload.withAt(key, o.Get("content"))
			if id := o.Get("tool_call_id"); id != nil {
				payload = payload.With("call_id", id)
			}
		case n == codexText:
			part, _ := ParseObject(take())
			payload = payload.withAt(key, part.Get("text"))
		case key == "text": // of what was thought
			part, _ := ParseObject(take())
			if summary := part.Array("summary"); len(summary) > 0 {
				text, _ := ParseObject(summary[0])
				payload = payload.With(key, text.Get("text"))
			}
		case key == "content":
			content := make([]json.RawMessage, 0, n)
			for range n {
				content = append(content, take())
			}
			payload = payload.With(key, Raw(content))
		case n == 1:
			payload, _ = ParseObject(take())
		case len(calls) > 0:
			call, _ := ParseObject(calls[0])
			calls = calls[1:]
			payload = codexCallBack(call, payload)
		}
		if bare {
			lines = append(lines, Raw(payload))
		} else {
			lines = append(lines, Raw(line.With("payload", payload)))
		}
	}
	return lines
}

// codexForeign returns records from elsewhere as lines of a rollout; a session
// that has none of its own gets a first line, too.
func codexForeign(name string, records []Record, ours bool, now string, lost *tally) (lines [][]byte) {
	said := dialogue(records, lost)
	authors(said, lost)
	if len(definitions(records, lost)) > 0 {
		lost.add("events.jsonl", "the format has no place for definitions of tools")
	}
	if i := slices.IndexFunc(said, func(s speech) bool { return codexTime(s.ts) != "" }); i >= 0 && !ours {
		now = codexTime(said[i].ts)
	}
	add := func(kind string, payload Object) {
		if payload.Text("type") == codexThought {
			lost.add("messages.jsonl", "thinking is carried as the user is shown it; the format has no place for its signature")
		}
		lines = append(lines, Raw(Object{{"timestamp", Raw(now)}, {"type", Raw(kind)}, {"payload", Raw(payload)}}))
	}
	message := func(role string, content []Object) {
		add(codexItemLine, Object{{"type", Raw("message")}, {"role", Raw(role)}, {"content", Raw(content)}})
	}
	if !ours {
		var system []string
		for len(said) > 0 && (said[0].role == ctxabi.System || said[0].role == ctxabi.Developer) {
			system, said = append(system, textOf(said[0].parts)), said[1:]
		}
		add(codexMeta, codexSession(name, now, strings.Join(system, "\n\n")))
	}
	for _, s := range said {
		if ts := codexTime(s.ts); ts != "" {
			now = ts
		}
		text := textOf(s.parts)
		switch s.role {
		case ctxabi.Assistant:
			codexAssistant(s, lost, add)
		case ctxabi.User:
			message("user", codexContent(s.where, "input_text", s.parts, lost))
			if text != "" {
				add(codexEventLine, Object{{"type", Raw("user_message")}, {"message", Raw(text)}})
			}
		default:
			message("developer", codexContent(s.where, "input_text", s.parts, lost))
		}
	}
	return lines
}

// codexThought is the type of an event: what the user is shown of what the model thought.
const codexThought = "agent_reasoning"

const codexEpoch = "1970-01-01T00:00:00.000Z"

// codexTime is a time as rollouts have it; "" for what is none.
func codexTime(ts string) string {
	t, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// codexAssistant adds the items of an assistant's message and the results of its calls.
func codexAssistant(s speech, lost *tally, add func(kind string, payload Object)) {
	var said []ctxabi.Part
	say := func() {
		if content := codexContent(s.where, "output_text", said, lost); content != nil {
			add(codexEventLine, Object{{"type", Raw("agent_message")}, {"message", Raw(textOf(said))}})
			add(codexItemLine, Object{{"type", Raw("message")}, {"role", Raw("assistant")}, {"content", Raw(content)}})
		}
		said = nil
	}
	for _, p := range s.parts {
		switch p.Kind {
		case ctxabi.PartThinking:
			say()
			o, _ := ParseObject(p.Raw)
			switch {
			case o.Text("type") == "reasoning" && o.Has("summary"):
				add(codexItemLine, o)
			case o.Text("thinking") != "":
				add(codexEventLine, Object{{"type", Raw(codexThought)}, {"text", o.Get("thinking")}})
			default:
				lost.add(s.where, "the format has no place for thinking that is redacted")
			}
		case ctxabi.PartCall:
			say()
			arguments := p.Call.Arguments
			if arguments == "" {
				arguments = "{}"
			}
			add(codexItemLine, Object{{"type", Raw("function_call")}, {"name", Raw(p.Call.Name)}, {"arguments", Raw(arguments)}, {"call_id", Raw(p.Call.ID)}})
		default:
			said = append(said, p)
		}
	}
	say()
	for _, a := range s.answers {
		output := Raw(textOf(a.inner))
		if slices.ContainsFunc(a.inner, func(p ctxabi.Part) bool { return p.Kind == ctxabi.PartData }) {
			output = Raw(codexContent(s.where, "input_text", a.inner, lost))
		}
		if a.IsError {
			lost.add(s.where, "the format has no mark for a result that is an error")
		}
		add(codexItemLine, Object{{"type", Raw("function_call_output")}, {"call_id", Raw(a.CallID)}, {"output", output}})
	}
}

func codexContent(where, kind string, parts []ctxabi.Part, lost *tally) (content []Object) {
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartText:
			content = append(content, Object{{"type", Raw(kind)}, {"text", Raw(p.Text)}})
		case ctxabi.PartData:
			if d, ok := readDatum(p.Raw); ok && d.isImage() && kind == "input_text" {
				content = append(content, Object{{"type", Raw("input_image")}, {"image_url", Raw(d.dataURL())}})
				continue
			}
			lost.add(where, "the format has no place for data of this kind; its type stands there")
			content = append(content, Object{{"type", Raw(kind)}, {"text", Raw(marker(p.Raw))}})
		}
	}
	return content
}

// codexSession is the payload of the first line.
func codexSession(name, now, instructions string) Object {
	sum := sha256.Sum256([]byte(name + "\x00" + now))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8: made of something of one's own
	id := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	meta := Object{{"id", Raw(id)}, {"timestamp", Raw(now)}, {"cwd", Raw("/")}, {"originator", Raw("ctxfs")}, {"cli_version", Raw("0.0.0")}, {"source", Raw("cli")}}
	if instructions != "" {
		meta = append(meta, Field{"base_instructions", Raw(Object{{"text", Raw(instructions)}})})
	}
	return meta
}
