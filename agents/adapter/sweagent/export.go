package sweagent

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/picture"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// sweWriter writes a trajectory: the document that was imported last, and behind
// its lists what others than an import wrote.
type sweWriter struct {
	src   *adapter.Source
	lost  *adapter.Tally
	doc   *adapter.Tree
	isNew bool
	where string
}

func newSWEWriter(src *adapter.Source, format string) (*sweWriter, []adapter.Turn) {
	x := &sweWriter{src: src, lost: &adapter.Tally{}, doc: &adapter.Tree{Raw: json.RawMessage("{}")}, isNew: true}
	records := adapter.OfChain(src.Records, "", x.lost)
	set := adapter.NewSourceSet(records, format)
	if last := set.Last[""]; last != nil {
		if raw, ok := set.Source("", last.ID); ok {
			x.doc.Raw, x.isNew = raw, false
			set.Report(x.lost)
		} else {
			x.lost.Add("the document", "the trajectory that was imported cannot be put together again: its records have changed")
		}
	}
	var turns []adapter.Turn
	for _, t := range adapter.ReadTurns(records, format, picture.Any, x.lost) {
		if !t.Own {
			turns = append(turns, t)
		}
	}
	if x.isNew && len(turns) == 0 {
		x.lost.Add("the session", "is empty; the trajectory has no messages")
	}
	return x, turns
}

// add puts v behind what is in the list at key.
func (x *sweWriter) add(key string, v any) {
	x.doc.Open()
	list := x.doc.Child(key)
	n := 0
	if list != nil {
		if list.Open(); list.Kind == '[' {
			n = len(list.Childs)
		}
	}
	x.doc.Put(key+"."+strconv.Itoa(n), adapter.Raw(v))
}

