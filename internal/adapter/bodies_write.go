package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
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
	doc  documentRest
	said map[string][]json.RawMessage // by list
}

func (b *bodies) write(src *Source, w io.Writer) error {
	f := &bodyFile{byNumber: map[int]*bodyElement{}, byChain: map[string]*bodyElement{}}
	var lost tally
	ours := slices.ContainsFunc(src.Records, func(r Record) bool { _, own := b.stamp(r); return own })
	var foreign []Record
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
	lost.report(src.Loss)
	return b.writeFile(f, w)
}

// stamp is that of a record of the format.
func (b *bodies) stamp(r Record) (s Stamp, own bool) {
	s, ok := r.Stamp()
	return s, ok && s.Format == b.name
}

// add puts a record into the place it came from.
func (b *bodies) add(f *bodyFile, r Record, s Stamp, lost *tally) {
	if r.Event {
		if line, ok := r.KeptLine(); ok {
			f.elements = append(f.elements, &bodyElement{raw: line})
			return
		}
	}
	o, _ := ParseObject(r.Line)
	var rest bodyRest
	json.Unmarshal(s.Rest, &rest)
	switch kind := o.Text("type"); {
	case r.Event && kind == b.name+documentEvent:
		var doc documentRest
		json.Unmarshal(s.Rest, &doc)
		f.as = doc.As
		if doc.In > 0 {
			e := f.conversation(doc.In)
			e.doc, f.byChain[r.Chain] = doc, e
		}
	case r.Event && kind == b.name+otherEvent:
		raw := []byte(rest.Raw)
		if rest.Base64 != nil {
			raw = rest.Base64
		}
		f.put(rest, raw)
	case r.Event && kind == b.name+keptLarge:
		lost.add("a record", "what was too large for the session at import is not there")
	case !r.Event:
		f.put(rest, Raw(restored(o, rest)))
	}
}

func (f *bodyFile) conversation(n int) *bodyElement {
	e := f.byNumber[n]
	if e == nil {
		e = &bodyElement{doc: documentRest{In: n}, said: map[string][]json.RawMessage{}}
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
func restored(record Object, rest bodyRest) Object {
	m := record.Without(append(rest.Without, StampKey)...)
	fields, _ := ParseObject(rest.Fields)
	return m.WithAll(fields)
}

// addForeign puts what came from elsewhere behind what there is of its chain,
// and the session itself into a file of its own where there is nothing.
func (b *bodies) addForeign(f *bodyFile, records []Record, ours bool, lost *tally) {
	var chains []string
	of := map[string][]Record{}
	for _, r := range records {
		if of[r.Chain] == nil {
			chains = append(chains, r.Chain)
		}
		of[r.Chain] = append(of[r.Chain], r)
	}
	for _, chain := range chains {
		e := f.byChain[chain]
		if chain != "" && e == nil {
			lost.add("the session of the child "+chain, fmt.Sprintf("has %d records, and the transcript is of one conversation; export the child itself", len(of[chain])))
			continue
		}
		messages, fields := b.foreign(of[chain], lost)
		switch {
		case e != nil:
			e.said[""] = append(e.said[""], messages...)
			continue
		case !ours && fields != nil:
			e = f.conversation(1)
			f.as, e.doc, e.said[""] = asDocument, documentRest{As: asDocument, In: 1, Lists: []string{b.mainList()}, Fields: Raw(fields)}, messages
			continue
		case len(fields) > 0:
			lost.add("the session", "a system message and tools that were not in the transcript have no place in it")
		}
		for _, m := range messages {
			f.elements = append(f.elements, &bodyElement{raw: m})
		}
	}
}

// mainList is where an object has its messages.
func (b *bodies) mainList() string {
	return b.lists[slices.IndexFunc(b.lists, func(l bodyList) bool { return !l.system })].path
}

func (b *bodies) writeFile(f *bodyFile, w io.Writer) error {
	var out bytes.Buffer
	array := f.as == "" || f.as == asArray
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
			b.writeConversation(&out, e, f.as == asDocument)
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
func (b *bodies) writeConversation(out *bytes.Buffer, e *bodyElement, lines bool) {
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
	o, _ := ParseObject(e.doc.Fields)
	first := true
	formatted := map[string][]byte{}
	for _, l := range b.lists {
		if !slices.Contains(e.doc.Lists, l.path) {
			continue
		}
		messages := e.said[l.path]
		if !l.system && first {
			messages, first = e.said[""], false
		}
		if l.system {
			if n := len(messages); n > 0 { // of one that was changed, the last
				m, _ := ParseObject(messages[n-1])
				o = o.withAt(l.path, m.Get("content"))
			}
			continue
		}
		o = o.withAt(l.path, json.RawMessage(list(messages)))
		formatted[l.path] = list(messages)
	}
	if !lines {
		out.Write(Raw(o))
		return
	}
	out.WriteString("{")
	for i, f := range o {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n")
		out.Write(Raw(f.Key))
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
