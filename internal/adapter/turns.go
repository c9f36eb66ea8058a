package adapter

import (
	"encoding/json"
	"fmt"
	"mime"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// turn is what somebody says in a session, in the words of no format: a
// message, or the answer to a call. Formats write the sessions of others from these.
type turn struct {
	record int // the place of the one it is from
	own    bool
	role   ctxabi.Role
	ts     string // ISO 8601, or ""

	texts    []turnPart // texts and images, in order
	thinking []json.RawMessage
	calls    []ctxabi.Call // each has an id
	results  []turnResult
	usage    *ctxabi.Usage // what the provider says of the call that gave it

	compaction bool // no message: the conversation was compacted here; texts has the summary
}

type turnPart struct {
	text  string
	image string // its URL, which may be data:; "" for a text
	mime  string
}

type turnResult struct {
	callID  string
	name    string
	parts   []turnPart
	isError bool
}

// turnReader makes turns of records. A call without an id gets one, and a
// result without one answers the calls in their order.
type turnReader struct {
	where   string // of the record that is read
	lost    *tally
	turns   []turn
	open    []string // calls that are not answered
	names   map[string]string
	counter int
}

// readTurns makes turns of the records of one chain. Those of records that an
// import of the format made are own; what these cannot carry is no loss.
func readTurns(records []Record, format string, lost *tally) []turn {
	r := turnReader{lost: lost, names: map[string]string{}}
	for i, rec := range records {
		n, own := len(r.turns), isOwn(rec, format)
		if r.lost = lost; own {
			r.lost = &tally{}
		}
		r.where = recordName(i)
		if rec.Event {
			r.event(rec)
		} else {
			r.message(rec)
		}
		for ; n < len(r.turns); n++ {
			r.turns[n].record, r.turns[n].own = i, own
		}
	}
	return r.turns
}

// recordName names a record of a session for a [Loss], by its place among all.
func recordName(i int) string { return fmt.Sprintf("record %d", i+1) }

func (r *turnReader) message(rec Record) {
	m, parts := ctxabi.DecodeParts(rec.Line)
	t := turn{role: m.Role, ts: timeOf(m.TS)}
	if m.Role == ctxabi.RoleUnknown {
		t.role, t.texts = ctxabi.User, []turnPart{{text: m.Text}}
		r.turns = append(r.turns, t)
		return
	}
	if m.Name != "" && m.Role != ctxabi.Tool {
		r.lost.add(r.where, noAuthor)
	}
	besideTexts(rec, func(what string) { r.lost.add(r.where, what) })
	own := func(p ctxabi.Part, to *[]turnPart) {
		switch p.Kind {
		case ctxabi.PartText:
			*to = append(*to, turnPart{text: p.Text})
		case ctxabi.PartData:
			if image, ok := imagePart(p.Raw); ok {
				*to = append(*to, image)
			} else {
				r.lost.add(r.where, "data that is not an image, such as audio and files, has no place in the format")
			}
		}
	}
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartThinking:
			t.thinking = append(t.thinking, p.Raw)
		case ctxabi.PartCall:
			t.calls = append(t.calls, r.call(p.Call))
		case ctxabi.PartResult:
			res := turnResult{callID: r.answered(p.Result.CallID), isError: p.Result.IsError}
			res.name = r.names[res.callID]
			for _, inner := range p.Inner {
				own(inner, &res.parts)
			}
			t.results = append(t.results, res)
		default:
			own(p, &t.texts)
		}
	}
	if m.Role == ctxabi.Tool && len(t.results) == 0 {
		res := turnResult{callID: r.answered(m.CallID), name: m.Name, parts: t.texts}
		if res.name == "" {
			res.name = r.names[res.callID]
		}
		t.texts, t.results = nil, []turnResult{res}
	}
	r.turns = append(r.turns, t)
}

func (r *turnReader) call(c ctxabi.Call) ctxabi.Call {
	if c.ID == "" {
		r.counter++
		c.ID = fmt.Sprintf("call_%d", r.counter)
	}
	r.open = append(r.open, c.ID)
	r.names[c.ID] = c.Name
	return c
}

// answered returns the id of the call that a result is of, "" for one that nobody made.
func (r *turnReader) answered(id string) string {
	if id == "" && len(r.open) > 0 {
		id = r.open[0]
	}
	i := slices.Index(r.open, id)
	if i < 0 {
		if _, known := r.names[id]; known {
			return id
		}
		return ""
	}
	r.open = slices.Delete(r.open, i, i+1)
	return id
}

