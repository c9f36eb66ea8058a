package ctxabi

// PartKind is what a [Part] is.
type PartKind uint8

// The kinds of parts.
const (
	PartText     PartKind = iota
	PartCall              // of a tool, by an assistant
	PartResult            // of a call
	PartData              // an image, audio or a file: its data is not text
	PartThinking          // of a model: thinking, redacted_thinking, reasoning
)

// Part is one piece of a message.
type Part struct {
	Kind   PartKind
	Text   string // of a text
	Call   Call
	Result Result
	Inner  []Part // of a result: its texts and data
	Raw    []byte // the part as the record has it; nil for a result, an item, and a text that is all of a content
}

// DecodeParts is DecodeMessage, and beside it all pieces of the message in the
// order in which they were written; a call that stands in two places stands in
// the first one. A line that is not a message has no parts.
func DecodeParts(line []byte) (Message, []Part) {
	p := parts{ordered: true}
	m := p.decode(line)
	return m, p.list(p.order, p.text, &m)
}

func (p *parts) list(order []placed, texts []piece, m *Message) []Part {
	var list []Part
	for _, at := range order {
		part := Part{Kind: at.kind}
		switch at.kind {
		case PartText:
			part.Text, part.Raw = string(texts[at.n].appendText(nil)), texts[at.n].part
		case PartCall:
			part.Call, part.Raw = m.Calls[at.n], p.calls[at.n].raw
		case PartResult:
			part.Result, part.Inner = m.Results[at.n], p.list(p.results[at.n].order, p.inner, m)
		default:
			part.Raw = p.data[at.n]
		}
		list = append(list, part)
	}
	return list
}
