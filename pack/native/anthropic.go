package native

import "github.com/ctxfs/ctxfs/pack/record"

// maxMarks is how many marks a request may hold, and markReach how many blocks before a mark the provider looks for
// what it has cached.
const (
	MaxMarks  = 4
	MarkReach = 20
)

// anthropic writes the body of a request to Anthropic's Messages. Its cache marks stand behind STABLE, behind all of SESSION,
// behind the compacted past and on the last complete turn; those that coincide serve where two are far apart.
func (d *Dialogue) anthropic(tools Tools) (data []byte, stable int) {
	a := d.alternate(func(raw []byte) bool { return thought(raw, Anthropic) != nil })
	var blocks []object // all, in their order
	var system []object
	var marks []int // indices of blocks
	mark := func() {
		for at := len(blocks) - 1; at >= 0; at-- {
			if !isThought(blocks[at]) {
				if len(marks) == 0 || marks[len(marks)-1] < at {
					marks = append(marks, at)
				}
				return
			}
		}
	}
	for i, h := range a.system {
		system = append(system, object{"type": "text", "text": h.Text})
		blocks = append(blocks, system[i])
		if h.Stable && (i+1 == len(a.system) || !a.system[i+1].Stable) {
			mark()
		}
	}
	session, past := -1, -1
	if len(d.head) > 0 {
		session = len(blocks)
	}
	last := len(blocks) - 1
	var messages []object
	for _, m := range a.messages {
		var content []object
		for i, p := range m.parts {
			block := anthropicBlock(p)
			content, blocks = append(content, block), append(blocks, block)
			if i < m.session {
				session = len(blocks)
			}
			if i < m.past {
				past = len(blocks)
			}
			if i < m.stable {
				last = len(blocks)
			}
		}
		role := "user"
		if m.assistant {
			role = "assistant"
		}
		messages = append(messages, object{"role": role, "content": content})
	}
	all := blocks
	for _, end := range []int{session, past, last} {
		if end > 0 {
			blocks = all[:end]
			mark()
		}
	}
	for _, at := range spread(marks, all) {
		all[at]["cache_control"] = object{"type": "ephemeral"}
	}

	body := object{"messages": itemLines(messages)}
	if len(system) > 0 {
		body["system"] = itemLines(system)
	}
	list := tools.anthropic()
	if len(list) == 0 && a.calls() { // a request with calls must define tools
		list = []object{{"name": "not_available", "description": "Do not call it: the tools of the calls above are not available any more.",
			"input_schema": object{"type": "object", "properties": object{}}}}
	}
	if len(list) > 0 {
		body["tools"] = itemLines(list)
	}
	return writeBody(body), a.stable()
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
		block := object{"type": "tool_result", "tool_use_id": p.id, "content": p.text}
		if p.failed {
			block["is_error"] = true
		}
		if len(p.images) > 0 {
			var content []object
			if p.text != "" {
				content = append(content, object{"type": "text", "text": p.text})
			}
			for _, im := range p.images {
				content = append(content, anthropicImage(im))
			}
			block["content"] = content
		}
		return block
	case record.ThoughtPortion:
		return thought(p.raw, Anthropic)
	case record.DataPortion:
		return anthropicImage(p.images[0])
	}
	return object{"type": "text", "text": p.text}
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
