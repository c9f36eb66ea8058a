package ctxabi

import (
	"bytes"
	"slices"
)

// parts are the pieces of a message, still as they stand in the record, so
// that a message can be weighed without making its strings. What they mean is
// said here once: DecodeMessage makes the strings of them, an [Outliner] weighs them.
type parts struct {
	text    []piece // the content's texts, which a newline joins
	inner   []piece // the texts of all results
	calls   []callParts
	results []resultParts
	images  int

	seen map[callKey]bool // the calls so far, once there are two

	ordered bool     // note what follows, too
	order   []placed // of all above and of data, outside of results
	data    [][]byte // images and the like, and thinking, as they stand
}

// placed is a piece in its place among the others: the n-th of its kind.
type placed struct {
	kind PartKind
	n    int
}

func (p *parts) note(kind PartKind, n int) {
	if p.ordered {
		p.order = append(p.order, placed{kind, n})
	}
}

// noteData notes a part that is kept as it stands.
func (p *parts) noteData(kind PartKind, raw []byte) {
	if p.ordered {
		p.note(kind, len(p.data))
		p.data = append(p.data, raw)
	}
}

// piece is a text: a string, null for nothing, anything else as it stands.
type piece struct {
	raw   []byte
	whole bool   // keep any value unchanged, also null
	part  []byte // the part of a content list that contains the text
}

type callParts struct{ id, name, arguments, raw []byte }

type callKey struct{ id, name string }

type resultParts struct {
	callID, isError []byte
	from, to        int // its texts in parts.inner
	order           []placed
}

func (p *parts) reset() {
	p.text, p.inner, p.calls, p.results = p.text[:0], p.inner[:0], p.calls[:0], p.results[:0]
	p.images, p.seen, p.order, p.data = 0, nil, p.order[:0], nil
}

// message notes the pieces of a message; each value is valid JSON or nil.
func (p *parts) message(content, calls, legacy []byte) {
	p.text = p.content(p.text, content, false)
	if isList(calls) {
		var rest []byte
		eachElement(calls, func(call []byte) {
			if len(p.calls) >= maxParts {
				rest = through(rest, call)
			} else {
				p.call(call)
			}
		})
		if rest != nil {
			p.note(PartCall, len(p.calls))
			p.calls = append(p.calls, callParts{arguments: rest})
		}
	}
	if isObject(legacy) { // OpenAI's form before tools
		p.call(legacy)
	}
}

// content notes the calls, results and images of a content and adds its texts to texts.
func (p *parts) content(texts []piece, raw []byte, inResult bool) []piece {
	if !isList(raw) {
		p.note(PartText, len(texts))
		return append(texts, piece{raw: raw})
	}
	rest := piece{whole: true}
	eachElement(raw, func(part []byte) {
		if len(texts)+len(p.calls)+len(p.results) >= maxParts {
			rest.raw = through(rest.raw, part)
		} else if t, ok := p.part(part, inResult); ok {
			p.note(PartText, len(texts))
			t.part = part
			texts = append(texts, t)
		}
	})
	if rest.raw != nil {
		p.note(PartText, len(texts))
		texts = append(texts, rest)
	}
	return texts
}

// maxParts is how many parts and calls of a message are told apart. A record
// of 16 MiB has room for millions, each of which would take more memory than
// bytes of it; what follows is carried as it stands.
const maxParts = 1 << 16

// through returns the bytes of a record from the beginning of a to the end of b, which stands behind it.
func through(a, b []byte) []byte {
	if a == nil {
		return b
	}
	return a[:cap(a)-cap(b)+len(b)]
}

