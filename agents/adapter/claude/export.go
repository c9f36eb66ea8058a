package claude

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/tidwall/gjson"
)

// exportClaude writes the records of Claude Code as they were, in their own
// order, and makes records of all others.
func exportClaude(src *adapter.Source, w io.Writer) error {
	var entries []claudeEntry
	last := map[string]claudeEntry{} // of each chain the last record
	var lost adapter.Tally
	for _, r := range src.Records {
		s, ok := r.Stamp()
		if !ok || s.Format != claudeName || len(s.At) != len(s.IDs) {
			e, any := last[r.Chain]
			if !any && len(entries) > 0 {
				e = entries[len(entries)-1]
			}
			entries = append(entries, claudeEntry{file: e.file, at: e.at, chain: r.Chain, foreign: &r})
			continue
		}
		back, why := claudeSources(r, s)
		if why != "" {
			lost.Add("line "+itoa(s.At[0]+1)+" of the transcript it came from", why)
		}
		for i, raw := range back {
			e := claudeEntry{file: s.File, at: s.At[i], chain: r.Chain, raw: raw}
			entries = append(entries, e)
			if claudeOrder(last[r.Chain], e) <= 0 {
				last[r.Chain] = e
			}
		}
	}
	slices.SortStableFunc(entries, claudeOrder)

	out := &claudeWriter{w: bufio.NewWriterSize(w, 64<<10), name: src.Name, tally: &lost, chains: map[string]*claudeChain{}}
	out.look(entries)
	out.accept(entries)
	for _, e := range entries {
		var err error
		if e.foreign != nil {
			err = out.foreign(e.foreign)
		} else {
			err = out.own(e)
		}
		if err != nil {
			return err
		}
	}
	lost.Report(src.Loss)
	return out.w.Flush()
}

// claudeEntry is a record to be written: one of Claude Code, or another that one or several are made of.
type claudeEntry struct {
	file, at int // its place, or that of the one before it
	chain    string
	raw      []byte
	foreign  *adapter.Record
}

func claudeOrder(a, b claudeEntry) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.at, b.at))
}

// claudeSources returns the records that r was made of, one for each of its places.
func claudeSources(r adapter.Record, s adapter.Stamp) (raw [][]byte, lost string) {
	rest := gjson.ParseBytes(s.Rest)
	if r.Event {
		switch line, kept := r.KeptLine(); {
		case kept:
			return [][]byte{line}, ""
		case r.EventType() == claudeName+adapter.KeptLarge && rest.Get("sha256").Exists() && !rest.Get("uuid").Exists():
			return nil, "was too large for a session; left out"
		case rest.IsObject():
			return [][]byte{s.Rest}, ""
		}
		return nil, "" // of usage: the message has it too
	}
	m, err := adapter.ParseObject(r.Line)
	if err != nil || !rest.IsObject() || len(s.IDs) == 0 {
		return nil, "is not as it was imported; left out"
	}
	if len(s.IDs) == 1 {
		return [][]byte{claudeSource(rest, s.IDs[0], m.Get("content"), m.Has("id"), m.Get("ts"))}, ""
	}
	counts, lefts := rest.Get("parts").Array(), rest.Get("records").Array()
	parts, ok := adapter.ParseArray(m.Get("content"))
	if !ok || len(counts) != len(s.IDs) || len(lefts) != len(s.IDs) {
		return nil, "is not as it was imported; left out"
	}
	for i, left := range lefts {
		n := min(max(int(counts[i].Int()), 0), len(parts))
		content := []byte{'['}
		for k, part := range parts[:n] {
			if k > 0 {
				content = append(content, ',')
			}
			content = append(content, part...)
		}
		parts = parts[n:]
		ts := m.Get("ts")
		if i > 0 {
			ts = nil
		}
		raw = append(raw, claudeSource(left, s.IDs[i], append(content, ']'), true, ts))
	}
	return raw, ""
}

// claudeSource puts a record together again.
func claudeSource(rest gjson.Result, id string, content []byte, hasID bool, ts []byte) []byte {
	outer, inner := "message", "content"
	if rest.Get("type").Str == "attachment" {
		outer, inner = "attachment", "prompt"
		if rest.Get("attachment.type").Str != "queued_command" {
			rest, outer = attachedSource(rest, content), ""
		}
	}
	add := func(object []byte, key string, v []byte) []byte {
		object = object[:len(object)-1]
		if object[len(object)-1] != '{' {
			object = append(object, ',')
		}
		return append(append(append(object, `"`+key+`":`...), v...), '}')
	}
	b := make([]byte, 0, len(rest.Raw)+len(content)+200)
	b = claudeFields(b, rest, func(b []byte, k, v gjson.Result) []byte {
		if k.Str == outer && v.IsObject() {
			b = claudeFields(append(append(b, k.Raw...), ':'), v, claudeField)
			return add(b, inner, content)
		}
		return claudeField(b, k, v)
	})
	if hasID {
		b = add(b, "uuid", adapter.Raw(id))
	}
	if ts != nil {
		b = add(b, "timestamp", ts)
	}
	return b
}

// own writes a record as it was, and remembers what those behind it hang on.
func (w *claudeWriter) own(e claudeEntry) error {
	if w.mixed {
		c, v := w.chain(e.chain), gjson.ParseBytes(e.raw)
		if uuid := claudePlain(v.Get("uuid")); uuid != "" {
			c.last = uuid
			c.seeTime(v.Get("timestamp").Str)
			v.Get("message.content").ForEach(func(_, part gjson.Result) bool {
				if id := claudePlain(part.Get("id")); id != "" && part.Get("type").Str == "tool_use" {
					c.ids[id] = id
					c.call(id, uuid)
				} else if id := claudePlain(part.Get("tool_use_id")); id != "" {
					c.answer(id)
				}
				return true
			})
		}
	}
	return w.line(e.raw)
}

// look takes from the last record of Claude Code, if there is one, what stands
// in all records that are made here.
func (w *claudeWriter) look(entries []claudeEntry) {
	w.session, w.cwd, w.version, w.branch, w.userType = w.uuid("session"), "/", "2.0.0", "", "external"
	w.begin = time.Unix(0, 0).UTC()
	if w.mixed = slices.ContainsFunc(entries, func(e claudeEntry) bool { return e.foreign != nil }); !w.mixed {
		return
	}
	for i, e := range entries {
		if e.foreign == nil {
			continue
		}
		if t, err := time.Parse(time.RFC3339Nano, gjson.GetBytes(e.foreign.Line, "ts").Str); err == nil {
			w.begin = t.UTC().Add(-time.Second * time.Duration(i)) // those before it have times before it
			break
		}
	}
	for _, e := range slices.Backward(entries) {
		v := gjson.ParseBytes(e.raw)
		if !v.Get("uuid").Exists() || !v.Get("sessionId").Exists() {
			continue
		}
		for key, field := range map[string]*string{"sessionId": &w.session, "cwd": &w.cwd, "version": &w.version, "gitBranch": &w.branch, "userType": &w.userType} {
			if s := v.Get(key); s.Type == gjson.String {
				*field = strings.Clone(s.Str)
			}
		}
		return
	}
}
