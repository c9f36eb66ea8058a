package bodies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// Bodies reads and writes the bodies of requests: messages, and lists of them
// in objects, in all the ways in which people keep them in files. OpenAI Chat
// and Anthropic Messages differ in what a message is, and in where an object
// has its lists.
//
// A file holds elements: those of an array, or JSON values behind each other,
// usually lines. An element is a message, a conversation, or something else.
// The first conversation is that of the session, each further one a child.
type Bodies struct {
	Name  string
	Lists []List

	// message returns the record of a message, without a stamp; ok is false for
	// what is no message.
	Message func(m adapter.Object) (record adapter.Object, ok bool)

	// Behind returns the additional records of a message that becomes several records, such as the
	// results of its calls. An export skips them, because the first record has the whole message.
	// If Behind is nil, each message becomes one record.
	Behind func(m adapter.Object) []adapter.Object

	// System returns the content of a system message, of what stands in the place of a [List] of that; nil: as [ContentFrom] does.
	System func(v json.RawMessage) json.RawMessage

	// usage returns the usage that a message names, nil without one. It becomes
	// an event that ctxfs knows, which is not exported. nil: there never is one.
	Usage func(m adapter.Object) json.RawMessage

	// foreign returns what was said elsewhere in the form of the format, and the
	// fields of an object around it; nil when its messages say it all.
	Foreign func(records []adapter.Record, lost *adapter.Tally) (messages []json.RawMessage, fields adapter.Object)
}

// List is a list of messages in an object.
type List struct {
	Path   string // "input.messages"
	System bool   // no list, but the content of a system message
	Branch bool   // what stands before it does not lead to it: a chain of its own
}

// bodyRest is the rest in the stamp of a message, or of an event that keeps an element.
type bodyRest struct {
	In      int             `json:"in,omitempty"`      // the conversation, counted from 1; 0: it is an element of the file
	List    string          `json:"list,omitempty"`    // of the object; "" is the first one that it has
	Fields  json.RawMessage `json:"fields,omitempty"`  // what the record does not have, or has otherwise
	Without []string        `json:"without,omitempty"` // what only the record has
	Behind  bool            `json:"behind,omitempty"`  // the record before has the message; see Bodies.Behind
	Raw     json.RawMessage `json:"raw,omitempty"`     // of an event: what it keeps
	Base64  []byte          `json:"base64,omitempty"`  // the same, where it is no UTF-8
}

// How elements stand in a file.
const (
	AsArray    = "array"
	AsLines    = "lines"
	AsDocument = "document" // JSON values of several lines
)

// The types of events, behind the name of the format.
const (
	otherEvent = "/other" // an element that is no message
)

// bodyReader reads one file.
type bodyReader struct {
	*Bodies
	in            *adapter.Input
	out           adapter.Output
	as            string
	placed        bool // the session knows how the elements stand
	at            int  // the next place; 0 is that of the file
	conversations int
	chains        map[string]adapter.Counter
}

func (b *Bodies) Read(in *adapter.Input, out adapter.Output) error {
	list, as, err := Elements(in.R, out)
	if err != nil {
		return err
	}
	r := &bodyReader{Bodies: b, in: in, out: out, as: as, at: 1, chains: map[string]adapter.Counter{}, placed: as == AsArray}
	for _, e := range list {
		if err := r.element(e); err != nil {
			return err
		}
	}
	return nil
}

func (r *bodyReader) element(e Element) error {
	if e.Raw == nil {
		why := e.Line.Problem
		if why == "" {
			why = "is not JSON"
		}
		if torn := e.Line.Torn && e.Line.N > 0 && e.Line.Sum == ""; !torn {
			if err := r.place(); err != nil {
				return err
			}
		}
		return e.Line.Keep(r.in, r.out, r.stamp("", e.Line.Bytes), why)
	}
	if lists := r.listsOf(e); lists != nil {
		return r.conversation(e, lists)
	}
	if err := r.place(); err != nil {
		return err
	}
	return r.say("", e.Where, e.Raw, bodyRest{}, false)
}

// place notes how the elements stand, in front of the first one. Each
// conversation notes that, too.
func (r *bodyReader) place() error {
	if r.placed {
		return nil
	}
	r.placed = true
	rest := adapter.DocumentRest{As: r.as}
	return r.document("", rest, adapter.Stamp{Format: r.Name, IDs: []string{adapter.SourceID(adapter.Raw(rest), 0)}, At: []int{0}})
}