// part reads one part of a content list; ok is false when the part adds no
// text (a call, a result, an image).
func (p *parts) part(raw []byte, inResult bool) (text piece, ok bool) {
	asItStands := piece{raw: raw, whole: true}
	if !isObject(raw) {
		if isString(raw) {
			return piece{raw: raw}, true
		}
		return asItStands, true
	}
	var typ, words, refusal, source, callID, content, isError []byte
	eachField(raw, func(key, value []byte) {
		switch {
		case isKey(key, "type"):
			typ = value
		case isKey(key, "text"):
			words = value
		case isKey(key, "refusal"):
			refusal = value
		case isKey(key, "source"):
			source = value
		case isKey(key, "tool_use_id"):
			callID = value
		case isKey(key, "content"):
			content = value
		case isKey(key, "is_error"):
			isError = value
		}
	})
	switch string(textBytes(typ)) {
	case "text", "input_text", "output_text", "":
		if isString(words) {
			return piece{raw: words}, true
		}
	case "refusal":
		return piece{raw: refusal}, true
	case "tool_use":
		if inResult {
			break
		}
		p.call(raw)
		return piece{}, false
	case "tool_result":
		if inResult { // results within results would cost their depth times their size
			break
		}
		from, outside := len(p.inner), len(p.order)
		p.inner = p.content(p.inner, content, true)
		r := resultParts{callID: callID, isError: isError, from: from, to: len(p.inner)}
		r.order, p.order = slices.Clone(p.order[outside:]), p.order[:outside]
		p.note(PartResult, len(p.results))
		p.results = append(p.results, r)
		return piece{}, false
	case "image", "image_url", "input_image", "input_audio", "audio", "input_file", "file", "video":
		p.images++
		p.noteData(PartData, raw)
		return piece{}, false
	case "document":
		var kind, data []byte
		if isObject(source) {
			eachField(source, func(key, value []byte) {
				switch {
				case isKey(key, "type"):
					kind = value
				case isKey(key, "data"):
					data = value
				}
			})
		}
		if string(textBytes(kind)) == "text" {
			return piece{raw: data}, true
		}
		p.images++
		p.noteData(PartData, raw)
		return piece{}, false
	case "thinking", "redacted_thinking", "reasoning":
		p.noteData(PartThinking, raw)
		return piece{}, false
	}
	return asItStands, true
}

// call notes a call in any of its forms: OpenAI's, nested under "function"
// or "custom", the flat one, and Anthropic's part. A call that stands both as
// a part and in tool_calls is one call.
func (p *parts) call(raw []byte) {
	if !isObject(raw) { // carried, without a name
		p.note(PartCall, len(p.calls))
		p.calls = append(p.calls, callParts{arguments: raw})
		return
	}
	c := callParts{raw: raw}
	var input, function, custom []byte
	inner := func(key, value []byte) {
		switch {
		case isKey(key, "name"):
			c.name = value
		case isKey(key, "arguments"):
			c.arguments = value
		case isKey(key, "input"):
			input = value
		}
	}
	eachField(raw, func(key, value []byte) {
		switch {
		case isKey(key, "id"):
			c.id = value
		case isKey(key, "function"):
			function = value
		case isKey(key, "custom"):
			custom = value
		default:
			inner(key, value)
		}
	})
	if !isObject(custom) {
		custom = function
	}
	if isObject(custom) {
		c.name, c.arguments, input = nil, nil, nil
		eachField(custom, inner)
	}
	if c.arguments == nil {
		c.arguments = input
	}
	if !p.isRepeated(c) {
		p.note(PartCall, len(p.calls))
		p.calls = append(p.calls, c)
	}
}

// isRepeated reports whether a call with c's id and name was noted before.
func (p *parts) isRepeated(c callParts) bool {
	if len(p.calls) == 0 {
		return false
	}
	if p.seen == nil {
		p.seen = make(map[callKey]bool)
		for _, before := range p.calls {
			p.seen[before.key()] = true
		}
	}
	k := c.key()
	if k.id == "" {
		return false
	}
	repeated := p.seen[k]
	p.seen[k] = true
	return repeated
}

func (c *callParts) key() callKey { return callKey{textOf(c.id), textOf(c.name)} }

func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }
func isList(raw []byte) bool   { return len(raw) > 0 && raw[0] == '[' }
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// textOf returns a JSON value as text: a string's text, nothing for null, else its bytes.
func textOf(raw []byte) string { return string(textBytes(raw)) }

// textBytes is textOf without making a string where raw holds the text as it is.
func textBytes(raw []byte) []byte {
	switch {
	case len(raw) == 0 || raw[0] == 'n':
		return nil
	case raw[0] != '"':
		return raw
	case bytes.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1]
	}
	return appendUnquoted(nil, raw)
}

// appendText appends the text of p.
func (p *piece) appendText(b []byte) []byte {
	switch {
	case isString(p.raw):
		return appendUnquoted(b, p.raw)
	case p.whole || len(p.raw) > 0 && p.raw[0] != 'n':
		return append(b, p.raw...)
	}
	return b
}

// appendTexts appends the texts of pieces, joined by newlines.
func appendTexts(b []byte, pieces []piece) []byte {
	for i := range pieces {
		if i > 0 {
			b = append(b, '\n')
		}
		b = pieces[i].appendText(b)
	}
	return b
}
