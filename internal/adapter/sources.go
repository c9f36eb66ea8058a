package adapter

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// sourceRecord is a record of a transcript that is being imported.
type sourceRecord struct {
	id  string
	at  int
	raw json.RawMessage // an object, as it stands
}

// piece is the part of a source record that stands in a record of its own. Its id
// is that of the source record, "#", and its path in there.
func (r sourceRecord) piece(path string, raw json.RawMessage) sourceRecord {
	return sourceRecord{r.id + "#" + path, r.at, raw}
}

// emitter makes records of source records, for formats that keep them as lift.go says.
type emitter struct {
	in      *Input
	out     Output
	format  string
	emitted map[[2]string]bool
	common  *lifter        // what events may leave out; nil for what stands in them
	also    []sourceRecord // what the next record may leave out beside what stands in it; these are imported
}

func newEmitter(in *Input, out Output, format string) *emitter {
	return &emitter{in: in, out: out, format: format, emitted: map[[2]string]bool{}}
}

// has reports whether the session has a source record, or will have it.
func (e *emitter) has(chain, id string) bool {
	return e.emitted[[2]string{chain, id}] || e.in.Seen(chain, id)
}

// message emits a record of messages.jsonl that holds the sources.
func (e *emitter) message(chain string, record Object, sources ...sourceRecord) error {
	return e.emit(chain, false, record, sources)
}

// event emits a record of events.jsonl for a source that is no message.
func (e *emitter) event(chain string, record Object, source sourceRecord) error {
	return e.emit(chain, true, record, []sourceRecord{source})
}

func (e *emitter) emit(chain string, event bool, record Object, sources []sourceRecord) error {
	line := Raw(record)
	l := e.common
	if !event || l == nil {
		l = newLifter()
		l.add("", line)
		for _, other := range e.also {
			l.add("@"+other.id, compactJSON(other.raw))
		}
	}
	e.also = nil
	s := Stamp{Format: e.format}
	var rests []json.RawMessage
	for _, r := range sources {
		s.IDs, s.At = append(s.IDs, r.id), append(s.At, r.at)
		rests = append(rests, l.lift(r.raw))
		e.emitted[[2]string{chain, r.id}] = true
	}
	s.Rest = rests[0]
	if len(rests) > 1 {
		s.Rest = Raw(rests)
	}
	return e.out.Record(Record{Chain: chain, Event: event, Line: Raw(append(slices.Clip(record), Field{StampKey, Raw(s)}))})
}

// document emits the event that holds a document without its lists of source
// records. lists has the ids of these, by their paths; doc has no values there.
// A document that the session has already is not emitted again.
func (e *emitter) document(chain string, record Object, doc *tree, lists Object) error {
	rest := append(json.RawMessage{}, doc.bytes()...)
	rest = rest[:len(rest)-1]
	if len(rest) > 1 {
		rest = append(rest, ',')
	}
	rest = append(rest, Raw(Object{{liftKey, Raw(lists)}})[1:]...)
	id := SourceID(rest, 0)
	if e.has(chain, id) {
		return nil
	}
	e.emitted[[2]string{chain, id}] = true
	s := Stamp{Format: e.format, IDs: []string{id}, At: []int{0}, Rest: rest}
	record = append(Object{{"type", Raw(e.format + documentType)}}, record...)
	return e.out.Record(Record{Chain: chain, Event: true, Line: Raw(append(record, Field{StampKey, Raw(s)}))})
}

// isOwn reports whether the record is one that an import of the format made.
func isOwn(r Record, format string) bool {
	s, ok := r.Stamp()
	return ok && s.Format == format
}

// sourceSet has the source records that the records of a session hold.
type sourceSet struct {
	entries map[[2]string]*sourceEntry // by chain and id
	pieces  map[[2]string][]*sourceEntry
	last    map[string]*sourceEntry // the last document of each chain
	missing []string                // source records that a list should have and has not, by their ids
}

type sourceEntry struct {
	chain, id, path string // path: of a piece
	rest            json.RawMessage
	record          *tree

	value    json.RawMessage
	ok, busy bool // busy: it is being put together
	done     bool
}

