package pi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// exportSession writes the lines that were imported as they were, and behind them what was said since.
func exportSession(src *adapter.Source, w io.Writer) error {
	x := writer{src: src, ts: "1970-01-01T00:00:00.000Z"}
	records := adapter.OfChain(src.Records, "", &x.lost)
	all := adapter.OwnRecords(records, formatName, &x.lost)
	slices.SortStableFunc(all, func(a, b adapter.Own) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.At, b.At))
	})
	for _, own := range all {
		x.out.Write(own.Raw)
		x.out.WriteByte('\n')
		if o, err := adapter.ParseObject(own.Raw); err == nil && o.Text("type") != "session" {
			x.last = cmp.Or(o.Text("id"), x.last)
			x.ts = cmp.Or(adapter.AppendTime(nil, o, "timestamp").Text("ts"), x.ts)
		}
	}
	for _, t := range adapter.ReadTurns(records, formatName, picture.Any, &x.lost) {
		if t.Own {
			continue
		}
		x.ts = cmp.Or(t.Ts, x.ts)
		if x.out.Len() == 0 {
			x.head()
		}
		x.turn(t)
	}
	if x.out.Len() == 0 && len(records) > 0 {
		x.head()
	}
	x.lost.Report(src.Loss)
	_, err := w.Write(x.out.Bytes())
	return err
}

// writer makes entries of what was said elsewhere, each the child of the one before.
type writer struct {
	src  *adapter.Source
	lost adapter.Tally
	out  bytes.Buffer
	last string // the id of the entry before
	ts   string
	made int
}

func (x *writer) head() {
	h := strings.Repeat(adapter.SourceID([]byte(x.src.Name), 0), 3)
	id := h[:8] + "-" + h[8:12] + "-8" + h[12:15] + "-8" + h[15:18] + "-" + h[18:30]
	x.write(adapter.Object{{"type", adapter.Raw("session")}, {"version", adapter.Raw(3)}, {"id", adapter.Raw(id)}, {"timestamp", adapter.Raw(x.ts)}, {"cwd", adapter.Raw("/")}})
}

func (x *writer) write(o adapter.Object) {
	x.out.Write(adapter.Raw(o))
	x.out.WriteByte('\n')
}

// entry writes an entry with these fields.
func (x *writer) entry(kind string, fields ...adapter.Field) {
	x.made++
	id := adapter.SourceID([]byte(x.src.Name+"\x00"+x.ts), x.made)[:8]
	parent := adapter.Raw(nil)
	if x.last != "" {
		parent = adapter.Raw(x.last)
	}
	x.last = id
	x.write(append(adapter.Object{{"type", adapter.Raw(kind)}, {"id", adapter.Raw(id)}, {"parentId", parent}, {"timestamp", adapter.Raw(x.ts)}}, fields...))
}

func (x *writer) message(m adapter.Object) {
	var ms int64
	if at, err := time.Parse(time.RFC3339Nano, x.ts); err == nil {
		ms = at.UnixMilli()
	}
	x.entry("message", adapter.Field{"message", adapter.Raw(append(m, adapter.Field{"timestamp", adapter.Raw(ms)}))})
}

func (x *writer) turn(t adapter.Turn) {
	where := adapter.RecordName(t.Record)
	if t.Compaction {
		x.entry("compaction", adapter.Field{"summary", adapter.Raw(adapter.PartsText(t.Texts))},
			adapter.Field{"firstKeptEntryId", adapter.Raw(x.last)}, adapter.Field{"tokensBefore", adapter.Raw(0)})
		return
	}
	for _, res := range t.Results {
		if res.CallID == "" {
			x.lost.Add(where, "a result of a call that nobody made is written as a message")
			x.message(adapter.Object{{"role", adapter.Raw("user")}, {"content", adapter.Raw(x.parts(where, res.Parts))}})
			continue
		}
		x.message(adapter.Object{{"role", adapter.Raw("toolResult")}, {"toolCallId", adapter.Raw(res.CallID)}, {"toolName", adapter.Raw(res.Name)},
			{"content", adapter.Raw(x.parts(where, res.Parts))}, {"isError", adapter.Raw(res.IsError)}})
	}
	if len(t.Texts)+len(t.Calls)+len(t.Thinking) == 0 {
		return
	}
	if t.Role == ctxabi.Assistant {
		x.answer(where, t)
		return
	}
	if t.Role == ctxabi.System || t.Role == ctxabi.Developer {
		x.lost.Add(where, "the format has no place for a system message; the user says it")
	}
	x.message(adapter.Object{{"role", adapter.Raw("user")}, {"content", adapter.Raw(x.parts(where, t.Texts))}})
}

