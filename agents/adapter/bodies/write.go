package bodies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// bodyFile is a file that is put together again. What came from several files
// into one session is one file then.
type bodyFile struct {
	as       string
	elements []*bodyElement
	byNumber map[int]*bodyElement
	byChain  map[string]*bodyElement // the last conversation of a chain
}

// bodyElement is an element of a file.
type bodyElement struct {
	raw  []byte // as it is written; of a conversation nil
	doc  adapter.DocumentRest
	said map[string][]json.RawMessage // by list
}

func (b *Bodies) Write(src *adapter.Source, w io.Writer) error {
	f := &bodyFile{byNumber: map[int]*bodyElement{}, byChain: map[string]*bodyElement{}}
	var lost adapter.Tally
	ours := slices.ContainsFunc(src.Records, func(r adapter.Record) bool { _, own := b.stamp(r); return own })
	var foreign []adapter.Record
	flush := func() {
		b.addForeign(f, foreign, ours, &lost)
		foreign = nil
	}
	for _, r := range src.Records {
		s, own := b.stamp(r)
		if !own {
			foreign = append(foreign, r)
			continue
		}
		if !r.Event {
			flush()
		}
		b.add(f, r, s, &lost)
	}
	flush()
	lost.Report(src.Loss)
	return b.writeFile(f, w)
}

// stamp is that of a record of the format.
func (b *Bodies) stamp(r adapter.Record) (s adapter.Stamp, own bool) {
	s, ok := r.Stamp()
	return s, ok && s.Format == b.Name
}

// add puts a record into the place it came from.
func (b *Bodies) add(f *bodyFile, r adapter.Record, s adapter.Stamp, lost *adapter.Tally) {
	if r.Event {
		if line, ok := r.KeptLine(); ok {
			f.elements = append(f.elements, &bodyElement{raw: line})
			return
		}
	}
	o, _ := adapter.ParseObject(r.Line)
	var rest bodyRest
	json.Unmarshal(s.Rest, &rest)
	switch kind := o.Text("type"); {
	case r.Event && kind == b.Name+adapter.DocumentEvent:
		var doc adapter.DocumentRest
		json.Unmarshal(s.Rest, &doc)
		f.as = doc.As
		if doc.In > 0 {
			e := f.conversation(doc.In)
			e.doc, f.byChain[r.Chain] = doc, e
		}
	case r.Event && kind == b.Name+otherEvent:
		raw := []byte(rest.Raw)
		if rest.Base64 != nil {
			raw = rest.Base64
		}
		f.put(rest, raw)
	case r.Event && kind == b.Name+adapter.KeptLarge:
		lost.Add("a record", "what was too large for the session at import is missing")
	case !r.Event && !rest.Behind:
		f.put(rest, adapter.Raw(restored(o, rest)))
	}
}

func (f *bodyFile) conversation(n int) *bodyElement {
	e := f.byNumber[n]
	if e == nil {
		e = &bodyElement{doc: adapter.DocumentRest{In: n}, said: map[string][]json.RawMessage{}}
		f.byNumber[n], f.elements = e, append(f.elements, e)
	}
	return e
}

func (f *bodyFile) put(rest bodyRest, raw []byte) {
	if rest.In == 0 {
		f.elements = append(f.elements, &bodyElement{raw: raw})
		return
	}
	e := f.conversation(rest.In)
	e.said[rest.List] = append(e.said[rest.List], raw)
}

// restored returns the message that a record was made of.
func restored(record adapter.Object, rest bodyRest) adapter.Object {
	m := record.Without(append(rest.Without, adapter.StampKey)...)
	fields, _ := adapter.ParseObject(rest.Fields)
	return m.WithAll(fields)
}

