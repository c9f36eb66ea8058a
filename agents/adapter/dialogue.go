package adapter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/calls"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Speech is a message that a session holds, for a format it does not come
// from: all calls have their answers, and calls with one id are one call.
type Speech struct {
	Where   string
	Role    ctxabi.Role // all but Tool
	id, Ts  string
	Name    string
	Parts   []ctxabi.Part // texts, data, thinking and calls, in their order
	Answers []Answer      // of the calls, in their order

	Reasoning ctxabi.ChatReasoning // of an assistant, next to its parts
}

// Answer is the result of a call.
type Answer struct {
	ctxabi.Result
	Inner   []ctxabi.Part // its texts and data
	ts      string
	missing bool // the session has none: Text says so
}

const (
	noAnswer    = "(The session has no result of this call.)"
	SystemSays  = "[System message]\n"
	strayAnswer = "[Result of the tool call %s]\n"
	ToolFailed  = "[error]\n"
)

// Dialogue puts the records of one chain into the order in which they are
// said. A result stands at its call. What is no message is lost.
func Dialogue(records []Record, lost *Tally) (all []Speech) {
	d := dialog{lost: lost, ids: calls.IDs{}}
	n := 0
	for _, r := range records {
		if isBodyDocument(r) {
			continue // see definitions
		}
		if r.Event {
			switch program, _, of := strings.Cut(r.EventType(), "/"); {
			case of:
				lost.Add("events.jsonl", "what "+program+" notes beside its messages has no place in the format")
			case program == "usage":
				lost.Add("events.jsonl", "the provider's token counts have no place in the format")
			default:
				lost.Add("events.jsonl", "events of type "+program+" have no place in the format")
			}
			continue
		}
		n++
		m, parts := ctxabi.DecodeParts(r.Line)
		if m.Role == ctxabi.RoleUnknown {
			lost.Add(fmt.Sprintf("record %d", n), "is not a message")
			continue
		}
		where := fmt.Sprintf("record %d of messages.jsonl", n)
		beside(r, where, lost)
		d.said = append(d.said, m)
		d.parts = append(d.parts, parts)
		d.where = append(d.where, where)
		d.lines = append(d.lines, r.Line)
	}
	d.pair()
	for i := range d.said {
		if s := d.speech(i); len(s.Parts) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// beside names what a record has beside what it says.
func beside(r Record, where string, lost *Tally) {
	if s, ok := r.Stamp(); ok && s.Rest != nil {
		rest, _ := ParseObject(s.Rest)
		if (s.Format != OpenAIName && s.Format != AnthropicName) || rest.Has("fields") {
			lost.Add(where, "what "+s.Format+" notes beside the words of a message has no place in the format")
		}
	}
	BesideTexts(r, func(what string) { lost.Add(where, what) })
}

const NoAuthor = "the format has no place for the name of an author"

// Authors names what a format loses that has no place for the name of who speaks.
func Authors(said []Speech, lost *Tally) {
	for _, s := range said {
		if s.Name != "" && s.Role != ctxabi.Tool {
			lost.Add(s.Where, NoAuthor)
		}
	}
}

// BesideTexts names what stands in the parts of a message beside their texts, citations say.
func BesideTexts(r Record, lose func(what string)) {
	o, _ := ParseObject(r.Line)
	for _, raw := range o.Array("content") {
		part, _ := ParseObject(raw)
		if !part.Has("text") {
			continue
		}
		for _, f := range part {
			if f.Key != "type" && f.Key != "text" {
				lose("a field beside a text is left out:  " + f.Key)
			}
		}
	}
}

type dialog struct {
	lost    *Tally
	said    []ctxabi.Message
	parts   [][]ctxabi.Part
	where   []string
	lines   [][]byte
	answers []*Answer  // by the number of the call; nil: there is none
	strays  [][]Answer // of each record, the results of no call
	calls   int        // that speech returned
	ids     calls.IDs
}

// pair finds the call that each result answers, by the rules of package calls. A result that came
// after the assistant continued is the result of its call nevertheless: an export is written once.
func (d *dialog) pair() {
	d.strays = make([][]Answer, len(d.said))
	var pairs calls.Pairs

	for i, m := range d.said {
		result := func(a Answer, name string) {
			if n, match := pairs.Result(a.CallID, name); match == calls.Answer || match == calls.Late {
				d.answers[n] = &a
			} else {
				d.strays[i] = append(d.strays[i], a)
			}
		}
		for _, p := range d.parts[i] {
			switch {
			case p.Kind == ctxabi.PartCall && m.Role == ctxabi.Assistant:
				pairs.Add(p.Call.ID, p.Call.Name)
				d.answers = append(d.answers, nil)
			case p.Kind == ctxabi.PartResult:
				result(Answer{Result: p.Result, Inner: p.Inner, ts: m.TS}, "")
			}
		}
		if m.Role == ctxabi.Tool && len(m.Results) == 0 {
			result(Answer{Result: ctxabi.Result{CallID: m.CallID, Text: m.Text}, Inner: d.parts[i], ts: m.TS}, m.Name)
		}
	}
}

// answer returns the result of the next call.
func (d *dialog) answer() (Answer, bool) {
	a := d.answers[d.calls]
	if d.calls++; a != nil {
		return *a, true
	}
	return Answer{Result: ctxabi.Result{Text: noAnswer}, Inner: []ctxabi.Part{{Kind: ctxabi.PartText, Text: noAnswer}}, missing: true}, false
}

func (d *dialog) speech(i int) Speech {
	m := d.said[i]
	s := Speech{Where: d.where[i], Role: m.Role, id: m.ID, Ts: m.TS, Name: m.Name}
	switch m.Role {
	case ctxabi.Tool:
		s.Role, s.Name = ctxabi.User, ""
	case ctxabi.Assistant:
		s.Reasoning, _ = ctxabi.ReasoningOf(d.lines[i])
	}
	for _, p := range d.parts[i] {
		switch {
		case p.Kind == ctxabi.PartResult || m.Role == ctxabi.Tool && len(m.Results) == 0:
		case p.Kind == ctxabi.PartCall && m.Role != ctxabi.Assistant:
			d.lost.Add(s.Where, "a call that no assistant makes is carried as text")
			if text := strings.TrimSpace(p.Call.Name + " " + p.Call.Arguments); text != "" {
				s.Parts = append(s.Parts, ctxabi.Part{Kind: ctxabi.PartText, Text: text})
			}
		case p.Kind == ctxabi.PartCall:
			a, ok := d.answer()
			if !ok {
				d.lost.Add(s.Where, "a call has no result; a result that states this replaces it")
			}
			p.Call = d.valid(s.Where, p.Call)
			a.CallID = p.Call.ID
			s.Parts, s.Answers = append(s.Parts, p), append(s.Answers, a)
		case p.Kind == ctxabi.PartText && strings.TrimSpace(p.Text) == "":
		default:
			s.Parts = append(s.Parts, p)
		}
	}
	for _, a := range d.strays[i] {
		d.lost.Add(s.Where, "a result of no call is carried as a text of the user")
		s.Parts = append(s.Parts, ctxabi.Part{Kind: ctxabi.PartText, Text: fmt.Sprintf(strayAnswer, a.CallID) + a.Text})
		for _, p := range a.Inner {
			if p.Kind == ctxabi.PartData {
				s.Parts = append(s.Parts, p)
			}
		}
	}
	return s
}

var notWord = lazy.Regexp(`[^a-zA-Z0-9_-]+`)

// RenamedTool is the loss to report if [calls.Name] changes a name.
const RenamedTool = "the name of a tool is not one that the API accepts; it is changed"

// AuthorName converts an author name to the form that OpenAI accepts. The result is never empty.
func AuthorName(name string) string {
	name = notWord().ReplaceAllString(name, "_")
	return name[:min(len(name), 64)]
}

// valid returns the call with a name and an id that the APIs take; each id stands once.
func (d *dialog) valid(where string, c ctxabi.Call) ctxabi.Call {
	if name := calls.Name(c.Name); name != c.Name {
		c.Name = name
		d.lost.Add(where, RenamedTool)
	}
	base := notWord().ReplaceAllString(c.ID, "_")
	base = cmp.Or(base[:min(len(base), 32)], "call")
	id := d.ids.Take(c.ID, base+"_1")
	if c.ID != id && c.ID != "" {
		d.lost.Add(where, "the id of a call appears twice or is not one that the API accepts; it is changed")
	}
	c.ID = id
	return c
}

// text joins the texts of parts.
func TextOf(parts []ctxabi.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Kind == ctxabi.PartText && strings.TrimSpace(p.Text) != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Datum is an image, a sound, or a file of a message part.
type Datum struct {
	Mime   string // "" when an address is all that is known
	Base64 string
	Url    string
	Name   string
}

// DataURL returns Url, or a data URL that contains Base64.
func (d Datum) DataURL() string {
	if d.Url != "" {
		return d.Url
	}
	return "data:" + d.Mime + ";base64," + d.Base64
}

// IsImage reports whether the type is an image type that every provider accepts, or unknown.
func (d Datum) IsImage() bool {
	return d.Mime == "" || slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/gif"}, d.Mime)
}

// ReadDatum reads a part in the form of one of OpenAI's two APIs or of Anthropic's; ok is false for
// any other part.
func ReadDatum(raw []byte) (d Datum, ok bool) {
	o, err := ParseObject(raw)
	if err != nil {
		return d, false
	}
	address := func(url string) bool {
		if inline, is := strings.CutPrefix(url, "data:"); is {
			var found bool
			d.Mime, d.Base64, found = strings.Cut(inline, ";base64,")
			return found && d.Base64 != ""
		}
		d.Url = url
		return strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
	}
	switch kind := o.Text("type"); kind {
	case "image", "document":
		source := o.Object("source")
		d.Name = o.Text("title")
		switch source.Text("type") {
		case "base64":
			d.Mime, d.Base64 = source.Text("media_type"), source.Text("data")
			return d, (d.Mime != "" || kind == "image") && d.Base64 != ""
		case "url":
			if kind == "document" {
				d.Mime = "application/pdf"
			}
			return d, address(source.Text("url"))
		}
		if kind == "image" && o.Text("data") != "" { // as MCP has it
			d.Mime, d.Base64 = o.Text("mimeType"), o.Text("data")
			return d, true
		}
	case "image_url", "input_image":
		if inner := o.Object("image_url"); inner != nil {
			return d, address(inner.Text("url"))
		}
		return d, address(o.Text("image_url"))
	case "computer_screenshot":
		return d, address(cmp.Or(o.Text("image_url"), o.Text("data")))
	case "image_generation_call":
		d.Mime, d.Base64 = "image/"+cmp.Or(o.Text("output_format"), "png"), o.Text("result")
		return d, d.Base64 != ""
	case "file", "input_file":
		if inner := o.Object("file"); inner != nil {
			o = inner
		}
		d.Name = o.Text("filename")
		return d, address(o.Text("file_data")) && d.Url == ""
	}
	return d, false
}

// NoText is the text of a tool result without content.
const NoText = "(empty)"

// Marker returns the text that replaces data for which a format has no form.
func Marker(raw []byte) string {
	o, _ := ParseObject(raw)
	return "[" + o.Text("type") + "]"
}

const ArgumentsInObject = "arguments that are not a JSON object are put into one"

// JsonObject returns arguments as a JSON object and true if they are one. Otherwise it returns an
// object that contains them, and false. Empty arguments are the empty object.
func JsonObject(arguments string) (json.RawMessage, bool) {
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}"), true
	}
	arguments = ctxabi.WithoutHalves(arguments)
	if _, err := ParseObject([]byte(arguments)); err == nil {
		return json.RawMessage(arguments), true
	}
	if json.Valid([]byte(arguments)) {
		return Raw(Object{{"arguments", json.RawMessage(arguments)}}), false
	}
	return Raw(Object{{"malformed_arguments", Raw(arguments)}}), false
}