// answer writes what the model said. Only the signatures of Anthropic's models go along.
func (x *writer) answer(where string, t adapter.Turn) {
	content := []json.RawMessage{}
	for _, raw := range t.Thinking {
		o, _ := adapter.ParseObject(raw)
		th := adapter.ThoughtOf(raw)
		part := adapter.Object{{"type", adapter.Raw("thinking")}, {"thinking", adapter.Raw(th.Text)}}
		if s := o.Get("signature"); adapter.IsString(s) {
			part = append(part, adapter.Field{"thinkingSignature", s})
		} else if th.Signature {
			x.lost.Add(where, "encrypted reasoning of another provider has no place in the format")
		}
		if th.Text != "" {
			content = append(content, adapter.Raw(part))
		}
	}
	content = append(content, x.parts(where, t.Texts)...)
	stop := "stop"
	for _, c := range t.Calls {
		args, ok := adapter.JsonObject(c.Arguments)
		if !ok {
			x.lost.Add(where, adapter.ArgumentsInObject)
		}
		stop = "toolUse"
		content = append(content, adapter.Raw(adapter.Object{{"type", adapter.Raw("toolCall")}, {"id", adapter.Raw(c.ID)}, {"name", adapter.Raw(c.Name)}, {"arguments", args}}))
	}
	var u ctxabi.Usage
	if t.Usage != nil {
		u = *t.Usage
	}
	none := adapter.Raw(0)
	usage := adapter.Object{{"input", adapter.Raw(u.Input - u.CacheRead - u.CacheWrite)}, {"output", adapter.Raw(u.Output)}, {"cacheRead", adapter.Raw(u.CacheRead)}, {"cacheWrite", adapter.Raw(u.CacheWrite)},
		{"totalTokens", adapter.Raw(u.Input + u.Output)}, {"cost", adapter.Raw(adapter.Object{{"input", none}, {"output", none}, {"cacheRead", none}, {"cacheWrite", none}, {"total", none}})}}
	x.message(adapter.Object{{"role", adapter.Raw("assistant")}, {"content", adapter.Raw(content)}, {"api", adapter.Raw("anthropic-messages")}, {"provider", adapter.Raw("ctxfs")},
		{"model", adapter.Raw("unknown")}, {"usage", adapter.Raw(usage)}, {"stopReason", adapter.Raw(stop)}})
}

// parts are texts and images as pi has them.
func (x *writer) parts(where string, parts []adapter.TurnPart) []json.RawMessage {
	all := []json.RawMessage{}
	for _, p := range parts {
		media, data, inline := strings.Cut(strings.TrimPrefix(p.Image, "data:"), ";base64,")
		switch {
		case p.Image == "":
			all = append(all, adapter.Raw(adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(p.Text)}}))
		case inline:
			all = append(all, adapter.Raw(adapter.Object{{"type", adapter.Raw("image")}, {"data", adapter.Raw(data)}, {"mimeType", adapter.Raw(media)}}))
		default:
			x.lost.Add(where, "an image that is only an address has no place in the format; the address is a text")
			all = append(all, adapter.Raw(adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(p.Image)}}))
		}
	}
	return all
}
