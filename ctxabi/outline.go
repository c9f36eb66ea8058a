package ctxabi

import "bytes"

// Outline is what an index keeps of a message: all but its texts.
type Outline struct {
	Role       Role     // RoleUnknown for a record that CheckMessage refuses
	Weight     int      // Message.Weight of the record
	Calls      []string // ids of its calls, "" for one without
	HasResults bool     // of other records' calls: that of a provider's own tool stands beside its call
	Images     int
	Answers    string // id of the call it answers: tool_call_id, else that of its first result
}

// Outliner makes outlines. It reads a record once and keeps its memory from
// one to the next, for whoever reads a gigabyte of them. The zero value is ready to use.
type Outliner struct {
	parts
	buf []byte // a text, while it is weighed
}

// Message returns the outline of a record of messages.jsonl. It takes any
// line, record or not, and agrees with CheckMessage, DecodeMessage and Message.Weight.
func (o *Outliner) Message(line []byte) Outline {
	var f messageFields
	if !f.read(line) {
		return Outline{Weight: recordFraming + Weight(wholeText(line))}
	}
	p := &o.parts
	p.reset()
	p.read(&f)
	out := Outline{Weight: recordFraming + o.weigh(p.text) + p.images*imageFraming}
	for _, c := range p.calls {
		out.Weight += partFraming + o.weighValue(c.name) + o.weighValue(c.arguments)
	}
	for _, r := range p.results {
		out.Weight += partFraming + o.weigh(p.inner[r.from:r.to])
	}
	if len(line) > MaxRecord || bytes.IndexByte(line, '\n') >= 0 || f.wrong() != "" {
		return out
	}
	out.Role, out.HasResults, out.Images, out.Answers = f.role, len(p.results) > 0 && f.item == nil, p.images, textOf(f.callID)
	if out.Answers == "" && out.HasResults {
		out.Answers = textOf(p.results[0].callID)
	}
	for _, c := range p.calls {
		out.Calls = append(out.Calls, textOf(c.id))
	}
	return out
}

// weigh is Weight of texts joined by newlines.
func (o *Outliner) weigh(texts []piece) int {
	if len(texts) == 1 && !texts[0].whole {
		return o.weighValue(texts[0].raw)
	}
	o.buf = appendTexts(o.buf[:0], texts)
	return Weight(o.buf)
}

// weighValue is Weight of textOf(raw).
func (o *Outliner) weighValue(raw []byte) int {
	if isString(raw) && bytes.IndexByte(raw, '\\') >= 0 {
		o.buf = appendUnquoted(o.buf[:0], raw)
		return Weight(o.buf)
	}
	return Weight(textBytes(raw))
}
