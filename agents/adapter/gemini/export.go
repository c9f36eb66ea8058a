package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// exportCLI writes lines as Gemini CLI does, and one document where the chat came as one.
func exportCLI(src *adapter.Source, w io.Writer) error {
	x := writer{src: src}
	records := adapter.OfChain(src.Records, "", &x.lost)
	if doc, ok := x.document(records); ok {
		x.lost.Report(src.Loss)
		_, err := w.Write(append(doc, '\n'))
		return err
	}
	all := adapter.OwnRecords(records, cliName, &x.lost)
	at := adapter.Own{}
	if len(all) == 0 && len(records) > 0 {
		all = append(all, adapter.Own{Raw: x.head()})
	}
	for _, t := range adapter.ReadTurns(records, cliName, picture.Gemini, &x.lost) {
		if t.Own {
			if s, ok := records[t.Record].Stamp(); ok {
				at = adapter.Own{File: s.File, At: s.At[len(s.At)-1]}
			}
			continue
		}
		for _, o := range x.turn(t) {
			at.Raw = adapter.Raw(o)
			all = append(all, at)
		}
	}
	x.flush(func(o adapter.Object) {
		at.Raw = adapter.Raw(o)
		all = append(all, at)
	})
	slices.SortStableFunc(all, func(a, b adapter.Own) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.At, b.At))
	})
	x.lost.Report(src.Loss)
	var b bytes.Buffer
	for _, own := range all {
		b.Write(own.Raw)
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writer writes what others than an import of the format wrote.
type writer struct {
	src  *adapter.Source
	lost adapter.Tally
	made int
	ts   string

	open  adapter.Object // the last answer, whose calls may get results
	calls []adapter.Object
}

// document is the chat as one document, with what was said since; ok is false where it did not come so.
func (x *writer) document(records []adapter.Record) (doc []byte, ok bool) {
	set := adapter.NewSourceSet(records, cliName)
	last := set.Last[""]
	if last == nil {
		return nil, false
	}
	raw, ok := set.Source("", last.ID)
	if !ok {
		return nil, false
	}
	o, _ := adapter.ParseObject(raw)
	list := o.Array("messages")
	add := func(m adapter.Object) { list = append(list, adapter.Raw(m)) }
	for _, t := range adapter.ReadTurns(records, cliName, picture.Gemini, &x.lost) {
		if !t.Own {
			for _, m := range x.turn(t) {
				add(m)
			}
		}
	}
	x.flush(add)
	set.Report(&x.lost)
	return adapter.Raw(o.With("messages", adapter.Raw(list))), true
}

// head is the first line of a chat that never was one of Gemini CLI.
func (x *writer) head() json.RawMessage {
	for _, r := range x.src.Records {
		o, _ := adapter.ParseObject(r.Line)
		if x.ts = cmp.Or(x.ts, adapter.AppendTime(nil, o, "ts").Text("ts")); x.ts != "" {
			break
		}
	}
	x.ts = cmp.Or(x.ts, "1970-01-01T00:00:00.000Z")
	hash := adapter.SourceID([]byte(x.src.Name), 0)
	return adapter.Raw(adapter.Object{{"sessionId", adapter.Raw(x.id())}, {"projectHash", adapter.Raw(strings.Repeat(hash, 6)[:64])},
		{"startTime", adapter.Raw(x.ts)}, {"lastUpdated", adapter.Raw(x.ts)}, {"kind", adapter.Raw("main")}})
}

// id is an id of a message's own, the same at every export.
func (x *writer) id() string {
	x.made++
	h := adapter.SourceID([]byte(x.src.Name+"\x00"+x.ts), x.made) + adapter.SourceID([]byte(x.ts), -x.made) + adapter.SourceID([]byte(x.src.Name), x.made)
	return fmt.Sprintf("%s-%s-4%s-8%s-%s", h[:8], h[8:12], h[12:15], h[15:18], h[18:30])
}

// message is the beginning of a message.
func (x *writer) message(kind string, content []json.RawMessage) adapter.Object {
	if content == nil {
		content = []json.RawMessage{}
	}
	return adapter.Object{{"id", adapter.Raw(x.id())}, {"timestamp", adapter.Raw(x.ts)}, {"type", adapter.Raw(kind)}, {"content", adapter.Raw(content)}}
}

// turn returns the messages that are complete before or with a turn. An answer waits for the results of its calls.
func (x *writer) turn(t adapter.Turn) (all []adapter.Object) {
	where := adapter.RecordName(t.Record)
	x.ts = cmp.Or(t.Ts, x.ts, "1970-01-01T00:00:00.000Z")
	add := func(o adapter.Object) { all = append(all, o) }
	for _, res := range t.Results {
		x.result(where, res, add)
	}
	if len(t.Texts)+len(t.Calls)+len(t.Thinking) == 0 {
		return all
	}
	x.flush(add)
	if t.Role != ctxabi.Assistant || t.Compaction {
		if t.Role == ctxabi.System || t.Role == ctxabi.Developer {
			x.lost.Add(where, "the format has no place for a system message; the user says it")
		}
		add(x.message("user", x.parts(where, t.Texts)))
		return all
	}
	m := x.message("gemini", x.parts(where, t.Texts))
	thoughts := []json.RawMessage{}
	for _, raw := range t.Thinking {
		th := adapter.ThoughtOf(raw)
		if th.Signature {
			x.lost.Add(where, "the format has no place for the signature of thinking")
		}
		if th.Text != "" {
			thoughts = append(thoughts, adapter.Raw(adapter.Object{{"subject", adapter.Raw("")}, {"description", adapter.Raw(th.Text)}, {"timestamp", adapter.Raw(x.ts)}}))
		}
	}
	x.open = append(m, adapter.Field{"thoughts", adapter.Raw(thoughts)})
	if u := t.Usage; u != nil {
		tokens := adapter.Object{{"input", adapter.Raw(u.Input)}, {"output", adapter.Raw(u.Output)}, {"cached", adapter.Raw(u.CacheRead)}, {"thoughts", adapter.Raw(0)}, {"tool", adapter.Raw(0)}, {"total", adapter.Raw(u.Input + u.Output)}}
		x.open = append(x.open, adapter.Field{"tokens", adapter.Raw(tokens)})
	}
	for _, c := range t.Calls {
		args, ok := adapter.JsonObject(c.Arguments)
		if !ok {
			x.lost.Add(where, adapter.ArgumentsInObject)
		}
		x.calls = append(x.calls, adapter.Object{{"id", adapter.Raw(c.ID)}, {"name", adapter.Raw(c.Name)}, {"args", args}, {"status", adapter.Raw("cancelled")}, {"timestamp", adapter.Raw(x.ts)}})
	}
	return all
}

// flush ends the last answer.
func (x *writer) flush(add func(adapter.Object)) {
	if x.open == nil {
		return
	}
	if x.calls != nil {
		x.open = append(x.open, adapter.Field{"toolCalls", adapter.Raw(x.calls)})
	}
	add(x.open)
	x.open, x.calls = nil, nil
}

// result puts what a call gave to the call.
func (x *writer) result(where string, res adapter.TurnResult, add func(adapter.Object)) {
	key, status := "output", "success"
	if res.IsError {
		key, status = "error", "error"
	}
	response := adapter.Object{{"id", adapter.Raw(res.CallID)}, {"name", adapter.Raw(res.Name)}, {"response", adapter.Raw(adapter.Object{{key, adapter.Raw(adapter.PartsText(res.Parts))}})}}
	given := []json.RawMessage{adapter.Raw(adapter.Object{{"functionResponse", adapter.Raw(response)}})}
	for _, p := range res.Parts {
		if p.Image != "" {
			given = append(given, x.parts(where, []adapter.TurnPart{p})...)
		}
	}
	for i, c := range x.calls {
		if c.Text("id") == res.CallID && res.CallID != "" {
			x.calls[i] = c.With("result", adapter.Raw(given)).With("status", status)
			return
		}
	}
	x.flush(add)
	if res.CallID == "" {
		x.lost.Add(where, "a result of a call that nobody made is written as a message")
		add(x.message("user", x.parts(where, res.Parts)))
		return
	}
	add(x.message("user", given))
}

// parts are texts and images as the API has them.
func (x *writer) parts(where string, parts []adapter.TurnPart) (all []json.RawMessage) {
	for _, p := range parts {
		media, data, inline := strings.Cut(strings.TrimPrefix(p.Image, "data:"), ";base64,")
		switch {
		case p.Image == "":
			all = append(all, adapter.Raw(adapter.Object{{"text", adapter.Raw(p.Text)}}))
		case inline:
			all = append(all, adapter.Raw(adapter.Object{{"inlineData", adapter.Raw(adapter.Object{{"mimeType", adapter.Raw(media)}, {"data", adapter.Raw(data)}})}}))
		default:
			all = append(all, adapter.Raw(adapter.Object{{"fileData", adapter.Raw(adapter.Object{{"mimeType", adapter.Raw(cmp.Or(p.Mime, "image/png"))}, {"fileUri", adapter.Raw(p.Image)}})}}))
		}
	}
	return all
}
