package opencode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// writer makes messages of opencode of what was said elsewhere.
type writer struct {
	src       *adapter.Source
	lost      adapter.Tally
	sessionID string
	info      adapter.Object // of the session that was imported
	last      string         // the id of the message before
	now       float64        // when the last message was begun, in milliseconds
	made      int

	done  []json.RawMessage
	open  adapter.Object // an answer whose calls may get results
	parts []adapter.Object
}

func newWriter(src *adapter.Source) *writer {
	return &writer{src: src, sessionID: "ses_" + strings.Repeat(adapter.SourceID([]byte(src.Name), 0), 3)[:26]}
}

// session is the head of a document that never was one of opencode.
func (x *writer) session() adapter.Object {
	created := adapter.Raw(int64(x.now))
	return adapter.Object{{"info", adapter.Raw(adapter.Object{{"id", adapter.Raw(x.sessionID)}, {"slug", adapter.Raw("ctxfs")}, {"projectID", adapter.Raw("global")},
		{"directory", adapter.Raw("/")}, {"title", adapter.Raw(x.src.Name)}, {"version", adapter.Raw("1.0.0")},
		{"time", adapter.Raw(adapter.Object{{"created", created}, {"updated", created}})}})}}
}

// id is an id that opencode sorts behind those before it, the same at every export.
func (x *writer) id(kind string) string {
	x.made++
	at := (uint64(x.now)*0x1000 + uint64(x.made)) & (1<<48 - 1)
	h := adapter.SourceID([]byte(x.src.Name), x.made) + adapter.SourceID([]byte(x.src.Name), -x.made)
	return fmt.Sprintf("%s_%012x%s", kind, at, h[:14])
}

// begin ends the message before and begins the info of one.
func (x *writer) begin(t adapter.Turn, role string) adapter.Object {
	x.end()
	if at, err := time.Parse(time.RFC3339Nano, t.Ts); err == nil && float64(at.UnixMilli()) > x.now {
		x.now = float64(at.UnixMilli())
	}
	id := x.id("msg")
	info := adapter.Object{{"id", adapter.Raw(id)}, {"sessionID", adapter.Raw(x.sessionID)}, {"role", adapter.Raw(role)}}
	if role == "assistant" {
		info = append(info, adapter.Field{"parentID", adapter.Raw(cmp.Or(x.last, id))})
	}
	x.last = id
	return info
}

// part adds a part to the message.
func (x *writer) part(fields ...adapter.Field) {
	own := adapter.Object{{"id", adapter.Raw(x.id("prt"))}, {"sessionID", adapter.Raw(x.sessionID)}, {"messageID", adapter.Raw(x.last)}}
	x.parts = append(x.parts, append(own, fields...))
}

// end ends a message.
func (x *writer) end() {
	if x.open != nil {
		if x.parts == nil {
			x.parts = []adapter.Object{}
		}
		x.done = append(x.done, adapter.Raw(adapter.Object{{"info", adapter.Raw(x.open)}, {"parts", adapter.Raw(x.parts)}}))
	}
	x.open, x.parts = nil, nil
}

// flush returns the messages that were made.
func (x *writer) flush() []json.RawMessage {
	x.end()
	done := x.done
	x.done = nil
	return done
}

func (x *writer) turn(t adapter.Turn) {
	where := adapter.RecordName(t.Record)
	var stray []adapter.TurnResult
	for _, res := range t.Results {
		if !x.result(where, res) {
			stray = append(stray, res)
		}
	}
	if t.Role == ctxabi.Assistant && !t.Compaction {
		x.answer(where, t)
		return
	}
	texts := t.Texts
	for _, res := range stray {
		x.lost.Add(where, "a result of a call that is not in the message before is written as a text of the user")
		texts = append(texts, res.Parts...)
	}
	if len(texts) == 0 {
		return
	}
	if t.Role == ctxabi.System || t.Role == ctxabi.Developer {
		x.lost.Add(where, "the format has no place for a system message; the user says it")
	}
	info := x.begin(t, "user")
	model := adapter.Object{{"providerID", adapter.Raw("ctxfs")}, {"modelID", adapter.Raw("unknown")}}
	x.open = append(info, adapter.Field{"time", adapter.Raw(adapter.Object{{"created", adapter.Raw(int64(x.now))}})},
		adapter.Field{"agent", adapter.Raw("build")}, adapter.Field{"model", adapter.Raw(model)})
	x.say(texts)
}