// listsOf returns the lists of a conversation, nil for what is none.
func (b *Bodies) listsOf(e Element) (lists []List) {
	trimmed := bytes.TrimSpace(e.Raw)
	if len(trimmed) == 0 || !utf8.Valid(trimmed) {
		return nil
	}
	if trimmed[0] == '[' {
		if list, ok := adapter.ParseArray(trimmed); ok && !slices.ContainsFunc(list, func(m json.RawMessage) bool { return !b.isMessage(m) }) {
			return []List{{}}
		}
		return nil
	}
	o, err := adapter.ParseObject(trimmed)
	if err != nil || o.Text("role") != "" {
		return nil
	}
	messages := false
	for _, l := range b.Lists {
		v := o.At(l.Path)
		if v == nil || !l.System && (len(v) == 0 || v[0] != '[') {
			continue
		}
		messages = messages || !l.System
		lists = append(lists, l)
	}
	if !messages {
		return nil
	}
	return lists
}

func (b *Bodies) isMessage(raw json.RawMessage) bool {
	o, err := adapter.ParseObject(raw)
	if err != nil {
		return false
	}
	_, ok := b.Message(o)
	return ok
}

func (r *bodyReader) conversation(e Element, lists []List) error {
	r.conversations++
	n, chain := r.conversations, ""
	if n > 1 {
		chain = fmt.Sprintf("conversation-%d", n)
	}
	doc := adapter.DocumentRest{As: r.as, In: n}
	o, _ := adapter.ParseObject(e.Raw)
	first := ""
	for _, l := range lists {
		doc.Lists = append(doc.Lists, l.Path)
		o = o.WithoutAt(l.Path)
		if !l.System && first == "" {
			first = l.Path
		}
	}
	if len(o) > 0 {
		doc.Fields = adapter.Raw(o)
	}
	r.placed = true
	if err := r.document(chain, doc, r.stamp(chain, adapter.Raw(doc))); err != nil {
		return err
	}
	whole, _ := adapter.ParseObject(e.Raw)
	for _, l := range lists {
		to, rest := chain, bodyRest{In: n, List: l.Path}
		if l.Path == first {
			rest.List = ""
		}
		var messages []json.RawMessage
		switch value := whole.At(l.Path); {
		case l.Path == "":
			messages, _ = adapter.ParseArray(e.Raw)
		case l.System:
			messages = []json.RawMessage{adapter.Raw(adapter.Object{{"role", adapter.Raw("system")}, {"content", value}})}
		default:
			messages, _ = adapter.ParseArray(value)
		}
		if l.Branch {
			to = strings.TrimPrefix(chain+"-"+strings.ReplaceAll(l.Path, "_", "-"), "-")
		}
		for i, m := range messages {
			where := fmt.Sprintf("%s, %s %d", e.Where, "message", i+1)
			if err := r.say(to, where, m, rest, l.System); err != nil {
				return err
			}
		}
	}
	return nil
}

// stamp is that of the next record of a chain.
func (r *bodyReader) stamp(chain string, raw []byte) adapter.Stamp {
	if r.chains[chain] == nil {
		r.chains[chain] = adapter.Counter{}
	}
	s := adapter.Stamp{Format: r.Name, IDs: []string{r.chains[chain].ID(raw)}, At: []int{r.at}}
	r.at++
	return s
}

func (r *bodyReader) document(chain string, rest adapter.DocumentRest, s adapter.Stamp) error {
	s.Rest = adapter.Raw(rest)
	if r.in.Seen(chain, s.IDs[0]) {
		return nil
	}
	return r.out.Record(adapter.Record{Chain: chain, Event: true, Line: adapter.Raw(adapter.Object{{"type", adapter.Raw(r.Name + adapter.DocumentEvent)}, {adapter.StampKey, adapter.Raw(s)}})})
}

