package adapter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/calls"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// Turn is what somebody says in a session, in the words of no format: a
// message, or the answer to a call. Formats write the sessions of others from these.
type Turn struct {
	Record int // the place of the one it is from
	Own    bool
	Role   ctxabi.Role
	Ts     string // ISO 8601, or ""

	Texts    []TurnPart // texts and images, in order
	Thinking []json.RawMessage
	Calls    []ctxabi.Call // each has an id
	Results  []TurnResult
	Usage    *ctxabi.Usage // what the provider says of the call that gave it

	Compaction bool // no message: the conversation was compacted here; texts has the summary
}

type TurnPart struct {
	Text  string
	Image string // its URL, which may be data:; "" for a text
	Mime  string
}

type TurnResult struct {
	CallID  string
	Name    string
	Parts   []TurnPart
	IsError bool
}

// turnReader makes turns of records. A call without an id gets one, and a
// result without one answers the calls in their order.
type turnReader struct {
	where   string // of the record that is read
	lost    *Tally
	turns   []Turn
	pairs   calls.Pairs
	counter int
}

// ReadTurns makes turns of the records of one chain. Turns of records that an import of the
// format made are own, and nothing in them is a loss. In the others, data that the provider refuses
// is replaced.
func ReadTurns(records []Record, format string, v picture.Provider, lost *Tally) []Turn {
	r := turnReader{lost: lost}
	accepted := acceptedParts(records, format, v, lost)

	for i, rec := range records {
		n, own := len(r.turns), isOwn(rec, format)
		if r.lost = lost; own {
			r.lost = &Tally{}
		}
		r.where = RecordName(i)
		if rec.Event {
			r.event(rec)
		} else {
			r.message(rec, accepted[i])
		}
		for ; n < len(r.turns); n++ {
			r.turns[n].Record, r.turns[n].Own = i, own
		}
	}
	return r.turns
}

// RecordName names a record of a session for a [Loss], by its place among all.
func RecordName(i int) string { return fmt.Sprintf("record %d", i+1) }

// acceptedParts returns the parts of the messages that have data and are not own, by the place of
// the record, with data that the provider accepts.
func acceptedParts(records []Record, format string, v picture.Provider, lost *Tally) map[int][]ctxabi.Part {
	all := map[int][]ctxabi.Part{}
	var data []*ctxabi.Part
	var of []int

	for i, rec := range records {
		if rec.Event || isOwn(rec, format) || ctxabi.DecodeMessage(rec.Line).Images == 0 {
			continue
		}
		_, all[i] = ctxabi.DecodeParts(rec.Line)
		for k := range all[i] {
			p := &all[i][k]
			p.Inner = slices.Clone(p.Inner)
			for _, list := range [][]ctxabi.Part{all[i][k : k+1], p.Inner} {
				for n := range list {
					if list[n].Kind == ctxabi.PartData {
						data, of = append(data, &list[n]), append(of, i)
					}
				}
			}
		}
	}

	record := func(i int) int { return of[i] }
	AcceptData(v, data, record, func(i int, what string) { lost.Add(RecordName(of[i]), what) })
	return all
}

// message reads a message. accepted are its parts where they are not as the record has them.
func (r *turnReader) message(rec Record, accepted []ctxabi.Part) {
	m, parts := ctxabi.DecodeParts(rec.Line)
	if accepted != nil {
		parts = accepted
	}
	t := Turn{Role: m.Role, Ts: timeOf(m.TS)}
	if m.Role == ctxabi.RoleUnknown {
		t.Role, t.Texts = ctxabi.User, []TurnPart{{Text: m.Text}}
		r.turns = append(r.turns, t)
		return
	}
	if m.Name != "" && m.Role != ctxabi.Tool {
		r.lost.Add(r.where, NoAuthor)
	}
	BesideTexts(rec, func(what string) { r.lost.Add(r.where, what) })
	own := func(p ctxabi.Part, to *[]TurnPart) {
		switch p.Kind {
		case ctxabi.PartText:
			*to = append(*to, TurnPart{Text: p.Text})
		case ctxabi.PartData:
			if image, ok := imagePart(p.Raw); ok {
				*to = append(*to, image)
			} else {
				r.lost.Add(r.where, "data that is not an image, such as audio and files, has no place in the format")
			}
		}
	}
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartThinking:
			t.Thinking = append(t.Thinking, p.Raw)
		case ctxabi.PartCall:
			t.Calls = append(t.Calls, r.call(p.Call))
		case ctxabi.PartResult:
			res := TurnResult{IsError: p.Result.IsError}
			res.CallID, res.Name = r.answered(p.Result.CallID, "")
			for _, inner := range p.Inner {
				own(inner, &res.Parts)
			}
			t.Results = append(t.Results, res)
		default:
			own(p, &t.Texts)
		}
	}
	if m.Role == ctxabi.Tool && len(t.Results) == 0 {
		res := TurnResult{Parts: t.Texts}
		res.CallID, res.Name = r.answered(m.CallID, m.Name)
		res.Name = cmp.Or(m.Name, res.Name)
		t.Texts, t.Results = nil, []TurnResult{res}
	}
	r.turns = append(r.turns, t)
}

