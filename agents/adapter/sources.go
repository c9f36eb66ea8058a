package adapter

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// SourceRecord is a record of a transcript that is being imported.
type SourceRecord struct {
	ID  string
	At  int
	Raw json.RawMessage // an object, as it stands
}

// Piece returns the part raw of a source record, which gets a record of its own. The id of the part
// is the id of the source record, "#", and path.
func (r SourceRecord) Piece(path string, raw json.RawMessage) SourceRecord {
	return SourceRecord{r.ID + "#" + path, r.At, raw}
}

// Emitter makes records of source records, for formats that keep them as lift.go says.
type Emitter struct {
	In      *Input
	Out     Output
	Format  string
	Emitted map[[2]string]bool
	Common  *Lifter        // what events may leave out; nil for what stands in them
	Also    []SourceRecord // what the next record may leave out beside what stands in it; these are imported
	Earlier *Lifter        // what every record may leave out: source records that are imported; nil for nothing

	compacted *Compacted // range of the next record if that is a compaction summary
}

func NewEmitter(in *Input, out Output, format string) *Emitter {
	return &Emitter{In: in, Out: out, Format: format, Emitted: map[[2]string]bool{}}
}

// Has reports whether the session has a source record, or will have it.
func (e *Emitter) Has(chain, id string) bool {
	return e.Emitted[[2]string{chain, id}] || e.In.Seen(chain, id)
}

// Message emits a record of messages.jsonl that holds the sources. It returns the error of the output.
func (e *Emitter) Message(chain string, record Object, sources ...SourceRecord) error {
	return e.emit(chain, false, record, sources)
}

// Event emits a record of events.jsonl for a source that is no message. It returns the error of the output.
func (e *Emitter) Event(chain string, record Object, source SourceRecord) error {
	return e.emit(chain, true, record, []SourceRecord{source})
}

// EventOf emits a record of events.jsonl that holds the sources. It returns the error of the output.
func (e *Emitter) EventOf(chain string, record Object, sources ...SourceRecord) error {
	return e.emit(chain, true, record, sources)
}

func (e *Emitter) emit(chain string, event bool, record Object, sources []SourceRecord) error {
	line := Raw(record)
	l := e.Common
	if !event || l == nil {
		l = NewLifter()
		l.Add("", line)
		for _, other := range e.Also {
			l.Add("@"+other.ID, CompactJSON(other.Raw))
		}
		l.earlier = e.Earlier
	}
	compacted := e.compacted
	e.Also, e.compacted = nil, nil
	s := Stamp{Format: e.Format}
	var rests []json.RawMessage
	for _, r := range sources {
		s.IDs, s.At = append(s.IDs, r.ID), append(s.At, r.At)
		rests = append(rests, l.lift(r.Raw))
		e.Emitted[[2]string{chain, r.ID}] = true
	}
	s.Rest = rests[0]
	if len(rests) > 1 {
		s.Rest = Raw(rests)
	}
	line = Raw(append(slices.Clip(record), Field{StampKey, Raw(s)}))
	return e.Out.Record(Record{Chain: chain, Event: event, Line: line, Compacted: compacted})
}

// Document emits the event that holds a document without its lists of source
// records. lists has the ids of these, by their paths; doc has no values there.
// A document that the session has already is not emitted again. It returns the error of the output.
func (e *Emitter) Document(chain string, record Object, doc *Tree, lists Object) error {
	rest := append(json.RawMessage{}, doc.Bytes()...)
	rest = rest[:len(rest)-1]
	if len(rest) > 1 {
		rest = append(rest, ',')
	}
	rest = append(rest, Raw(Object{{LiftKey, Raw(lists)}})[1:]...)
	id := SourceID(rest, 0)
	if e.Has(chain, id) {
		return nil
	}
	e.Emitted[[2]string{chain, id}] = true
	s := Stamp{Format: e.Format, IDs: []string{id}, At: []int{0}, Rest: rest}
	record = append(Object{{"type", Raw(e.Format + documentType)}}, record...)
	return e.Out.Record(Record{Chain: chain, Event: true, Line: Raw(append(record, Field{StampKey, Raw(s)}))})
}

// isOwn reports whether the record is one that an import of the format made.
func isOwn(r Record, format string) bool {
	s, ok := r.Stamp()
	return ok && s.Format == format
}

// SourceSet is the set of source records in the records of a session.
type SourceSet struct {
	entries map[[2]string]*SourceEntry // by chain and id
	pieces  map[[2]string][]*SourceEntry
	Last    map[string]*SourceEntry // the last document of each chain
	missing []string                // source records that a list should have and has not, by their ids
}

type SourceEntry struct {
	chain, ID, path string // path: of a piece
	Rest            json.RawMessage
	record          *Tree

	value    json.RawMessage
	ok, busy bool // busy: it is being put together
	done     bool
}

