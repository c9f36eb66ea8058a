package search

import (
	"bytes"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// document is a record as far as it can be found.
type document struct {
	role  ctxabi.Role
	what  string   // of an event: its type
	tools []string // whose result it is, or which it calls
	said  string   // what context/line/<n>.txt holds
	words string   // the same, with the arguments of calls as their program reads them: \n is a line end
}

// print returns a checksum by which documents of different text are told apart.
func (d *document) print() uint32 { return crc32.Checksum([]byte(d.said), castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// terms calls emit with the document's terms, repeated ones again and again.
func (d *document) terms(emit func(term uint64)) { compress.Terms(d.words, emit) }

// holds reports whether the document has a text verbatim.
func (d *document) holds(text string) bool {
	return strings.Contains(d.said, text) || len(d.words) != len(d.said) && strings.Contains(d.words, text)
}

// logReader reads the records of one log as documents.
type logReader struct {
	log   *session.Log
	ix    *session.Index
	event bool

	names map[string]string // of the calls that were met last, by their ids
	order []string          // of those ids, for forgetting
}

func newLogReader(l *session.Log, ix *session.Index) *logReader {
	return &logReader{log: l, ix: ix, event: l.Name() == ctxabi.EventsFile, names: map[string]string{}}
}

// maxNames is how many calls a reader remembers; of one that lies further back the record is read again.
const maxNames = 4096

// read returns the document at a line.
func (r *logReader) read(line int) (document, error) {
	raw, err := r.ix.Record(line)
	if err != nil {
		return document{}, err
	}
	return r.decode(line, raw)
}

func (r *logReader) decode(line int, raw []byte) (d document, err error) {
	e := r.ix.At(line)
	d.role = e.Role
	var calls []ctxabi.Call
	var answered []string // ids of calls
	var name string
	if r.event {
		d.role = ctxabi.Event
		ev, ok := ctxabi.DecodeToolEvent(raw)
		if !ok {
			d.what = gjson.GetBytes(raw, "type").String()
			d.said = string(bytes.ToValidUTF8(ctxabi.SaidOfOther(raw), []byte("\uFFFD")))
			d.words = unescape(d.said)
			return d, nil
		}
		d.what, name = "tool_call", ev.Name
		if ev.IsResult {
			d.what, answered = "tool_result", []string{ev.CallID}
		} else {
			calls = []ctxabi.Call{{ID: ev.CallID, Name: ev.Name, Arguments: ev.Arguments}}
		}
		d.said = string(ev.Said())
	} else {
		m := ctxabi.DecodeMessage(raw)
		if e.Flags&session.Damaged != 0 {
			m = ctxabi.Message{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
		}
		calls = m.Calls
		if d.role == ctxabi.Tool {
			name, answered = m.Name, []string{m.CallID}
		}
		for _, result := range m.Results {
			answered = append(answered, result.CallID)
		}
		d.said = string(m.Said())
	}
	d.words = d.said
	for _, c := range calls {
		r.remember(c)
		d.tools = append(d.tools, c.Name)
		if strings.IndexByte(c.Arguments, '\\') >= 0 {
			d.words = strings.Replace(d.words, c.Arguments, unescape(c.Arguments), 1)
		}
	}
	if name != "" && len(answered) > 0 {
		d.tools = append(d.tools, name)
	} else {
		for _, id := range answered {
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

// unescape reads the escapes of JSON's strings wherever they stand in a text.
func unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'b', 'f':
			b = append(b, ' ')
		case 'u':
			c, n := unescapeRune(s[i+1:])
			b = utf8.AppendRune(b, c)
			i += n
		default: // a quote, a slash, a backslash
			b = append(b, c)
		}
	}
	return string(b)
}

// unescapeRune reads what follows \u, and how many bytes that takes.
func unescapeRune(s string) (c rune, n int) {
	unit := func(s string) rune {
		if len(s) < 4 {
			return -1
		}
		v, err := strconv.ParseUint(s[:4], 16, 16)
		if err != nil {
			return -1
		}
		return rune(v)
	}
	c = unit(s)
	switch {
	case c < 0:
		return utf8.RuneError, 0
	case utf16.IsSurrogate(c):
		if strings.HasPrefix(s[4:], `\u`) {
			if c = utf16.DecodeRune(c, unit(s[6:])); c != utf8.RuneError {
				return c, 10
			}
		}
		return utf8.RuneError, 4
	}
	return c, 4
}
