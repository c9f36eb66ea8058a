package document

import (
	"bytes"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/excerpt"
	"github.com/ctxfs/ctxfs/session/log"
)

// Document is a record as far as it can be found.
type Document struct {
	Role  ctxabi.Role
	What  string   // of an event: its type
	Tools []string // whose result it is, or which it calls
	Said  string   // what context/line/<n>.txt holds
	Print uint32   // a checksum of said, which differs for documents of different text
	JSON  bool     // said is JSON, and not only the arguments of calls in it

	Calls     []ctxabi.Call // that it makes
	callBytes int           // of said, at its end, that are the calls
	Answers   []string      // ids of the calls that it answers
}

// say sets the text of the document.
func (d *Document) say(text []byte) {
	d.Said, d.Print = string(text), crc32.Checksum(text, castagnoli)
}

// castagnoli is the polynomial of Print.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Who returns the name of the speaker in a heading.
func (d *Document) Who() string {
	name := d.Role.String()
	if d.Role == ctxabi.Event && d.What != "" {
		name = d.What
	}
	if len(d.Tools) == 1 && (d.Role == ctxabi.Tool || d.Role == ctxabi.Event) {
		name += " " + d.Tools[0]
	}
	return name
}

// Terms calls emit with the document's terms, repeated ones again and again.
func (d *Document) Terms(emit func(term uint64)) { compress.Terms(d.Words(), emit) }

// Holds reports whether the document has a text verbatim.
func (d *Document) Holds(text string) bool {
	return strings.Contains(d.Said, text) || d.escaped() && strings.Contains(d.Words(), text)
}

// Words returns what the document holds, with JSON as its program reads it: \n is a line end.
func (d *Document) Words() string {
	if d.JSON {
		return excerpt.Unescape(d.Said)
	}
	words := d.Said
	for _, c := range d.Calls {
		if hasEscape(c.Arguments) {
			words = strings.Replace(words, c.Arguments, excerpt.Unescape(c.Arguments), 1)
		}
	}
	return words
}

// escaped reports whether Words differs from said.
func (d *Document) escaped() bool {
	if d.JSON {
		return hasEscape(d.Said)
	}
	return slices.ContainsFunc(d.Calls, func(c ctxabi.Call) bool { return hasEscape(c.Arguments) })
}

// hasEscape reports whether a text has an escape of JSON's strings.
func hasEscape(text string) bool {
	i := strings.IndexByte(text, '\\')
	return i >= 0 && i+1 < len(text)
}

// Reader reads the records of one log as documents.
type Reader struct {
	Log   *log.Log
	Index *log.Index
	event bool

	names map[string]string // of the calls that were met last, by their ids
	order []string          // of those ids, for forgetting
	buf   []byte            // of the record that was read last; documents have none of it
}

// NewReader returns a reader of a log, of the records that ix has.
func NewReader(l *log.Log, ix *log.Index) *Reader {
	return &Reader{Log: l, Index: ix, event: l.Name() == ctxabi.EventsFile, names: map[string]string{}}
}

// maxNames is how many calls a reader remembers; of one that lies further back the record is read again.
const maxNames = 4096

// Read returns the document at a line. It returns the error of a log that cannot be read.
func (r *Reader) Read(line int) (Document, error) {
	e := r.Index.At(line)
	if cap(r.buf) < int(e.Len) {
		r.buf = make([]byte, e.Len)
	}
	raw := r.buf[:e.Len]
	if n, err := r.Log.ReadAt(raw, e.Offset); err == io.EOF {
		clear(raw[n:])
	} else if err != nil {
		return Document{}, err
	}
	return r.Decode(line, raw)
}