// NewSourceSet reads the stamps of the format; others are passed over.
func NewSourceSet(records []Record, format string) *SourceSet {
	s := &SourceSet{entries: map[[2]string]*SourceEntry{}, pieces: map[[2]string][]*SourceEntry{}, Last: map[string]*SourceEntry{}}
	for _, r := range records {
		stamp, ok := r.Stamp()
		if !ok || stamp.Format != format || r.Event && r.EventType() == format+KeptLarge {
			continue
		}
		rests := []json.RawMessage{stamp.Rest}
		if len(stamp.IDs) > 1 {
			if rests, ok = ParseArray(stamp.Rest); !ok || len(rests) != len(stamp.IDs) {
				continue
			}
		}
		record := &Tree{Raw: r.Line}
		for i, id := range stamp.IDs {
			e := &SourceEntry{chain: r.Chain, ID: id, Rest: rests[i], record: record}
			key := [2]string{r.Chain, id}
			if s.entries[key] != nil {
				continue
			}
			s.entries[key] = e
			if core, path, ok := strings.Cut(id, "#"); ok {
				e.path = path
				whole := [2]string{r.Chain, core}
				s.pieces[whole] = append(s.pieces[whole], e)
			}
		}
		if r.Event && r.EventType() == format+documentType {
			s.Last[r.Chain] = s.entries[[2]string{r.Chain, stamp.IDs[0]}]
		}
	}
	return s
}

// Report adds to lost how many source records a document is without.
func (s *SourceSet) Report(lost *Tally) {
	for _, id := range s.missing {
		lost.Add("source record "+id, "is not there: it was too large for a session, or its records have changed")
	}
}

// documentType ends the type of the event that holds a document without its
// source records.
const documentType = "/document"

// Source puts a source record together; ok is false when the session does not hold it whole.
func (s *SourceSet) Source(chain, id string) (raw json.RawMessage, ok bool) {
	e := s.entries[[2]string{chain, id}]
	if e == nil || e.busy {
		return nil, false
	}
	if !e.done {
		e.busy = true
		e.value, e.ok = s.build(e)
		e.busy, e.done = false, true
	}
	return e.value, e.ok
}

func (s *SourceSet) build(e *SourceEntry) (raw json.RawMessage, ok bool) {
	t := &Tree{Raw: e.Rest}
	t.Open()
	if n := len(t.names); n > 0 && t.names[n-1] == LiftKey {
		from, err := ParseObject(t.Childs[n-1].Raw)
		if err != nil {
			return nil, false
		}
		t.shorten(n - 1)
		for _, f := range from {
			if !s.fetch(e, t, f) {
				return nil, false
			}
		}
	}
	if len(e.Rest) == 0 {
		return nil, false
	}
	for _, p := range s.pieces[[2]string{e.chain, e.ID}] {
		v, ok := s.Source(p.chain, p.ID)
		if !ok || !t.Put(p.path, v) {
			return nil, false
		}
	}
	return t.Bytes(), true
}

// fetch puts what was left out of a rest back to its place.
func (s *SourceSet) fetch(e *SourceEntry, t *Tree, f Field) bool {
	var place string
	if json.Unmarshal(f.Value, &place) != nil {
		var ids []string
		return json.Unmarshal(f.Value, &ids) == nil && t.Put(f.Key, s.list(e.chain, ids))
	}
	place, cut, isPart := strings.Cut(place, "[:")
	v := json.RawMessage(nil)
	if other, isOther := strings.CutPrefix(place, "@"); isOther {
		id, path, _ := strings.Cut(other, ".")
		whole, ok := s.Source(e.chain, id)
		if !ok {
			return false
		}
		v = (&Tree{Raw: whole}).get(path)
	} else {
		v = e.record.get(place)
	}
	if v == nil {
		return false
	}
	if !isPart {
		return t.Put(f.Key, v)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(cut, "]"))
	front, list := &Tree{Raw: v}, &Tree{Raw: t.At(f.Key)}
	front.Open()
	list.Open()
	if err != nil || n < 0 || n > len(front.Childs) || list.Kind != '[' {
		return false
	}
	list.Childs = append(slices.Clip(front.Childs[:n]), list.Childs...)
	return t.Put(f.Key, list.Bytes())
}

// list is a list of source records; those that are not there are left out.
// ">name" is the document of another chain.
func (s *SourceSet) list(chain string, ids []string) json.RawMessage {
	all := []json.RawMessage{}
	for _, id := range ids {
		of := chain
		if name, isChain := strings.CutPrefix(id, ">"); isChain {
			if doc := s.Last[name]; doc != nil {
				of, id = doc.chain, doc.ID
			}
		}
		if raw, ok := s.Source(of, id); ok {
			all = append(all, raw)
		} else {
			s.missing = append(s.missing, id)
		}
	}
	return Raw(all)
}
