package native

import (
	"slices"

	"github.com/ctxfs/ctxfs/pack/record"
)

// alternating is a conversation for providers that know two roles, which take turns: what all but the assistant says
// is the user's. The first message is the user's and so is the last.
type alternating struct {
	system   []Head
	messages []roleMessage
}

type roleMessage struct {
	assistant bool
	parts     []filled
	session   int // of these, how many stand before the journal
	past      int // how many are of the past
}

func (a *alternating) add(assistant bool, u *utterance, parts ...filled) {
	last := len(a.messages) - 1
	if last < 0 || a.messages[last].assistant != assistant {
		a.messages = append(a.messages, roleMessage{assistant: assistant})
		last++
	}
	m := &a.messages[last]
	m.parts = append(m.parts, parts...)
	if u.session {
		m.session = len(m.parts)
	}
	if u.past {
		m.past = len(m.parts)
	}
}

// alternate returns d in two roles.
func (d *Dialogue) alternate(f form) *alternating {
	d.arrange(f)
	a := &alternating{system: d.head}
	for i := range d.turns {
		u := &d.turns[i]
		if u.lead {
			text, _ := u.text()
			a.system = append(a.system, Head{Text: text})
			continue
		}
		isCall := func(p filled) bool { return p.kind == record.CallPortion } // results follow the calls
		calls := slices.DeleteFunc(slices.Clone(u.parts), func(p filled) bool { return !isCall(p) })
		a.add(u.by == byAssistant, u, append(slices.DeleteFunc(u.parts, isCall), calls...)...)
	}
	// No message ends in a thought.
	for i := range a.messages {
		m := &a.messages[i]
		if n := len(m.parts); n == 0 || m.parts[n-1].kind != record.ThoughtPortion {
			continue
		}
		more := i+1 < len(a.messages) && !a.messages[i+1].parts[0].tail
		m.parts = append(m.parts, filled{text: record.EmptyMessage, tail: !more})
	}
	if last := len(a.messages) - 1; last < 0 || a.messages[last].assistant {
		a.add(false, &utterance{tail: true}, filled{text: noMore, tail: true})
	}
	return a
}

// units returns the stable part of a rendering that has a unit for each part.
func (a *alternating) units() Stable {
	w := unitWriter{}
	for _, h := range a.system {
		w.add(len(h.Text), false)
	}
	for _, m := range a.messages {
		for _, p := range m.parts {
			size := len(p.text)
			if p.kind != record.TextPortion && p.kind != record.ResultPortion {
				size = 0
			}
			w.add(size, p.tail)
		}
	}
	return w.stable
}