// Decode returns the document at a line, whose record is raw. It returns the error of a log that cannot be
// read for the call that it answers.
func (r *Reader) Decode(line int, raw []byte) (d Document, err error) {
	e := r.Index.At(line)
	d.Role = e.Role
	var name string
	if r.event {
		d.Role = ctxabi.Event
		ev, ok := ctxabi.DecodeToolEvent(raw)
		if !ok {
			d.What = gjson.GetBytes(raw, "type").String()
			d.say(bytes.ToValidUTF8(ctxabi.SaidOfOther(raw), []byte("\uFFFD")))
			d.JSON = true
			return d, nil
		}
		d.What, name = "tool_call", ev.Name
		if ev.IsResult {
			d.What, d.Answers = "tool_result", []string{ev.CallID}
		} else {
			d.Calls = []ctxabi.Call{{ID: ev.CallID, Name: ev.Name, Arguments: ev.Arguments}}
		}
		d.say(ev.Said())
	} else {
		m := ctxabi.DecodeMessage(raw)
		if e.Flags&ctxabi.Damaged != 0 {
			m = ctxabi.Message{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
		}
		d.Calls = m.Calls
		if d.Role == ctxabi.Tool {
			name, d.Answers = m.Name, []string{m.CallID}
		}
		for _, result := range m.Results {
			d.Answers = append(d.Answers, result.CallID)
		}
		d.say(m.Said())
	}
	for _, c := range d.Calls {
		r.remember(c)
		d.Tools = append(d.Tools, c.Name)
		d.callBytes += len(c.Name) + len(c.Arguments) + 2
	}
	if name != "" && len(d.Answers) > 0 {
		d.Tools = append(d.Tools, name)
	} else {
		for _, id := range d.Answers {
			name, err := r.nameOf(id, int(e.CallOf))
			if err != nil {
				return d, err
			}
			d.Tools = append(d.Tools, name)
		}
	}
	slices.Sort(d.Tools)
	d.Tools = slices.DeleteFunc(slices.Compact(d.Tools), func(name string) bool { return name == "" || len(name) > ctxabi.MaxName })
	return d, nil
}

func (r *Reader) remember(c ctxabi.Call) {
	if c.ID == "" || r.names[c.ID] != "" {
		return
	}
	r.names[c.ID] = c.Name
	if r.order = append(r.order, c.ID); len(r.order) > maxNames {
		delete(r.names, r.order[0])
		r.order = r.order[1:]
	}
}

// nameOf is the tool of a call that stands at a line, if that is known.
func (r *Reader) nameOf(id string, line int) (string, error) {
	if name := r.names[id]; name != "" || line == 0 {
		return name, nil
	}
	raw, err := r.Index.Record(line)
	if err != nil {
		return "", err
	}
	if r.event {
		e, _ := ctxabi.DecodeToolEvent(raw)
		return e.Name, nil
	}
	for _, c := range ctxabi.DecodeMessage(raw).Calls {
		if r.remember(c); c.ID == id {
			return c.Name, nil
		}
	}
	return "", nil
}

// ends reports whether the document is the result of a tool that does not read, search or list files.
func (d *Document) ends() bool {
	return d.IsResult() && !slices.ContainsFunc(d.Tools, func(tool string) bool {
		kind := compress.KindOf(tool)
		return kind == compress.ReadingTool || kind == compress.MatchTool || kind == compress.ListTool
	})
}

// IsResult reports whether the document holds what a tool answered.
func (d *Document) IsResult() bool {
	return d.Role == ctxabi.Tool || len(d.Answers) > 0 || d.What == "tool_result"
}

// Record returns the document as it is looked at for an excerpt.
func (d *Document) Record() excerpt.Record {
	r := excerpt.Record{Said: d.Said, Escaped: d.escaped(), Calls: len(d.Said), Result: d.IsResult(), Ends: d.ends()}
	if len(d.Calls) > 0 {
		r.Calls = max(0, len(d.Said)-d.callBytes)
	}
	return r
}

// IsCall reports whether the document calls tools.
func (d *Document) IsCall() bool { return len(d.Calls) > 0 }

// Only leaves of a document the calls of some ids; all of them if there are none.
func (d *Document) Only(ids []string) {
	var b strings.Builder
	for _, c := range d.Calls {
		if slices.Contains(ids, c.ID) {
			b.WriteString(strings.TrimSpace(c.Name+" "+c.Arguments) + "\n")
		}
	}
	if b.Len() > 0 {
		d.Said, d.JSON = b.String(), true
	}
}
