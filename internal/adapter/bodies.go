package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// bodies reads and writes the bodies of requests: messages, and lists of them
// in objects, in all the ways in which people keep them in files. OpenAI Chat
// and Anthropic Messages differ in what a message is, and in where an object
// has its lists.
//
// A file holds elements: those of an array, or JSON values behind each other,
// usually lines. An element is a message, a conversation, or something else.
// The first conversation is that of the session, each further one a child.
type bodies struct {
	name  string
	lists []bodyList

	// message returns the record of a message, without a stamp; ok is false for
	// what is no message.
	message func(m Object) (record Object, ok bool)

	// usage returns the usage that a message names, nil without one. It becomes
	// an event that ctxfs knows, which is not exported. nil: there never is one.
	usage func(m Object) json.RawMessage

	// foreign returns what was said elsewhere in the form of the format, and the
	// fields of an object around it; nil when its messages say it all.
	foreign func(records []Record, lost *tally) (messages []json.RawMessage, fields Object)
}

// bodyList is a list of messages in an object.
type bodyList struct {
	path   string // "input.messages"
	system bool   // no list, but the content of a system message
	branch bool   // what stands before it does not lead to it: a chain of its own
}

// bodyRest is the rest in the stamp of a message, or of an event that keeps an element.
type bodyRest struct {
	In      int             `json:"in,omitempty"`      // the conversation, counted from 1; 0: it is an element of the file
	List    string          `json:"list,omitempty"`    // of the object; "" is the first one that it has
	Fields  json.RawMessage `json:"fields,omitempty"`  // what the record does not have, or has otherwise
	Without []string        `json:"without,omitempty"` // what only the record has
	Raw     json.RawMessage `json:"raw,omitempty"`     // of an event: what it keeps
	Base64  []byte          `json:"base64,omitempty"`  // the same, where it is no UTF-8
}

// How elements stand in a file.
const (
	asArray    = "array"
	asLines    = "lines"
	asDocument = "document" // JSON values of several lines
)

// The types of events, behind the name of the format.
const (
	otherEvent = "/other" // an element that is no message
)

// bodyReader reads one file.
type bodyReader struct {
	*bodies
	in            *Input
	out           Output
	as            string
	placed        bool // the session knows how the elements stand
	at            int  // the next place; 0 is that of the file
	conversations int
	chains        map[string]Counter
}

func (b *bodies) read(in *Input, out Output) error {
	list, as, err := elements(in.R, out)
	if err != nil {
		return err
	}
	r := &bodyReader{bodies: b, in: in, out: out, as: as, at: 1, chains: map[string]Counter{}, placed: as == asArray}
	for _, e := range list {
		if err := r.element(e); err != nil {
			return err
		}
	}
	return nil
}

func (r *bodyReader) element(e element) error {
	if e.raw == nil {
		why := e.line.Problem
		if why == "" {
			why = "is not JSON"
		}
		if torn := e.line.Torn && e.line.N > 0 && e.line.sum == ""; !torn {
			if err := r.place(); err != nil {
				return err
			}
		}
		return e.line.Keep(r.in, r.out, r.stamp("", e.line.Bytes), why)
	}
	if lists := r.listsOf(e); lists != nil {
		return r.conversation(e, lists)
	}
	if err := r.place(); err != nil {
		return err
	}
	return r.say("", e.where, e.raw, bodyRest{}, false)
}

// place notes how the elements stand, in front of the first one. Each
// conversation notes that, too.
func (r *bodyReader) place() error {
	if r.placed {
		return nil
	}
	r.placed = true
	rest := documentRest{As: r.as}
	return r.document("", rest, Stamp{Format: r.name, IDs: []string{SourceID(Raw(rest), 0)}, At: []int{0}})
}

// listsOf returns the lists of a conversation, nil for what is none.
func (b *bodies) listsOf(e element) (lists []bodyList) {
	trimmed := bytes.TrimSpace(e.raw)
	if len(trimmed) == 0 || !utf8.Valid(trimmed) {
		return nil
	}
	if trimmed[0] == '[' {
		if list, ok := parseArray(trimmed); ok && !slices.ContainsFunc(list, func(m json.RawMessage) bool { return !b.isMessage(m) }) {
			return []bodyList{{}}
		}
		return nil
	}
	o, err := ParseObject(trimmed)
	if err != nil || o.Text("role") != "" {
		return nil
	}
	messages := false
	for _, l := range b.lists {
		v := o.at(l.path)
		if v == nil || !l.system && (len(v) == 0 || v[0] != '[') {
			continue
		}
		messages = messages || !l.system
		lists = append(lists, l)
	}
	if !messages {
		return nil
	}
	return lists
}

func (b *bodies) isMessage(raw json.RawMessage) bool {
	o, err := ParseObject(raw)
	if err != nil {
		return false
	}
	_, ok := b.message(o)
	return ok
}

