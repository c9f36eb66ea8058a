package native

import (
	"slices"

	"github.com/ctxfs/ctxfs/pack/record"
)

// maxMarks is how many marks a request may hold, and markReach how many blocks before a mark the provider looks for
// what it has cached.
const (
	MaxMarks  = 4
	MarkReach = 20
)

// anthropic writes the body of a request to Anthropic's Messages.
func (d *Dialogue) anthropic(tools Tools) (data []byte, stable Stable) {
	thinks := func(raw []byte) bool { return thought(raw, Anthropic) != nil }
	a := d.alternate(form{roles: 2, images: true, thinks: thinks})

	w := blockWriter{past: -1, last: -1}
	var system []object
	for _, h := range a.system {
		system = append(system, object{"type": "text", "text": h.Text})
		w.blocks = append(w.blocks, system[len(system)-1])
		if h.Stable {
			w.stable = len(w.blocks)
		}
	}
	w.system, w.last = len(w.blocks), len(w.blocks)

	var messages []object
	for _, m := range a.messages {
		messages = append(messages, w.message(m))
	}
	list := tools.anthropic()
	w.mark(list)

	body := object{"messages": messages}
	if len(system) > 0 {
		body["system"] = system
	}
	if len(list) == 0 && a.calls() { // a request with calls must define tools
		list = []object{{"name": "not_available", "description": "Do not call it: the tools of the calls above are not available any more.",
			"input_schema": object{"type": "object", "properties": object{}}}}
	}
	d.setTools(body, list, "tool_choice", object{"type": "none"})
	return writeBody(body), a.units()
}

// blockWriter holds the blocks of a request in their order. Its numbers count blocks from the
// first.
type blockWriter struct {
	blocks []object
	stable int  // up to the end of the STABLE phase
	system int  // up to the end of the system prompt
	past   int  // up to the end of the history part, or of the blocks before the journal
	last   int  // up to the last live record that can have a mark
	tail   bool // the last live record came
}

// message returns a message and adds its blocks.
func (w *blockWriter) message(m roleMessage) object {
	var content []object
	for i, p := range m.parts {
		block := anthropicBlock(p)
		content, w.blocks = append(content, block), append(w.blocks, block)
		if i < m.past || i < m.session {
			w.past = len(w.blocks)
		}
		// A mark on a result covers the footer in it, and the API refuses marks inside of results.
		if w.tail = w.tail || p.tail || p.footer != ""; !w.tail {
			w.last = len(w.blocks)
		}
	}
	role := "user"
	if m.assistant {
		role = "assistant"
	}
	return object{"role": role, "content": content}
}

// mark sets the cache marks: at the end of tools and system prompt, of the history part, and of the
// last live record. The spare ones serve where two are far apart, then the end of the STABLE phase.
func (w *blockWriter) mark(tools []object) {
	var marks []int // indices of blocks, ascending
	for _, end := range []int{w.system, w.past, w.last} {
		for at := end - 1; at >= 0; at-- {
			if isThought(w.blocks[at]) {
				continue
			}
			if len(marks) == 0 || marks[len(marks)-1] < at {
				marks = append(marks, at)
			}
			break
		}
	}

	marks = spread(marks, w.blocks)
	if at := w.stable - 1; at >= 0 && len(marks) < MaxMarks && !slices.Contains(marks, at) {
		marks = append(marks, at)
	}
	for _, at := range marks {
		w.blocks[at]["cache_control"] = object{"type": "ephemeral"}
	}
	if w.system == 0 && len(tools) > 0 && len(marks) < MaxMarks {
		tools[len(tools)-1]["cache_control"] = object{"type": "ephemeral"}
	}
}

// spread adds marks before the last one, no further apart than the provider looks, while there are marks left.
func spread(marks []int, blocks []object) []int {
	n := len(marks)
	if n == 0 {
		return nil
	}
	before := 0
	if n > 1 {
		before = marks[n-2]
	}
	const apart = MarkReach - 2
	for at := marks[n-1] - apart; at > before && len(marks) < MaxMarks; at -= apart {
		for at > before && isThought(blocks[at]) {
			at--
		}
		if at > before {
			marks = append(marks, at)
		}
	}
	return marks
}

// isThought reports whether a block is one that no mark may stand on.
func isThought(block object) bool {
	return block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

func (a *alternating) calls() bool {
	for _, m := range a.messages {
		for _, p := range m.parts {
			if p.kind == record.CallPortion || p.kind == record.ResultPortion {
				return true
			}
		}
	}
	return false
}

func anthropicBlock(p filled) object {
	switch p.kind {
	case record.CallPortion:
		return object{"type": "tool_use", "id": p.id, "name": p.name, "input": argumentsObject(p.text)}
	case record.ResultPortion:
		return anthropicResult(p)
	case record.ThoughtPortion:
		return thought(p.raw, Anthropic)
	case record.DataPortion:
		return anthropicImage(p.images[0])
	}
	return object{"type": "text", "text": p.text}
}

// anthropicResult returns the result of a call. The API accepts nothing but texts in a result
// that is an error: one with images begins with a line that says so.
func anthropicResult(p filled) object {
	block := object{"type": "tool_result", "tool_use_id": p.id, "content": p.text}
	if p.failed && len(p.images) > 0 {
		p.text = p.content()
	} else if p.failed {
		block["is_error"] = true
	}
	if len(p.images) == 0 && p.footer == "" {
		return block
	}

	var content []object
	text := func(s string) {
		if s != "" {
			content = append(content, object{"type": "text", "text": s})
		}
	}
	text(p.text)
	for _, im := range p.images {
		content = append(content, anthropicImage(im))
	}
	text(p.footer)
	block["content"] = content
	return block
}

func anthropicImage(im record.Image) object {
	if im.URL != "" {
		return object{"type": "image", "source": object{"type": "url", "url": im.URL}}
	}
	return object{"type": "image", "source": object{"type": "base64", "media_type": im.Type, "data": im.Data}}
}

// argumentsObject returns arguments as the object that they are. What is none stands in one, as it was written.
func argumentsObject(text string) object {
	if text == "" {
		return object{}
	}
	v, ok := record.ReadJSON(text)
	if !ok {
		return object{"malformed_arguments": text}
	}
	if o, is := v.(object); is {
		return o
	}
	return object{"arguments": v}
}
