package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/bodies"
	"github.com/ctxfs/ctxfs/agents/adapter/codex"
	"github.com/ctxfs/ctxfs/internal/picture"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func exportResponses(src *adapter.Source, w io.Writer) error {
	f := responsesFile{bodies: map[int]*responsesBody{}}
	var lost adapter.Tally
	var foreign []adapter.Record
	for _, r := range src.Records {
		s, own := codex.ItemStamp(r, adapter.ResponsesName)
		if !own {
			foreign = append(foreign, r)
			continue
		}
		f.add(r, s, &lost)
	}
	f.addForeign(foreign, &lost)
	lost.Report(src.Loss)
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
	around       codex.Surroundings
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

func (f *responsesFile) add(r adapter.Record, s adapter.Stamp, lost *adapter.Tally) {
	b := f.body(s.At[0])
	o, _ := adapter.ParseObject(r.Line)
	if line, ok := r.KeptLine(); ok {
		b.items = append(b.items, responsesItem{s.At[0], line})
		return
	}
	if r.Event && o.Text("type") == adapter.ResponsesName+adapter.DocumentEvent {
		json.Unmarshal(s.Rest, &b.around)
		f.as, b.chain = b.around.As, r.Chain
		return
	}
	for i, line := range codex.Lines(r, o, s, lost) {
		at := s.At[min(i, len(s.At)-1)]
		b := f.body(at)
		if m, _ := adapter.ParseObject(line); len(m) == 1 && m.Has("instructions") {
			b.instructions = m.Get("instructions")
			continue
		}
		b.items = append(b.items, responsesItem{at, line})
	}
}

// addForeign puts what came from elsewhere behind what there is of its conversation; where there is nothing it becomes a body.
func (f *responsesFile) addForeign(records []adapter.Record, lost *adapter.Tally) {
	var chains []string
	of := map[string][]adapter.Record{}
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
			lost.Add("the session of the child "+chain, fmt.Sprintf("has %d records, and the transcript is of one conversation; export the child itself", len(of[chain])))
			continue
		}
		items, tools := responsesForeign(of[chain], lost)
		switch {
		case b == nil:
			b = f.body(responsesApart)
			b.around.In = 1
			if f.as = bodies.AsDocument; tools != nil {
				b.around.Fields = adapter.Raw(adapter.Object{{"tools", adapter.Raw(tools)}})
			}
		case tools != nil:
			lost.Add("the session", "tools that were not in the transcript have no place in it")
		}
		for _, item := range items {
			b.items = append(b.items, responsesItem{math.MaxInt, adapter.Raw(item)})
		}
		b.around.Text = b.around.Text && len(items) == 0
	}
	if !ours && len(f.bodies) == 0 {
		f.as = bodies.AsDocument
		f.body(responsesApart).around.In = 1
	}
}

// responsesForeign returns records from elsewhere as items, and the tools that they may call.
func responsesForeign(records []adapter.Record, lost *adapter.Tally) (items, tools []adapter.Object) {
	said := adapter.Dialogue(records, lost)
	adapter.Authors(said, lost)
	adapter.AcceptedBy(picture.OpenAI, said, lost)
	codex.Reasoned(said, lost)
	add := func(kind string, item adapter.Object) {
		if item.Text("type") == codex.Thought {
			lost.Add("messages.jsonl", "the format has no place for thinking of other providers")
		}
		if kind == codex.ItemLine {
			items = append(items, item)
		}
	}
	for _, s := range said {
		if s.Role == ctxabi.Assistant {
			codex.Assistant(s, lost, add)
			continue
		}
		if content := codex.Content(s.Where, "input_text", s.Parts, lost); content != nil {
			items = append(items, adapter.Object{{"type", adapter.Raw("message")}, {"role", adapter.Raw(s.Role.String())}, {"content", adapter.Raw(content)}})
		}
	}
	for _, t := range adapter.Definitions(records, lost) {
		tools = append(tools, t.Responses())
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
		elements = append(elements, b.bytes(items, f.as != bodies.AsLines))
	}
	var out bytes.Buffer
	if f.as == bodies.AsArray {
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
	o, _ := adapter.ParseObject(b.around.Fields)
	if b.instructions != nil {
		o = o.With("instructions", b.instructions)
	}
	if m, _ := adapter.ParseObject(slices.Concat(items...)); b.around.Text && len(items) == 1 {
		return adapter.Raw(o.With("input", m.Get("content")))
	}
	list := slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
	if !lines {
		return adapter.Raw(o.With("input", json.RawMessage(list)))
	}
	var out bytes.Buffer
	out.WriteString("{")
	for _, field := range o {
		out.Write(adapter.Raw(field.Key))
		out.WriteString(":")
		json.Compact(&out, field.Value)
		out.WriteString(",\n")
	}
	out.WriteString("\"input\":[\n")
	out.Write(bytes.Join(items, []byte(",\n")))
	out.WriteString("\n]}")
	return out.Bytes()
}
