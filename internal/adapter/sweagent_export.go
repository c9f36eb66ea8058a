package adapter

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// sweWriter writes a trajectory: the document that was imported last, and behind
// its lists what others than an import wrote.
type sweWriter struct {
	src   *Source
	lost  *tally
	doc   *tree
	isNew bool
	where string
}

func newSWEWriter(src *Source, format string) (*sweWriter, []turn) {
	x := &sweWriter{src: src, lost: &tally{}, doc: &tree{raw: json.RawMessage("{}")}, isNew: true}
	records := ofChain(src.Records, "", x.lost)
	set := newSourceSet(records, format)
	if last := set.last[""]; last != nil {
		if raw, ok := set.source("", last.id); ok {
			x.doc.raw, x.isNew = raw, false
			set.report(x.lost)
		} else {
			x.lost.add("the document", "the trajectory that was imported cannot be put together again: its records have changed")
		}
	}
	var turns []turn
	for _, t := range readTurns(records, format, x.lost) {
		if !t.own {
			turns = append(turns, t)
		}
	}
	if x.isNew && len(turns) == 0 {
		x.lost.add("the session", "says nothing; the trajectory has no messages")
	}
	return x, turns
}

// add puts v behind what is in the list at key.
func (x *sweWriter) add(key string, v any) {
	x.doc.open()
	list := x.doc.child(key)
	n := 0
	if list != nil {
		if list.open(); list.kind == '[' {
			n = len(list.childs)
		}
	}
	x.doc.put(key+"."+strconv.Itoa(n), Raw(v))
}