// addForeign puts what came from elsewhere behind what there is of its chain,
// and the session itself into a file of its own where there is nothing.
func (b *Bodies) addForeign(f *bodyFile, records []adapter.Record, ours bool, lost *adapter.Tally) {
	var chains []string
	of := map[string][]adapter.Record{}
	for _, r := range records {
		if of[r.Chain] == nil {
			chains = append(chains, r.Chain)
		}
		of[r.Chain] = append(of[r.Chain], r)
	}
	for _, chain := range chains {
		e := f.byChain[chain]
		if chain != "" && e == nil {
			lost.Add("the session of the child "+chain, fmt.Sprintf("has %d records, and the transcript is of one conversation; export the child itself", len(of[chain])))
			continue
		}
		messages, fields := b.Foreign(of[chain], lost)
		switch {
		case e != nil:
			e.said[""] = append(e.said[""], messages...)
			continue
		case !ours && fields != nil:
			e = f.conversation(1)
			f.as, e.doc, e.said[""] = AsDocument, adapter.DocumentRest{As: AsDocument, In: 1, Lists: []string{b.mainList()}, Fields: adapter.Raw(fields)}, messages
			continue
		case len(fields) > 0:
			lost.Add("the session", "a system message and tools that were not in the transcript have no place in it")
		}
		for _, m := range messages {
			f.elements = append(f.elements, &bodyElement{raw: m})
		}
	}
}

// mainList is where an object has its messages.
func (b *Bodies) mainList() string {
	return b.Lists[slices.IndexFunc(b.Lists, func(l List) bool { return !l.System })].Path
}

func (b *Bodies) writeFile(f *bodyFile, w io.Writer) error {
	var out bytes.Buffer
	array := f.as == "" || f.as == AsArray
	if array {
		out.WriteString("[")
	}
	for i, e := range f.elements {
		switch {
		case array && i > 0:
			out.WriteString(",\n")
		case array:
			out.WriteString("\n")
		}
		if e.said == nil {
			out.Write(e.raw)
		} else {
			b.writeConversation(&out, e, f.as == AsDocument)
		}
		if !array {
			out.WriteString("\n")
		}
	}
	if array && len(f.elements) > 0 {
		out.WriteString("\n")
	}
	if array {
		out.WriteString("]\n")
	}
	_, err := w.Write(out.Bytes())
	return err
}

// writeConversation writes the object that messages stood in, or their list;
// where it may take several lines, each field and each message has one.
func (b *Bodies) writeConversation(out *bytes.Buffer, e *bodyElement, lines bool) {
	if len(e.doc.Lists) == 0 {
		e.doc.Lists = []string{b.mainList()}
	}
	list := func(messages []json.RawMessage) []byte {
		if lines && len(messages) > 0 {
			return slices.Concat([]byte("[\n"), bytes.Join(raws(messages), []byte(",\n")), []byte("\n]"))
		}
		return slices.Concat([]byte("["), bytes.Join(raws(messages), []byte(",")), []byte("]"))
	}
	if e.doc.Lists[0] == "" {
		out.Write(list(e.said[""]))
		return
	}
	o, _ := adapter.ParseObject(e.doc.Fields)
	first := true
	formatted := map[string][]byte{}
	for _, l := range b.Lists {
		if !slices.Contains(e.doc.Lists, l.Path) {
			continue
		}
		messages := e.said[l.Path]
		if !l.System && first {
			messages, first = e.said[""], false
		}
		if l.System {
			if n := len(messages); n > 0 { // of one that was changed, the last
				m, _ := adapter.ParseObject(messages[n-1])
				o = o.WithAt(l.Path, m.Get("content"))
			}
			continue
		}
		o = o.WithAt(l.Path, json.RawMessage(list(messages)))
		formatted[l.Path] = list(messages)
	}
	if !lines {
		out.Write(adapter.Raw(o))
		return
	}
	out.WriteString("{")
	for i, f := range o {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n")
		out.Write(adapter.Raw(f.Key))
		out.WriteString(": ")
		if v := formatted[f.Key]; v != nil {
			out.Write(v)
		} else {
			json.Compact(out, f.Value)
		}
	}
	out.WriteString("\n}")
}

func raws(list []json.RawMessage) [][]byte {
	all := make([][]byte, len(list))
	for i, m := range list {
		all[i] = m
	}
	return all
}
