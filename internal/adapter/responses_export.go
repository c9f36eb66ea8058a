package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func exportResponses(src *Source, w io.Writer) error {
	f := responsesFile{bodies: map[int]*responsesBody{}}
	var lost tally
	var foreign []Record
	for _, r := range src.Records {
		s, own := itemStamp(r, responsesName)
		if !own {
			foreign = append(foreign, r)
			continue
		}
		f.add(r, s, &lost)
	}
	f.addForeign(foreign, &lost)
	lost.report(src.Loss)
	_, err := w.Write(f.bytes())
	return err
}

// responsesFile is a file that is put together again.
type responsesFile struct {
	as     string
	bodies map[int]*responsesBody // by the number of the element; 0 is what the file is
}

// responsesBody is an element of the file: a body, or an item or line that stands in none.
type responsesBody struct {
	chain        string
	around       responsesRest
	instructions json.RawMessage
	items        []responsesItem
}

type responsesItem struct {
	at  int
	raw []byte
}

// body returns the element at a place.
func (f *responsesFile) body(at int) *responsesBody {
	n := at / responsesApart
	if f.bodies[n] == nil {
		f.bodies[n] = &responsesBody{}
	}
	return f.bodies[n]
}

func (f *responsesFile) add(r Record, s Stamp, lost *tally) {
	b := f.body(s.At[0])
	o, _ := ParseObject(r.Line)
	if line, ok := r.KeptLine(); ok {
		b.items = append(b.items, responsesItem{s.At[0], line})
		return
	}
	if r.Event && o.Text("type") == responsesName+documentEvent {
		json.Unmarshal(s.Rest, &b.around)
		f.as, b.chain = b.around.As, r.Chain
		return
	}
	for i, line := range codexLines(r, o, s, lost) {
		at := s.At[min(i, len(s.At)-1)]
		b := f.body(at)
		if m, _ := ParseObject(line); len(m) == 1 && m.Has("instructions") {
			b.instructions = m.Get("instructions")
			continue
		}
		b.items = append(b.items, responsesItem{at, line})
	}
}

// addForeign puts what came from elsewhere behind what there is of its conversation; where there is nothing it becomes a body.
func (f *responsesFile) addForeign(records []Record, lost *tally) {
	var chains []string
	of := map[string][]Record{}
	for _, r := range records {
		if of[r.Chain] == nil {
			chains = append(chains, r.Chain)
		}
		of[r.Chain] = append(of[r.Chain], r)
	}
	ours := len(f.bodies) > 0
	for _, chain := range chains {
		var b *responsesBody
		for _, n := range slices.Sorted(maps.Keys(f.bodies)) {
			if e := f.bodies[n]; e.chain == chain && e.around.In > 0 {
				b = e
			}
		}
		if b == nil && chain == "" && ours { // behind the items that stand in none
			b = f.body(math.MaxInt)
		}
		if b == nil && chain != "" {
			lost.add("the session of the child "+chain, fmt.Sprintf("has %d records, and the transcript is of one conversation; export the child itself", len(of[chain])))
			continue
		}
		items, tools := responsesForeign(of[chain], lost)
		switch {
		case b == nil:
			b = f.body(responsesApart)
			b.around.In = 1
			if f.as = asDocument; tools != nil {
				b.around.Fields = Raw(Object{{"tools", Raw(tools)}})
			}
		case tools != nil:
			lost.add("the session", "tools that were not in the transcript have no place in it")
		}
		for _, item := range items {
			b.items = append(b.items, responsesItem{math.MaxInt, Raw(item)})
		}
		b.around.Text = b.around.Text && len(items) == 0
	}
	if !ours && len(f.bodies) == 0 {
		f.as = asDocument
		f.body(responsesApart).around.In = 1
	}
}

// responsesForeign returns records from elsewhere as items, and the tools that they may call.
func responsesForeign(records []Record, lost *tally) (items, tools []Object) {
	said := dialogue(records, lost)
	authors(said, lost)
	add := func(kind string, item Object) {
		if item.Text("type") == codexThought {
			lost.add("messages.jsonl", "the format has no place for thinking of other providers")
		}
		if kind == codexItemLine {
			items = append(items, item)
		}
	}
	for _, s := range said {
		if s.role == ctxabi.Assistant {
			codexAssistant(s, lost, add)
			continue
		}
		if content := codexContent(s.where, "input_text", s.parts, lost); content != nil {
			items = append(items, Object{{"type", Raw("message")}, {"role", Raw(s.role.String())}, {"content", Raw(content)}})
		}
	}
	for _, t := range definitions(records, lost) {
		tools = append(tools, t.responses())
	}
	return items, tools
}

func (f *responsesFile) bytes() []byte {
	var elements [][]byte
	for _, n := range slices.Sorted(maps.Keys(f.bodies)) {
		b := f.bodies[n]
		slices.SortStableFunc(b.items, func(a, b responsesItem) int { return a.at - b.at })
		items := make([][]byte, len(b.items))
		for i, item := range b.items {
			items[i] = item.raw
		}
		if b.around.In == 0 {
			elements = append(elements, items...)
			continue
		}
		elements = append(elements, b.bytes(items, f.as != asLines))
	}
	var out bytes.Buffer
	if f.as == asArray {
		out.WriteString("[\n")
		out.Write(bytes.Join(elements, []byte(",\n")))
		out.WriteString("\n]\n")
		return out.Bytes()
	}
	for _, e := range elements {
		out.Write(e)
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// bytes is the body as it is written: each item on a line of its own, where it may take several.
func (b *responsesBody) bytes(items [][]byte, lines bool) []byte {
	o, _ := ParseObject(b.around.Fields)
	if b.instructions != nil {
		o = o.With("instructions", b.instructions)
	}
	if m, _ := ParseObject(slices.Concat(items...)); b.around.Text && len(items) == 1 {
		return Raw(o.With("input", m.Get("content")))
	}
	list := slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
	if !lines {
		return Raw(o.With("input", json.RawMessage(list)))
	}
	var out bytes.Buffer
	out.WriteString("{")
	for _, field := range o {
		out.Write(Raw(field.Key))
		out.WriteString(":")
		json.Compact(&out, field.Value)
		out.WriteString(",\n")
	}
	out.WriteString("\"input\":[\n")
	out.Write(bytes.Join(items, []byte(",\n")))
	out.WriteString("\n]}")
	return out.Bytes()
}