func (x *sweWriter) flush(w io.Writer) error {
	x.lost.report(x.src.Loss)
	var b bytes.Buffer
	if err := json.Indent(&b, x.doc.bytes(), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// content is a text, or parts where there are images.
func sweContent(parts []turnPart) json.RawMessage {
	if !hasImage(parts) {
		return Raw(partsText(parts))
	}
	var list []json.RawMessage
	for _, p := range parts {
		if p.image != "" {
			list = append(list, imageURLPart(Raw(p.image)))
		} else {
			list = append(list, textPart(Raw(p.text)))
		}
	}
	return Raw(list)
}

// assistant is an answer in the form of OpenAI's Chat.
func (x *sweWriter) assistant(t turn) Object {
	m := Object{{"role", Raw("assistant")}, {"content", sweContent(t.texts)}}
	var blocks []json.RawMessage
	var texts []string
	for _, raw := range t.thinking {
		o, _ := ParseObject(raw)
		th := thoughtOf(raw)
		if kind := o.Text("type"); kind == "thinking" || kind == "redacted_thinking" {
			blocks = append(blocks, raw)
			continue
		}
		if th.text != "" {
			texts = append(texts, th.text)
		}
		if th.signature {
			x.lost.add(x.where, "encrypted reasoning of another provider has no place in the format")
		}
	}
	if len(blocks) == 0 && len(texts) > 0 {
		blocks = append(blocks, thinkingPart(Raw(strings.Join(texts, "\n\n"))))
	}
	if len(blocks) > 0 {
		m = append(m, Field{"thinking_blocks", Raw(blocks)})
	}
	if len(t.calls) > 0 {
		calls := []Object{}
		for _, c := range t.calls {
			function := Object{{"name", Raw(c.Name)}, {"arguments", Raw(c.Arguments)}}
			calls = append(calls, Object{{"function", Raw(function)}, {"id", Raw(c.ID)}, {"type", Raw("function")}})
		}
		m = append(m, Field{"tool_calls", Raw(calls)})
	}
	return m
}

// other is a message that is no answer and no result.
func (x *sweWriter) other(t turn) Object {
	role := "user"
	switch {
	case t.compaction:
		x.lost.add(x.where, "a compaction is written as what the user says")
	case t.role == ctxabi.System, t.role == ctxabi.Developer:
		role = "system"
	}
	return Object{{"role", Raw(role)}, {"content", sweContent(t.texts)}}
}

// result is what a call gave, as a message that names the call by key.
func (x *sweWriter) result(r turnResult) Object {
	if r.isError {
		x.lost.add(x.where, "that a call failed has no place in the format")
	}
	if r.callID == "" {
		return Object{{"role", Raw("user")}, {"content", sweContent(r.parts)}}
	}
	return Object{{"role", Raw("tool")}, {"content", sweContent(r.parts)}, {"tool_call_id", Raw(r.callID)}}
}

// sweAction is what SWE-agent calls the action of an answer: the command of a shell, or the call.
func sweAction(calls []ctxabi.Call) string {
	var actions []string
	for _, c := range calls {
		o, _ := ParseObject([]byte(c.Arguments))
		command := o.Text("command")
		if command == "" || len(o) != 1 {
			command = strings.TrimSpace(c.Name + " " + c.Arguments)
		}
		actions = append(actions, command)
	}
	return strings.Join(actions, "\n")
}

func exportSWEAgent(src *Source, w io.Writer) error {
	x, turns := newSWEWriter(src, sweAgentName)
	var step Object // the last one, which may have its results behind it
	var seen []string
	flush := func() {
		if step != nil {
			x.add("trajectory", step.With("observation", strings.Join(seen, "\n")))
		}
		step, seen = nil, nil
	}
	sent, received, calls := 0, 0, 0
	if x.isNew {
		x.doc.put("environment", Raw(src.Name))
		x.doc.put("trajectory", json.RawMessage("[]"))
		x.doc.put("history", json.RawMessage("[]"))
	}
	for _, t := range turns {
		x.where = recordName(t.record)
		for _, r := range t.results {
			m := x.result(r)
			if id := m.Get("tool_call_id"); id != nil {
				m = append(m.Without("tool_call_id"), Field{"tool_call_ids", Raw([]json.RawMessage{id})})
			}
			x.add("history", append(m, Field{"agent", Raw("main")}, Field{"message_type", Raw("observation")}))
			seen = append(seen, partsText(r.parts))
		}
		if len(t.results) > 0 && len(t.texts)+len(t.calls)+len(t.thinking) == 0 {
			continue
		}
		flush()
		if t.role != ctxabi.Assistant || t.compaction {
			kind := "observation"
			if t.role == ctxabi.System {
				kind = "system_prompt"
			}
			x.add("history", append(x.other(t), Field{"agent", Raw("main")}, Field{"message_type", Raw(kind)}))
			continue
		}
		text, action := partsText(t.texts), sweAction(t.calls)
		x.add("history", append(x.assistant(t), Field{"thought", Raw(text)}, Field{"action", Raw(action)},
			Field{"agent", Raw("main")}, Field{"message_type", Raw("action")}))
		step = Object{{"action", Raw(action)}, {"observation", Raw("")}, {"response", Raw(text)}, {"thought", Raw(text)},
			{"execution_time", Raw(0)}, {"state", Raw(Object{})}, {"query", Raw([]string{})}, {"extra_info", Raw(Object{})}}
		calls++
		if t.usage != nil {
			sent, received = sent+t.usage.Input, received+t.usage.Output
		}
	}
	flush()
	if x.isNew {
		stats := Object{{"instance_cost", Raw(0)}, {"tokens_sent", Raw(sent)}, {"tokens_received", Raw(received)}, {"api_calls", Raw(calls)}}
		x.doc.put("info", Raw(Object{{"model_stats", Raw(stats)}, {"exit_status", Raw(nil)}, {"submission", Raw(nil)}}))
	}
	return x.flush(w)
}

func exportMiniAgent(src *Source, w io.Writer) error {
	x, turns := newSWEWriter(src, miniAgentName)
	if x.isNew {
		x.doc.put("info", Raw(Object{}))
		x.doc.put("messages", json.RawMessage("[]"))
		x.doc.put("trajectory_format", Raw("mini-swe-agent-1.1"))
	}
	calls := 0
	for _, t := range turns {
		x.where = recordName(t.record)
		extra := Object{}
		if at, err := time.Parse(time.RFC3339Nano, t.ts); err == nil {
			extra = append(extra, Field{"timestamp", json.RawMessage(strconv.FormatFloat(float64(at.UnixMicro())/1e6, 'f', -1, 64))})
		}
		for _, r := range t.results {
			x.add("messages", append(x.result(r), Field{"extra", Raw(extra)}))
		}
		if len(t.results) > 0 && len(t.texts)+len(t.calls)+len(t.thinking) == 0 {
			continue
		}
		if t.role != ctxabi.Assistant || t.compaction {
			x.add("messages", append(x.other(t), Field{"extra", Raw(extra)}))
			continue
		}
		calls++
		actions := []Object{}
		for _, c := range t.calls {
			actions = append(actions, Object{{"command", Raw(sweAction([]ctxabi.Call{c}))}, {"tool_call_id", Raw(c.ID)}})
		}
		extra = append(extra, Field{"actions", Raw(actions)})
		if u := t.usage; u != nil {
			usage := Object{{"prompt_tokens", Raw(u.Input)}, {"completion_tokens", Raw(u.Output)}, {"total_tokens", Raw(u.Input + u.Output)}}
			if u.Caches {
				usage = append(usage, Field{"prompt_tokens_details", Raw(Object{{"cached_tokens", Raw(u.CacheRead)}})})
			}
			extra = append(extra, Field{"response", Raw(Object{{"usage", Raw(usage)}})})
		}
		x.add("messages", append(x.assistant(t), Field{"extra", Raw(extra)}))
	}
	if x.isNew {
		stats := Object{{"instance_cost", Raw(0)}, {"api_calls", Raw(calls)}}
		x.doc.put("info", Raw(Object{{"model_stats", Raw(stats)}, {"config", Raw(Object{})}, {"exit_status", Raw("")}, {"submission", Raw("")}}))
	}
	return x.flush(w)
}
