package adapter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// responses is the body of a request to OpenAI's Responses: items, and what the model is to do with them. A file holds one body or
// several, of which the first is the conversation of the session and each further one a child, or the items alone, in an array or one a line.
var responses = &Format{
	Name:   responsesName,
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
	s := shapeOf(head)
	items := []string{"message", "function_call", "function_call_output", "reasoning", "custom_tool_call", "local_shell_call", "item_reference"}
	switch {
	case s.has("$.input[") && (s.says("$.input[].type", items...) || s.has("$.input[].role")):
		return 92
	case len(s.strings["$.input"]) > 0 && s.has("$.model") && !s.has("$.type", "$.role", "$.messages"):
		return 60
	case h[0] == '[' && s.says("$[].type", items[1:]...) && (s.has("$[].call_id") || s.has("$[].summary[")):
		return 90
	}
	return 0
}

// isResponsesBody reports whether an element of a file is a body, not an item.
func isResponsesBody(o Object) bool {
	input := o.Get("input")
	return len(input) > 0 && (input[0] == '[' || input[0] == '"') && !o.Has("type") && !o.Has("role")
}

func importResponses(in *Input, out Output) error {
	list, as, err := elements(in.R, out)
	if err != nil {
		return err
	}
	conversations, kept := 0, Counter{}
	var loose *codexReader
	if as == asArray && !slices.ContainsFunc(list, func(e element) bool { return len(e.raw) > 0 && e.raw[0] == '{' }) { // no item names the array
		loose = newItems(in, out, "")
		if err := loose.around(responsesRest{As: as}, 0); err != nil {
			return err
		}
	}
	for i, e := range list {
		o, err := ParseObject(e.raw)
		if err != nil || !utf8.Valid(e.raw) {
			if loose != nil {
				if err := loose.flush(); err != nil {
					return err
				}
			}
			l, why := e.line, cmp.Or(e.line.Problem, "is not a JSON object")
			if e.raw != nil {
				l = Line{N: l.N, Bytes: e.raw}
			}
			s := Stamp{Format: responsesName, IDs: []string{kept.ID(l.Bytes)}, At: []int{(i + 1) * responsesApart}}
			if err := l.Keep(in, out, s, why); err != nil {
				return err
			}
			continue
		}
		if !isResponsesBody(o) {
			if loose == nil {
				loose = newItems(in, out, "")
				if err := loose.around(responsesRest{As: as}, 0); err != nil {
					return err
				}
			}
			if err := loose.item(e.where, e.raw, (i+1)*responsesApart); err != nil {
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
		return loose.flush()
	}
	return nil
}

// newItems is a reader of the items of one conversation.
func newItems(in *Input, out Output, chain string) *codexReader {
	return &codexReader{format: responsesName, chain: chain, in: in, out: out, counter: Counter{}, items: true}
}

func readResponsesBody(r *codexReader, o Object, as string, n int) error {
	at := n * responsesApart
	rest := responsesRest{As: as, In: n, Text: o.Get("input")[0] == '"'}
	fields := o.Without("input")
	if textAt(o, "instructions") {
		fields = fields.Without("instructions")
	}
	if len(fields) > 0 {
		rest.Fields = Raw(fields)
	}
	if err := r.around(rest, at); err != nil {
		return err
	}
	if textAt(o, "instructions") {
		s := Stamp{Format: responsesName, IDs: []string{SourceID(Raw(Object{{"instructions", o.Get("instructions")}}), 0)}, At: []int{at + 1}}
		if !r.in.Seen(r.chain, s.IDs[0]) {
			r.pieces = []codexPiece{{role: "system", content: o.Get("instructions"), item: codexItem{Object{}, codexText, "instructions"}}}
			r.stamp = s
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	items := o.Array("input")
	if rest.Text {
		items = []json.RawMessage{Raw(Object{{"role", Raw("user")}, {"content", o.Get("input")}})}
	}
	for i, item := range items {
		if err := r.item(fmt.Sprintf("item %d", i+1), item, at+2+i); err != nil {
			return err
		}
	}
	return r.flush()
}