// say puts a message into the session, and anything else into an event.
func (r *bodyReader) say(chain, where string, raw json.RawMessage, rest bodyRest, system bool) error {
	raw = adapter.CompactJSON(raw)
	s := r.stamp(chain, raw)
	m, err := adapter.ParseObject(raw)
	record, ok := adapter.Object(nil), false
	if err == nil && utf8.Valid(raw) {
		if record, ok = r.record(m, system); ok && !system {
			ok = holds(m, record)
		}
	}
	if r.in.Seen(chain, s.IDs[0]) {
		if !ok {
			return nil
		}
		return r.follow(chain, where, m, s)
	}
	if !ok {
		r.out.Loss(adapter.Loss{Where: where, What: "is not a message; kept in an event"})
		if rest.Raw = raw; !utf8.Valid(raw) {
			rest.Raw, rest.Base64 = nil, raw
		}
		s.Rest = adapter.Raw(rest)
		return r.out.Record(adapter.Record{Chain: chain, Event: true, Line: adapter.Raw(adapter.Object{{"type", adapter.Raw(r.Name + otherEvent)}, {adapter.StampKey, adapter.Raw(s)}})})
	}
	fields, without := remainder(m, record)
	if len(fields) > 0 {
		rest.Fields = adapter.Raw(fields)
	}
	if rest.Without = without; rest.In != 0 || len(fields)+len(without) > 0 {
		s.Rest = adapter.Raw(rest)
	}
	line := adapter.Raw(record.With(adapter.StampKey, s))
	if err := r.out.Record(adapter.Record{Chain: chain, Where: where, Line: line}); err != nil {
		return err
	}
	return r.follow(chain, where, m, s)
}

// follow adds the additional records of a message and its usage to the session. It returns the
// errors of the output.
func (r *bodyReader) follow(chain, where string, m adapter.Object, s adapter.Stamp) error {
	if r.Behind == nil {
		return r.noteUsage(chain, m, s)
	}
	behind := s
	behind.Rest = adapter.Raw(bodyRest{Behind: true})
	for i, record := range r.Behind(m) {
		behind.IDs = []string{fmt.Sprintf("%s-%d", s.IDs[0], i+1)}
		if r.in.Seen(chain, behind.IDs[0]) {
			continue
		}
		line := adapter.Raw(record.With(adapter.StampKey, behind))
		if err := r.out.Record(adapter.Record{Chain: chain, Where: where, Line: line}); err != nil {
			return err
		}
	}
	return r.noteUsage(chain, m, s)
}

func (r *bodyReader) record(m adapter.Object, system bool) (adapter.Object, bool) {
	if system { // what its message is made of is ours
		from := ContentFrom
		if r.System != nil {
			from = r.System
		}
		return adapter.Object{{"role", adapter.Raw("system")}, {"content", from(m.Get("content"))}}, true
	}
	return r.Message(m)
}

// noteUsage puts the usage that a message names into an event.
func (r *bodyReader) noteUsage(chain string, m adapter.Object, s adapter.Stamp) error {
	if r.Usage == nil {
		return nil
	}
	usage := r.Usage(m)
	s.IDs, s.Rest = []string{s.IDs[0] + "-usage"}, nil
	if usage == nil || r.in.Seen(chain, s.IDs[0]) {
		return nil
	}
	event := adapter.Object{{"type", adapter.Raw("usage")}, {"usage", usage}}
	for _, key := range []string{"model", "ts"} {
		if v := m.Get(key); v != nil {
			event = append(event, adapter.Field{key, v})
		}
	}
	return r.out.Record(adapter.Record{Chain: chain, Event: true, Line: adapter.Raw(event.With(adapter.StampKey, s))})
}

// remainder returns what of a source the record does not say, and the keys that only the record has.
func remainder(source, record adapter.Object) (fields adapter.Object, without []string) {
	said, also, rest := source.Places(), record.Places(), adapter.Places{}
	for _, f := range source {
		v := said.Get(f.Key)
		if rest.Last(f.Key) < 0 && !bytes.Equal(v, also.Get(f.Key)) {
			rest.Add(adapter.Field{f.Key, v})
		}
	}
	for _, f := range record {
		if said.Last(f.Key) < 0 {
			without = append(without, f.Key)
		}
	}
	return rest.O, without
}

// ContentFrom returns a content that ctxabi takes: v itself, or its JSON as a text.
func ContentFrom(v json.RawMessage) json.RawMessage {
	switch {
	case len(v) == 0:
		return adapter.Raw(nil)
	case v[0] == '"' || v[0] == '[' || v[0] == 'n':
		return v
	}
	return adapter.Raw(string(v))
}
