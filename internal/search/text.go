package search

import (
	"bytes"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/search/excerpt"
	"github.com/ctxfs/ctxfs/session"
)

// document is a record as far as it can be found.
type document struct {
	role  ctxabi.Role
	what  string   // of an event: its type
	tools []string // whose result it is, or which it calls
	said  string   // what context/line/<n>.txt holds
	print uint32   // a checksum of said, by which documents of different text are told apart
	json  bool     // said is JSON, and not only the arguments of calls in it

	calls     []ctxabi.Call // that it makes
	callBytes int           // of said, at its end, that are the calls
	answers   []string      // ids of the calls that it answers
}

// say makes the document one that holds a text.
func (d *document) say(text []byte) { d.said, d.print = string(text), crc32.Checksum(text, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// who is what a heading calls the one who says it.
func (d *document) who() string {
	name := d.role.String()
	if d.role == ctxabi.Event && d.what != "" {
		name = d.what
	}
	if len(d.tools) == 1 && (d.role == ctxabi.Tool || d.role == ctxabi.Event) {
		name += " " + d.tools[0]
	}
	return name
}

// terms calls emit with the document's terms, repeated ones again and again.
func (d *document) terms(emit func(term uint64)) { compress.Terms(d.words(), emit) }

// holds reports whether the document has a text verbatim.
func (d *document) holds(text string) bool {
	return strings.Contains(d.said, text) || d.escaped() && strings.Contains(d.words(), text)
}

// words returns what the document holds, with JSON as its program reads it: \n is a line end.
func (d *document) words() string {
	if d.json {
		return excerpt.Unescape(d.said)
	}
	words := d.said
	for _, c := range d.calls {
		if hasEscape(c.Arguments) {
			words = strings.Replace(words, c.Arguments, excerpt.Unescape(c.Arguments), 1)
		}
	}
	return words
}

// escaped reports whether words differs from said.
func (d *document) escaped() bool {
	if d.json {
		return hasEscape(d.said)
	}
	return slices.ContainsFunc(d.calls, func(c ctxabi.Call) bool { return hasEscape(c.Arguments) })
}

// hasEscape reports whether a text has an escape of JSON's strings.
func hasEscape(text string) bool {
	i := strings.IndexByte(text, '\\')
	return i >= 0 && i+1 < len(text)
}

// logReader reads the records of one log as documents.
type logReader struct {
	log   *session.Log
	ix    *session.Index
	event bool

	names map[string]string // of the calls that were met last, by their ids
	order []string          // of those ids, for forgetting
	buf   []byte            // of the record that was read last; documents have none of it
}

func newLogReader(l *session.Log, ix *session.Index) *logReader {
	return &logReader{log: l, ix: ix, event: l.Name() == ctxabi.EventsFile, names: map[string]string{}}
}

// maxNames is how many calls a reader remembers; of one that lies further back the record is read again.
const maxNames = 4096

// read returns the document at a line.
func (r *logReader) read(line int) (document, error) {
	e := r.ix.At(line)
	if cap(r.buf) < int(e.Len) {
		r.buf = make([]byte, e.Len)
	}
	raw := r.buf[:e.Len]
	if n, err := r.log.ReadAt(raw, e.Offset); err == io.EOF {
		clear(raw[n:])
	} else if err != nil {
		return document{}, err
	}
	return r.decode(line, raw)
}

func (r *logReader) decode(line int, raw []byte) (d document, err error) {
	e := r.ix.At(line)
	d.role = e.Role
	var name string
	if r.event {
		d.role = ctxabi.Event
		ev, ok := ctxabi.DecodeToolEvent(raw)
		if !ok {
			d.what = gjson.GetBytes(raw, "type").String()
			d.say(bytes.ToValidUTF8(ctxabi.SaidOfOther(raw), []byte("\uFFFD")))
			d.json = true
			return d, nil
		}
		d.what, name = "tool_call", ev.Name
		if ev.IsResult {
			d.what, d.answers = "tool_result", []string{ev.CallID}
		} else {
			d.calls = []ctxabi.Call{{ID: ev.CallID, Name: ev.Name, Arguments: ev.Arguments}}
		}
		d.say(ev.Said())
	} else {
		m := ctxabi.DecodeMessage(raw)
		if e.Flags&session.Damaged != 0 {
			m = ctxabi.Message{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
		}
		d.calls = m.Calls
		if d.role == ctxabi.Tool {
			name, d.answers = m.Name, []string{m.CallID}
		}
		for _, result := range m.Results {
			d.answers = append(d.answers, result.CallID)
		}
		d.say(m.Said())
	}
	for _, c := range d.calls {
		r.remember(c)
		d.tools = append(d.tools, c.Name)
		d.callBytes += len(c.Name) + len(c.Arguments) + 2
	}
	if name != "" && len(d.answers) > 0 {
		d.tools = append(d.tools, name)
	} else {
		for _, id := range d.answers {
			name, err := r.nameOf(id, int(e.CallOf))
			if err != nil {
				return d, err
			}
			d.tools = append(d.tools, name)
		}
	}
	slices.Sort(d.tools)
	d.tools = slices.DeleteFunc(slices.Compact(d.tools), func(name string) bool { return name == "" || len(name) > ctxabi.MaxName })
	return d, nil
}

func (r *logReader) remember(c ctxabi.Call) {
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
func (r *logReader) nameOf(id string, line int) (string, error) {
	if name := r.names[id]; name != "" || line == 0 {
		return name, nil
	}
	raw, err := r.ix.Record(line)
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

// ends reports whether the document is a result with lines that tell how something went: not one that holds
// lines of files.
func (d *document) ends() bool {
	return d.isResult() && !slices.ContainsFunc(d.tools, func(tool string) bool {
		name := compress.PlainName(tool)
		return compress.IsFileTool(name) || compress.IsMatchTool(name) || compress.IsListTool(name)
	})
}

// isResult reports whether the document holds what a tool answered.
func (d *document) isResult() bool {
	return d.role == ctxabi.Tool || len(d.answers) > 0 || d.what == "tool_result"
}

// record returns the document as it is looked at for an excerpt.
func (d *document) record() excerpt.Record {
	r := excerpt.Record{Said: d.said, Escaped: d.escaped(), Calls: len(d.said), Result: d.isResult(), Ends: d.ends()}
	if len(d.calls) > 0 {
		r.Calls = max(0, len(d.said)-d.callBytes)
	}
	return r
}