func (x *sweWriter) flush(w io.Writer) error {
	x.lost.Report(x.src.Loss)
	var b bytes.Buffer
	if err := json.Indent(&b, x.doc.Bytes(), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// content is a text, or parts where there are images.
func sweContent(parts []adapter.TurnPart) json.RawMessage {
	if !adapter.HasImage(parts) {
		return adapter.Raw(adapter.PartsText(parts))
	}
	var list []json.RawMessage
	for _, p := range parts {
		if p.Image != "" {
			list = append(list, adapter.ImageURLPart(adapter.Raw(p.Image)))
		} else {
			list = append(list, adapter.TextPart(adapter.Raw(p.Text)))
		}
	}
	return adapter.Raw(list)
}

// assistant is an answer in the form of OpenAI's Chat.
func (x *sweWriter) assistant(t adapter.Turn) adapter.Object {
	m := adapter.Object{{"role", adapter.Raw("assistant")}, {"content", sweContent(t.Texts)}}
	var blocks []json.RawMessage
	var texts []string
	for _, raw := range t.Thinking {
		o, _ := adapter.ParseObject(raw)
		th := adapter.ThoughtOf(raw)
		if kind := o.Text("type"); kind == "thinking" || kind == "redacted_thinking" {
			blocks = append(blocks, raw)
			continue
		}
		if th.Text != "" {
			texts = append(texts, th.Text)
		}
		if th.Signature {
			x.lost.Add(x.where, "encrypted reasoning of another provider has no place in the format")
		}
	}
	if len(blocks) == 0 && len(texts) > 0 {
		blocks = append(blocks, adapter.ThinkingPart(adapter.Raw(strings.Join(texts, "\n\n"))))
	}
	if len(blocks) > 0 {
		m = append(m, adapter.Field{"thinking_blocks", adapter.Raw(blocks)})
	}
	if len(t.Calls) > 0 {
		calls := []adapter.Object{}
		for _, c := range t.Calls {
			function := adapter.Object{{"name", adapter.Raw(c.Name)}, {"arguments", adapter.Raw(c.Arguments)}}
			calls = append(calls, adapter.Object{{"function", adapter.Raw(function)}, {"id", adapter.Raw(c.ID)}, {"type", adapter.Raw("function")}})
		}
		m = append(m, adapter.Field{"tool_calls", adapter.Raw(calls)})
	}
	return m
}

// other is a message that is no answer and no result.
func (x *sweWriter) other(t adapter.Turn) adapter.Object {
	role := "user"
	switch {
	case t.Compaction:
		x.lost.Add(x.where, "a compaction is written as a message of the user")
	case t.Role == ctxabi.System, t.Role == ctxabi.Developer:
		role = "system"
	}
	return adapter.Object{{"role", adapter.Raw(role)}, {"content", sweContent(t.Texts)}}
}

// result is what a call gave, as a message that names the call by key.
func (x *sweWriter) result(r adapter.TurnResult) adapter.Object {
	if r.IsError {
		x.lost.Add(x.where, "that a call failed has no place in the format")
	}
	if r.CallID == "" {
		return adapter.Object{{"role", adapter.Raw("user")}, {"content", sweContent(r.Parts)}}
	}
	return adapter.Object{{"role", adapter.Raw("tool")}, {"content", sweContent(r.Parts)}, {"tool_call_id", adapter.Raw(r.CallID)}}
}

// sweAction is what SWE-agent calls the action of an answer: the command of a shell, or the call.
func sweAction(calls []ctxabi.Call) string {
	var actions []string
	for _, c := range calls {
		o, _ := adapter.ParseObject([]byte(c.Arguments))
		command := o.Text("command")
		if command == "" || len(o) != 1 {
			command = strings.TrimSpace(c.Name + " " + c.Arguments)
		}
		actions = append(actions, command)
	}
	return strings.Join(actions, "\n")
}

func exportSWEAgent(src *adapter.Source, w io.Writer) error {
	x, turns := newSWEWriter(src, adapter.SweAgentName)
	var step adapter.Object // the last one, which may have its results behind it
	var seen []string
	flush := func() {
		if step != nil {
			x.add("trajectory", step.With("observation", strings.Join(seen, "\n")))
		}
		step, seen = nil, nil
	}
	sent, received, calls := 0, 0, 0
	if x.isNew {
		x.doc.Put("environment", adapter.Raw(src.Name))
		x.doc.Put("trajectory", json.RawMessage("[]"))
		x.doc.Put("history", json.RawMessage("[]"))
	}
	for _, t := range turns {
		x.where = adapter.RecordName(t.Record)
		for _, r := range t.Results {
			m := x.result(r)
			if id := m.Get("tool_call_id"); id != nil {
				m = append(m.Without("tool_call_id"), adapter.Field{"tool_call_ids", adapter.Raw([]json.RawMessage{id})})
			}
			x.add("history", append(m, adapter.Field{"agent", adapter.Raw("main")}, adapter.Field{"message_type", adapter.Raw("observation")}))
			seen = append(seen, adapter.PartsText(r.Parts))
		}
		if len(t.Results) > 0 && len(t.Texts)+len(t.Calls)+len(t.Thinking) == 0 {
			continue
		}
		flush()
		if t.Role != ctxabi.Assistant || t.Compaction {
			kind := "observation"
			if t.Role == ctxabi.System {
				kind = "system_prompt"
			}
			x.add("history", append(x.other(t), adapter.Field{"agent", adapter.Raw("main")}, adapter.Field{"message_type", adapter.Raw(kind)}))
			continue
		}
		text, action := adapter.PartsText(t.Texts), sweAction(t.Calls)
		x.add("history", append(x.assistant(t), adapter.Field{"thought", adapter.Raw(text)}, adapter.Field{"action", adapter.Raw(action)},
			adapter.Field{"agent", adapter.Raw("main")}, adapter.Field{"message_type", adapter.Raw("action")}))
		step = adapter.Object{{"action", adapter.Raw(action)}, {"observation", adapter.Raw("")}, {"response", adapter.Raw(text)}, {"thought", adapter.Raw(text)},
			{"execution_time", adapter.Raw(0)}, {"state", adapter.Raw(adapter.Object{})}, {"query", adapter.Raw([]string{})}, {"extra_info", adapter.Raw(adapter.Object{})}}
		calls++
		if t.Usage != nil {
			sent, received = sent+t.Usage.Input, received+t.Usage.Output
		}
	}
	flush()
	if x.isNew {
		stats := adapter.Object{{"instance_cost", adapter.Raw(0)}, {"tokens_sent", adapter.Raw(sent)}, {"tokens_received", adapter.Raw(received)}, {"api_calls", adapter.Raw(calls)}}
		x.doc.Put("info", adapter.Raw(adapter.Object{{"model_stats", adapter.Raw(stats)}, {"exit_status", adapter.Raw(nil)}, {"submission", adapter.Raw(nil)}}))
	}
	return x.flush(w)
}

func exportMiniAgent(src *adapter.Source, w io.Writer) error {
	x, turns := newSWEWriter(src, miniAgentName)
	if x.isNew {
		x.doc.Put("info", adapter.Raw(adapter.Object{}))
		x.doc.Put("messages", json.RawMessage("[]"))
		x.doc.Put("trajectory_format", adapter.Raw("mini-swe-agent-1.1"))
	}
	calls := 0
	for _, t := range turns {
		x.where = adapter.RecordName(t.Record)
		extra := adapter.Object{}
		if at, err := time.Parse(time.RFC3339Nano, t.Ts); err == nil {
			extra = append(extra, adapter.Field{"timestamp", json.RawMessage(strconv.FormatFloat(float64(at.UnixMicro())/1e6, 'f', -1, 64))})
		}
		for _, r := range t.Results {
			x.add("messages", append(x.result(r), adapter.Field{"extra", adapter.Raw(extra)}))
		}
		if len(t.Results) > 0 && len(t.Texts)+len(t.Calls)+len(t.Thinking) == 0 {
			continue
		}
		if t.Role != ctxabi.Assistant || t.Compaction {
			x.add("messages", append(x.other(t), adapter.Field{"extra", adapter.Raw(extra)}))
			continue
		}
		calls++
		actions := []adapter.Object{}
		for _, c := range t.Calls {
			actions = append(actions, adapter.Object{{"command", adapter.Raw(sweAction([]ctxabi.Call{c}))}, {"tool_call_id", adapter.Raw(c.ID)}})
		}
		extra = append(extra, adapter.Field{"actions", adapter.Raw(actions)})
		if u := t.Usage; u != nil {
			usage := adapter.Object{{"prompt_tokens", adapter.Raw(u.Input)}, {"completion_tokens", adapter.Raw(u.Output)}, {"total_tokens", adapter.Raw(u.Input + u.Output)}}
			if u.Caches {
				usage = append(usage, adapter.Field{"prompt_tokens_details", adapter.Raw(adapter.Object{{"cached_tokens", adapter.Raw(u.CacheRead)}})})
			}
			extra = append(extra, adapter.Field{"response", adapter.Raw(adapter.Object{{"usage", adapter.Raw(usage)}})})
		}
		x.add("messages", append(x.assistant(t), adapter.Field{"extra", adapter.Raw(extra)}))
	}
	if x.isNew {
		stats := adapter.Object{{"instance_cost", adapter.Raw(0)}, {"api_calls", adapter.Raw(calls)}}
		x.doc.Put("info", adapter.Raw(adapter.Object{{"model_stats", adapter.Raw(stats)}, {"config", adapter.Raw(adapter.Object{})}, {"exit_status", adapter.Raw("")}, {"submission", adapter.Raw("")}}))
	}
	return x.flush(w)
}