func (r *bodyReader) conversation(e element, lists []bodyList) error {
	r.conversations++
	n, chain := r.conversations, ""
	if n > 1 {
		chain = fmt.Sprintf("conversation-%d", n)
	}
	doc := documentRest{As: r.as, In: n}
	o, _ := ParseObject(e.raw)
	first := ""
	for _, l := range lists {
		doc.Lists = append(doc.Lists, l.path)
		o = o.withoutAt(l.path)
		if !l.system && first == "" {
			first = l.path
		}
	}
	if len(o) > 0 {
		doc.Fields = Raw(o)
	}
	r.placed = true
	if err := r.document(chain, doc, r.stamp(chain, Raw(doc))); err != nil {
		return err
	}
	whole, _ := ParseObject(e.raw)
	for _, l := range lists {
		to, rest := chain, bodyRest{In: n, List: l.path}
		if l.path == first {
			rest.List = ""
		}
		var messages []json.RawMessage
		switch value := whole.at(l.path); {
		case l.path == "":
			messages, _ = parseArray(e.raw)
		case l.system:
			messages = []json.RawMessage{Raw(Object{{"role", Raw("system")}, {"content", value}})}
		default:
			messages, _ = parseArray(value)
		}
		if l.branch {
			to = strings.TrimPrefix(chain+"-"+strings.ReplaceAll(l.path, "_", "-"), "-")
		}
		for i, m := range messages {
			where := fmt.Sprintf("%s, %s %d", e.where, "message", i+1)
			if err := r.say(to, where, m, rest, l.system); err != nil {
				return err
			}
		}
	}
	return nil
}

// stamp is that of the next record of a chain.
func (r *bodyReader) stamp(chain string, raw []byte) Stamp {
	if r.chains[chain] == nil {
		r.chains[chain] = Counter{}
	}
	s := Stamp{Format: r.name, IDs: []string{r.chains[chain].ID(raw)}, At: []int{r.at}}
	r.at++
	return s
}

func (r *bodyReader) document(chain string, rest documentRest, s Stamp) error {
	s.Rest = Raw(rest)
	if r.in.Seen(chain, s.IDs[0]) {
		return nil
	}
	return r.out.Record(Record{Chain: chain, Event: true, Line: Raw(Object{{"type", Raw(r.name + documentEvent)}, {StampKey, Raw(s)}})})
}

// say puts a message into the session, and anything else into an event.
func (r *bodyReader) say(chain, where string, raw json.RawMessage, rest bodyRest, system bool) error {
	raw = compactJSON(raw)
	s := r.stamp(chain, raw)
	m, err := ParseObject(raw)
	record, ok := Object(nil), false
	if err == nil && utf8.Valid(raw) {
		record, ok = r.record(m, system)
	}
	if r.in.Seen(chain, s.IDs[0]) {
		if !ok {
			return nil
		}
		return r.noteUsage(chain, m, s)
	}
	if !ok {
		r.out.Loss(Loss{where, "is not a message; kept in an event"})
		if rest.Raw = raw; !utf8.Valid(raw) {
			rest.Raw, rest.Base64 = nil, raw
		}
		s.Rest = Raw(rest)
		return r.out.Record(Record{Chain: chain, Event: true, Line: Raw(Object{{"type", Raw(r.name + otherEvent)}, {StampKey, Raw(s)}})})
	}
	fields, without := remainder(m, record)
	if len(fields) > 0 {
		rest.Fields = Raw(fields)
	}
	if rest.Without = without; rest.In != 0 || len(fields)+len(without) > 0 {
		s.Rest = Raw(rest)
	}
	if err := r.out.Record(Record{Chain: chain, Line: Raw(record.With(StampKey, s))}); err != nil {
		return err
	}
	return r.noteUsage(chain, m, s)
}

func (r *bodyReader) record(m Object, system bool) (Object, bool) {
	if system { // what its message is made of is ours
		content := m.Get("content")
		return Object{{"role", Raw("system")}, {"content", contentFrom(content)}}, true
	}
	return r.message(m)
}

// noteUsage puts the usage that a message names into an event.
func (r *bodyReader) noteUsage(chain string, m Object, s Stamp) error {
	if r.usage == nil {
		return nil
	}
	usage := r.usage(m)
	s.IDs, s.Rest = []string{s.IDs[0] + "-usage"}, nil
	if usage == nil || r.in.Seen(chain, s.IDs[0]) {
		return nil
	}
	event := Object{{"type", Raw("usage")}, {"usage", usage}}
	for _, key := range []string{"model", "ts"} {
		if v := m.Get(key); v != nil {
			event = append(event, Field{key, v})
		}
	}
	return r.out.Record(Record{Chain: chain, Event: true, Line: Raw(event.With(StampKey, s))})
}

// remainder returns what of a source the record does not say, and the keys that only the record has.
func remainder(source, record Object) (fields Object, without []string) {
	said, also, rest := source.places(), record.places(), places{}
	for _, f := range source {
		v := said.get(f.Key)
		if rest.last(f.Key) < 0 && !bytes.Equal(v, also.get(f.Key)) {
			rest.add(Field{f.Key, v})
		}
	}
	for _, f := range record {
		if said.last(f.Key) < 0 {
			without = append(without, f.Key)
		}
	}
	return rest.o, without
}

// contentFrom returns a content that ctxabi takes: v itself, or its JSON as a text.
func contentFrom(v json.RawMessage) json.RawMessage {
	switch {
	case len(v) == 0:
		return Raw(nil)
	case v[0] == '"' || v[0] == '[' || v[0] == 'n':
		return v
	}
	return Raw(string(v))
}