// newSourceSet reads the stamps of the format; others are passed over.
func newSourceSet(records []Record, format string) *sourceSet {
	s := &sourceSet{entries: map[[2]string]*sourceEntry{}, pieces: map[[2]string][]*sourceEntry{}, last: map[string]*sourceEntry{}}
	for _, r := range records {
		stamp, ok := r.Stamp()
		if !ok || stamp.Format != format || r.Event && r.eventType() == format+keptLarge {
			continue
		}
		rests := []json.RawMessage{stamp.Rest}
		if len(stamp.IDs) > 1 {
			if rests, ok = parseArray(stamp.Rest); !ok || len(rests) != len(stamp.IDs) {
				continue
			}
		}
		record := &tree{raw: r.Line}
		for i, id := range stamp.IDs {
			e := &sourceEntry{chain: r.Chain, id: id, rest: rests[i], record: record}
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
		if r.Event && r.eventType() == format+documentType {
			s.last[r.Chain] = s.entries[[2]string{r.Chain, stamp.IDs[0]}]
		}
	}
	return s
}

// report adds to lost how many source records a document is without.
func (s *sourceSet) report(lost *tally) {
	for _, id := range s.missing {
		lost.add("source record "+id, "is not there: it was too large for a session, or its records have changed")
	}
}

// documentType ends the type of the event that holds a document without its
// source records.
const documentType = "/document"

// source puts a source record together; ok is false when the session does not hold it whole.
func (s *sourceSet) source(chain, id string) (raw json.RawMessage, ok bool) {
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

func (s *sourceSet) build(e *sourceEntry) (raw json.RawMessage, ok bool) {
	t := &tree{raw: e.rest}
	t.open()
	if n := len(t.names); n > 0 && t.names[n-1] == liftKey {
		from, err := ParseObject(t.childs[n-1].raw)
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
	if len(e.rest) == 0 {
		return nil, false
	}
	for _, p := range s.pieces[[2]string{e.chain, e.id}] {
		v, ok := s.source(p.chain, p.id)
		if !ok || !t.put(p.path, v) {
			return nil, false
		}
	}
	return t.bytes(), true
}

// fetch puts what was left out of a rest back to its place.
func (s *sourceSet) fetch(e *sourceEntry, t *tree, f Field) bool {
	var place string
	if json.Unmarshal(f.Value, &place) != nil {
		var ids []string
		return json.Unmarshal(f.Value, &ids) == nil && t.put(f.Key, s.list(e.chain, ids))
	}
	place, cut, isPart := strings.Cut(place, "[:")
	v := json.RawMessage(nil)
	if other, isOther := strings.CutPrefix(place, "@"); isOther {
		id, path, _ := strings.Cut(other, ".")
		whole, ok := s.source(e.chain, id)
		if !ok {
			return false
		}
		v = (&tree{raw: whole}).get(path)
	} else {
		v = e.record.get(place)
	}
	if v == nil {
		return false
	}
	if !isPart {
		return t.put(f.Key, v)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(cut, "]"))
	front, list := &tree{raw: v}, &tree{raw: t.at(f.Key)}
	front.open()
	list.open()
	if err != nil || n < 0 || n > len(front.childs) || list.kind != '[' {
		return false
	}
	list.childs = append(slices.Clip(front.childs[:n]), list.childs...)
	return t.put(f.Key, list.bytes())
}

// list is a list of source records; those that are not there are left out.
// ">name" is the document of another chain.
func (s *sourceSet) list(chain string, ids []string) json.RawMessage {
	all := []json.RawMessage{}
	for _, id := range ids {
		of := chain
		if name, isChain := strings.CutPrefix(id, ">"); isChain {
			if doc := s.last[name]; doc != nil {
				of, id = doc.chain, doc.id
			}
		}
		if raw, ok := s.source(of, id); ok {
			all = append(all, raw)
		} else {
			s.missing = append(s.missing, id)
		}
	}
	return Raw(all)
}
