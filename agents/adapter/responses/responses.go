package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/bodies"
	"github.com/ctxfs/ctxfs/agents/adapter/codex"
)

// Format is the body of a request to OpenAI's Responses: items, and what the model is to do with them. A file holds one body or
// several, of which the first is the conversation of the session and each further one a child, or the items alone, in an array or one a line.
var Format = &adapter.Format{
	Name:   adapter.ResponsesName,
	Title:  "OpenAI Responses (the body of a request, items)",
	Sniff:  sniffResponses,
	Import: importResponses,
	Export: exportResponses,
}

// responsesApart is how far the places of two elements of a file are apart: a body has its items in between.
const responsesApart = 1 << 24

func sniffResponses(_ string, head []byte) int {
	h := bytes.TrimSpace(head)
	if len(h) == 0 || h[0] != '{' && h[0] != '[' {
		return 0
	}
	s := adapter.ShapeOf(head)
	items := []string{"message", "function_call", "function_call_output", "reasoning", "custom_tool_call", "local_shell_call", "item_reference"}
	if !mostAreItems(head) {
		return 0
	}
	switch {
	case s.Has("$.input[") && (s.Says("$.input[].type", items...) || s.Has("$.input[].role")):
		return 92
	case len(s.Strings["$.input"]) > 0 && s.Has("$.model") && !s.Has("$.type", "$.role", "$.messages"):
		return 60
	case h[0] == '[' && s.Says("$[].type", items[1:]...) && (s.Has("$[].call_id") || s.Has("$[].summary[")):
		return 90
	}
	return 0
}

// mostAreItems reports whether most elements at the beginning of a file are items that ctxfs can
// convert.
func mostAreItems(head []byte) bool {
	list, _, err := bodies.Elements(bytes.NewReader(head), silent{})
	read, all := 0, 0
	count := func(item json.RawMessage) {
		o, err := adapter.ParseObject(item)
		if all++; err == nil && codex.IsItem(o) {
			read++
		}
	}
	for _, e := range list {
		o, bad := adapter.ParseObject(e.Raw)
		switch {
		case bad != nil:
		case !isResponsesBody(o):
			count(e.Raw)
		default:
			for _, item := range o.Array("input") {
				count(item)
			}
		}
	}
	return err == nil && 2*read >= all
}

// silent is an output that discards everything.
type silent struct{}

func (silent) Record(adapter.Record) error { return nil }
func (silent) Loss(adapter.Loss)           {}

// isResponsesBody reports whether an element of a file is a body, not an item.
func isResponsesBody(o adapter.Object) bool {
	input := o.Get("input")
	return len(input) > 0 && (input[0] == '[' || input[0] == '"') && !o.Has("type") && !o.Has("role")
}

func importResponses(in *adapter.Input, out adapter.Output) error {
	list, as, err := bodies.Elements(in.R, out)
	if err != nil {
		return err
	}
	conversations, kept := 0, adapter.Counter{}
	var loose *codex.Reader
	if as == bodies.AsArray && !slices.ContainsFunc(list, func(e bodies.Element) bool { return len(e.Raw) > 0 && e.Raw[0] == '{' }) { // no item names the array
		loose = newItems(in, out, "")
		if err := loose.Around(codex.Surroundings{As: as}, 0); err != nil {
			return err
		}
	}
	for i, e := range list {
		o, err := adapter.ParseObject(e.Raw)
		if err != nil || !utf8.Valid(e.Raw) {
			if loose != nil {
				if err := loose.Flush(); err != nil {
					return err
				}
			}
			l, why := e.Line, cmp.Or(e.Line.Problem, "is not a JSON object")
			if e.Raw != nil {
				l = adapter.Line{N: l.N, Bytes: e.Raw}
			}
			s := adapter.Stamp{Format: adapter.ResponsesName, IDs: []string{kept.ID(l.Bytes)}, At: []int{(i + 1) * responsesApart}}
			if err := l.Keep(in, out, s, why); err != nil {
				return err
			}
			continue
		}
		if !isResponsesBody(o) {
			if loose == nil {
				loose = newItems(in, out, "")
				if err := loose.Around(codex.Surroundings{As: as}, 0); err != nil {
					return err
				}
			}
			if err := loose.Item(e.Where, e.Raw, (i+1)*responsesApart); err != nil {
				return err
			}
			continue
		}
		conversations++
		chain := ""
		if conversations > 1 {
			chain = fmt.Sprintf("conversation-%d", conversations)
		}
		if err := readResponsesBody(newItems(in, out, chain), o, as, i+1); err != nil {
			return err
		}
	}
	if loose != nil {
		return loose.Flush()
	}
	return nil
}

// newItems is a reader of the items of one conversation.
func newItems(in *adapter.Input, out adapter.Output, chain string) *codex.Reader {
	return &codex.Reader{Format: adapter.ResponsesName, Chain: chain, In: in, Out: out, Counter: adapter.Counter{}, Items: true}
}

func readResponsesBody(r *codex.Reader, o adapter.Object, as string, n int) error {
	at := n * responsesApart
	rest := codex.Surroundings{As: as, In: n, Text: o.Get("input")[0] == '"'}
	fields := o.Without("input")
	if adapter.TextAt(o, "instructions") {
		fields = fields.Without("instructions")
	}
	if len(fields) > 0 {
		rest.Fields = adapter.Raw(fields)
	}
	if err := r.Around(rest, at); err != nil {
		return err
	}
	if adapter.TextAt(o, "instructions") {
		s := adapter.Stamp{Format: adapter.ResponsesName, IDs: []string{adapter.SourceID(adapter.Raw(adapter.Object{{"instructions", o.Get("instructions")}}), 0)}, At: []int{at + 1}}
		if !r.In.Seen(r.Chain, s.IDs[0]) {
			r.Pieces = []codex.Piece{{Role: "system", Content: o.Get("instructions"), Item: codex.Item{Line: adapter.Object{}, Parts: codex.Text, Key: "instructions"}}}
			r.Stamp = s
			if err := r.Flush(); err != nil {
				return err
			}
		}
	}
	items := o.Array("input")
	if rest.Text {
		items = []json.RawMessage{adapter.Raw(adapter.Object{{"role", adapter.Raw("user")}, {"content", o.Get("input")}})}
	}
	for i, item := range items {
		if err := r.Item(fmt.Sprintf("item %d", i+1), item, at+2+i); err != nil {
			return err
		}
	}
	return r.Flush()
}