func (r *turnReader) call(c ctxabi.Call) ctxabi.Call {
	if c.ID == "" {
		r.counter++
		c.ID = fmt.Sprintf("call_%d", r.counter)
	}
	r.pairs.Add(c.ID, c.Name)
	return c
}

// answered returns the id of the call that a result is of and the name of its tool, "" for a
// result of no call. name is the tool's name in the result.
func (r *turnReader) answered(id, name string) (callID, tool string) {
	n, match := r.pairs.Result(id, name)
	if match == calls.None {
		return "", ""
	}
	return r.pairs.ID(n), r.pairs.Name(n)
}

func (r *turnReader) event(rec Record) {
	if e, ok := ctxabi.DecodeToolEvent(rec.Line); ok {
		t := Turn{Ts: recordTime(rec)}
		if !e.IsResult {
			if r.pairs.Known(e.CallID) {
				return // the message that made it has it
			}
			t.Role, t.Calls = ctxabi.Assistant, []ctxabi.Call{r.call(ctxabi.Call{ID: e.CallID, Name: e.Name, Arguments: e.Arguments})}
		} else {
			if r.pairs.Known(e.CallID) && !r.pairs.Waits(e.CallID) {
				return // the message that answered it has it
			}
			id, _ := r.answered(e.CallID, "")
			res := TurnResult{CallID: id, Name: e.Name, IsError: e.Failed, Parts: []TurnPart{{Text: e.Text}}}
			t.Role, t.Results = ctxabi.Tool, []TurnResult{res}
		}
		r.turns = append(r.turns, t)
		return
	}
	if u, ok := ctxabi.DecodeUsage(rec.Line); ok {
		for i := len(r.turns) - 1; i >= 0; i-- {
			if r.turns[i].Role == ctxabi.Assistant && !r.turns[i].Compaction {
				if r.turns[i].Usage == nil {
					r.turns[i].Usage = &u
				}
				return
			}
		}
		return
	}
	kind := rec.EventType()
	switch kind {
	case SweAgentName + "/step", OpenHandsName + OpenHandsArray:
		return // these repeat messages, and say how they were written
	case "compaction", ctxabi.SummaryEventType:
		t := Turn{Compaction: true, Ts: recordTime(rec)}
		o, _ := ParseObject(rec.Line)
		if kind == ctxabi.SummaryEventType && !o.Has(StampKey) {
			break // the session's own summary, not a compaction in a transcript
		}
		if s := cmp.Or(o.Text("summary"), o.Text("text")); s != "" {
			t.Texts = []TurnPart{{Text: s}}
		}
		r.turns = append(r.turns, t)
		return
	}
	r.lost.Add(r.where, fmt.Sprintf("events of type %q have no place in the format", kind))
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
func PartsText(parts []TurnPart) string {
	var texts []string
	for _, p := range parts {
		if p.Image == "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func HasImage(parts []TurnPart) bool {
	return slices.ContainsFunc(parts, func(p TurnPart) bool { return p.Image != "" })
}

// imagePart returns an image of a record by its URL, which is data: where the record holds the image itself.
func imagePart(raw []byte) (p TurnPart, ok bool) {
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
		p.Mime = source.Text("media_type")
		p.Image = "data:" + p.Mime + ";base64," + source.Text("data")
		return p, true
	case o.Text("data") != "":
		p.Mime = o.Text("mimeType")
		if p.Mime == "" {
			p.Mime = "image/png"
		}
		p.Image = "data:" + p.Mime + ";base64," + o.Text("data")
		return p, true
	}
	for _, url := range []string{o.Text("image_url"), o.Object("image_url").Text("url"), source.Text("url"), source.Text("path")} {
		if url == "" {
			continue
		}
		p.Image = url
		if rest, isData := strings.CutPrefix(url, "data:"); isData {
			p.Mime, _, _ = strings.Cut(rest, ";")
		} else if p.Mime = source.Text("media_type"); p.Mime == "" {
			p.Mime, _, _ = strings.Cut(mime.TypeByExtension(path.Ext(url)), ";")
		}
		return p, true
	}
	return p, false
}

// Thought is a thinking part of an assistant message.
type Thought struct {
	Text      string
	Signature bool // the part is signed or encrypted
}

// ThoughtOf parses a thinking part; fields that are missing stay empty.
func ThoughtOf(raw json.RawMessage) Thought {
	o, _ := ParseObject(raw)
	t := Thought{Text: o.Text("thinking")}
	if t.Text == "" {
		t.Text = o.Text("text")
	}
	for _, list := range []string{"summary", "content"} {
		for _, item := range o.Array(list) {
			inner, err := ParseObject(item)
			s := inner.Text("text")
			if err != nil {
				json.Unmarshal(item, &s)
			}
			if s != "" && t.Text != "" {
				t.Text += "\n"
			}
			t.Text += s
		}
	}
	t.Signature = o.Text("signature") != "" || o.Text("data") != "" || o.Text("encrypted_content") != ""
	return t
}