// say adds texts and images.
func (x *writer) say(parts []adapter.TurnPart) {
	for _, p := range parts {
		if p.Image == "" {
			x.part(adapter.Field{"type", adapter.Raw("text")}, adapter.Field{"text", adapter.Raw(p.Text)})
			continue
		}
		x.part(adapter.Field{"type", adapter.Raw("file")}, adapter.Field{"mime", adapter.Raw(cmp.Or(p.Mime, "image/png"))}, adapter.Field{"url", adapter.Raw(p.Image)})
	}
}

// answer adds what the model said; its calls have no results yet.
func (x *writer) answer(where string, t adapter.Turn) {
	info := x.begin(t, "assistant")
	now := adapter.Raw(int64(x.now))
	var u ctxabi.Usage
	if t.Usage != nil {
		u = *t.Usage
	}
	tokens := adapter.Object{{"input", adapter.Raw(u.Input - u.CacheRead)}, {"output", adapter.Raw(u.Output)}, {"reasoning", adapter.Raw(0)},
		{"cache", adapter.Raw(adapter.Object{{"read", adapter.Raw(u.CacheRead)}, {"write", adapter.Raw(0)}})}}
	x.open = append(info, adapter.Field{"mode", adapter.Raw("build")}, adapter.Field{"agent", adapter.Raw("build")},
		adapter.Field{"path", adapter.Raw(adapter.Object{{"cwd", adapter.Raw("/")}, {"root", adapter.Raw("/")}})},
		adapter.Field{"cost", adapter.Raw(0)}, adapter.Field{"tokens", adapter.Raw(tokens)},
		adapter.Field{"modelID", adapter.Raw("unknown")}, adapter.Field{"providerID", adapter.Raw("ctxfs")},
		adapter.Field{"time", adapter.Raw(adapter.Object{{"created", now}, {"completed", now}})}, adapter.Field{"finish", adapter.Raw("stop")})
	times := adapter.Field{"time", adapter.Raw(adapter.Object{{"start", now}, {"end", now}})}
	for _, raw := range t.Thinking {
		th := adapter.ThoughtOf(raw)
		if th.Signature {
			x.lost.Add(where, "the format has no place for the signature of thinking")
		}
		if th.Text != "" {
			x.part(adapter.Field{"type", adapter.Raw("reasoning")}, adapter.Field{"text", adapter.Raw(th.Text)}, times)
		}
	}
	x.say(t.Texts)
	for _, c := range t.Calls {
		args, ok := adapter.JsonObject(c.Arguments)
		if !ok {
			x.lost.Add(where, adapter.ArgumentsInObject)
		}
		state := adapter.Object{{"status", adapter.Raw("error")}, {"input", args}, {"error", adapter.Raw("(The session has no result of this call.)")}, times}
		x.part(adapter.Field{"type", adapter.Raw("tool")}, adapter.Field{"tool", adapter.Raw(c.Name)}, adapter.Field{"callID", adapter.Raw(c.ID)}, adapter.Field{"state", adapter.Raw(state)})
	}
}

// result puts what a call gave to the call; ok is false when it is not in the message before.
func (x *writer) result(where string, res adapter.TurnResult) (ok bool) {
	for i, p := range x.parts {
		if p.Text("callID") != res.CallID || res.CallID == "" {
			continue
		}
		was := p.Object("state")
		state := adapter.Object{{"status", adapter.Raw("completed")}, {"input", was.Get("input")}, {"output", adapter.Raw(adapter.PartsText(res.Parts))},
			{"title", adapter.Raw("")}, {"metadata", adapter.Raw(adapter.Object{})}, {"time", was.Get("time")}}
		if res.IsError {
			state = adapter.Object{{"status", adapter.Raw("error")}, {"input", was.Get("input")}, {"error", adapter.Raw(adapter.PartsText(res.Parts))}, {"time", was.Get("time")}}
		}
		if adapter.HasImage(res.Parts) {
			x.lost.Add(where, "images in a result have no place in the format")
		}
		x.parts[i] = p.With("state", adapter.Raw(state))
		return true
	}
	return false
}