func (r *turnReader) event(rec Record) {
	if e, ok := ctxabi.DecodeToolEvent(rec.Line); ok {
		t := turn{ts: recordTime(rec)}
		if !e.IsResult {
			if _, known := r.names[e.CallID]; known && e.CallID != "" {
				return // the message that made it has it
			}
			t.role, t.calls = ctxabi.Assistant, []ctxabi.Call{r.call(ctxabi.Call{ID: e.CallID, Name: e.Name, Arguments: e.Arguments})}
		} else {
			if _, known := r.names[e.CallID]; known && e.CallID != "" && !slices.Contains(r.open, e.CallID) {
				return // the message that answered it has it
			}
			res := turnResult{callID: r.answered(e.CallID), name: e.Name, isError: e.Failed, parts: []turnPart{{text: e.Text}}}
			t.role, t.results = ctxabi.Tool, []turnResult{res}
		}
		r.turns = append(r.turns, t)
		return
	}
	if u, ok := ctxabi.DecodeUsage(rec.Line); ok {
		for i := len(r.turns) - 1; i >= 0; i-- {
			if r.turns[i].role == ctxabi.Assistant && !r.turns[i].compaction {
				if r.turns[i].usage == nil {
					r.turns[i].usage = &u
				}
				return
			}
		}
		return
	}
	kind := rec.eventType()
	switch kind {
	case sweAgentName + "/step", openHandsName + openHandsArray:
		return // these repeat messages, and say how they were written
	case "compaction":
		t := turn{compaction: true, ts: recordTime(rec)}
		o, _ := ParseObject(rec.Line)
		if s := o.Text("summary"); s != "" {
			t.texts = []turnPart{{text: s}}
		}
		r.turns = append(r.turns, t)
		return
	}
	r.lost.add(r.where, fmt.Sprintf("events of type %q have no place in the format", kind))
}

func recordTime(rec Record) string {
	o, _ := ParseObject(rec.Line)
	return timeOf(o.Text("ts"))
}

// timeOf returns ts when it is a time in ISO 8601 that readers of transcripts take, else "".
func timeOf(ts string) string {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"} {
		if _, err := time.Parse(layout, ts); err == nil {
			return ts
		}
	}
	return ""
}

// text is all text of parts, joined by newlines.
func partsText(parts []turnPart) string {
	var texts []string
	for _, p := range parts {
		if p.image == "" {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n")
}

func hasImage(parts []turnPart) bool {
	return slices.ContainsFunc(parts, func(p turnPart) bool { return p.image != "" })
}

// imagePart returns an image of a record by its URL, which is data: where the record holds the image itself.
func imagePart(raw []byte) (p turnPart, ok bool) {
	o, err := ParseObject(raw)
	if err != nil {
		return p, false
	}
	switch o.Text("type") {
	case "image", "image_url", "input_image":
	default:
		return p, false
	}
	source := o.Object("source")
	switch {
	case source.Text("data") != "" && strings.HasPrefix(source.Text("media_type"), "image/"):
		p.mime = source.Text("media_type")
		p.image = "data:" + p.mime + ";base64," + source.Text("data")
		return p, true
	case o.Text("data") != "":
		p.mime = o.Text("mimeType")
		if p.mime == "" {
			p.mime = "image/png"
		}
		p.image = "data:" + p.mime + ";base64," + o.Text("data")
		return p, true
	}
	for _, url := range []string{o.Text("image_url"), o.Object("image_url").Text("url"), source.Text("url"), source.Text("path")} {
		if url == "" {
			continue
		}
		p.image = url
		if rest, isData := strings.CutPrefix(url, "data:"); isData {
			p.mime, _, _ = strings.Cut(rest, ";")
		} else if p.mime = source.Text("media_type"); p.mime == "" {
			p.mime, _, _ = strings.Cut(mime.TypeByExtension(path.Ext(url)), ";")
		}
		return p, true
	}
	return p, false
}

// thought is what a part of thinking says, and what a reader needs beside its words.
type thought struct {
	text      string
	signature bool // it has one, or is encrypted
}

func thoughtOf(raw json.RawMessage) thought {
	o, _ := ParseObject(raw)
	t := thought{text: o.Text("thinking")}
	if t.text == "" {
		t.text = o.Text("text")
	}
	for _, list := range []string{"summary", "content"} {
		for _, item := range o.Array(list) {
			inner, err := ParseObject(item)
			s := inner.Text("text")
			if err != nil {
				json.Unmarshal(item, &s)
			}
			if s != "" && t.text != "" {
				t.text += "\n"
			}
			t.text += s
		}
	}
	t.signature = o.Text("signature") != "" || o.Text("data") != "" || o.Text("encrypted_content") != ""
	return t
}
