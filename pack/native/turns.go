package native

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/record"
)

// Stable is how much of a rendering the next one begins with while the epoch is the same: its first
// Units units, and the first Text bytes of the text of the unit after them.
type Stable struct{ Units, Text int }

// unitWriter counts units (parts of messages, calls, and items) and finds the end of the stable
// ones.
type unitWriter struct {
	units   int
	stable  Stable
	reached bool // the tail
}

// add counts a unit with size bytes of text, which may grow.
func (w *unitWriter) add(size int, tail bool) {
	w.units++
	w.grow(size, tail)
}

// grow notes that the text of the last unit has size bytes now.
func (w *unitWriter) grow(size int, tail bool) {
	if w.reached = w.reached || tail; w.reached {
		return
	}
	if w.stable = (Stable{Units: w.units}); size > 0 {
		w.stable = Stable{w.units - 1, size}
	}
}

// form describes the messages of a format.
type form struct {
	roles  int                   // 2: everybody but the assistant is the user
	images bool                  // results may have images
	thinks func(raw []byte) bool // which thoughts it shows; with more roles it shows none alone
}

// arrange makes d the conversation that a format takes.
//
// The first turn is the user's: the compacted history, or a text that says that the assistant
// speaks first. Turns of the user that follow each other become one message, so that roles
// alternate.
func (d *Dialogue) arrange(f form) {
	d.dropThoughts(f)
	if !f.images {
		d.withoutImagesInResults()
	}

	first := slices.IndexFunc(d.turns, func(u utterance) bool { return !u.lead })
	switch {
	case first < 0:
		d.add(utterance{by: ByUser, tail: true, parts: []filled{{text: noUser}}})
	case d.turns[first].by == byAssistant:
		u := &d.turns[first]
		opens := utterance{by: ByUser, past: u.past, session: u.session, parts: []filled{{text: firstSpeaks}}}
		d.turns = slices.Insert(d.turns, first, opens)
	}

	d.placeFooter(f.roles)
	for i := range d.turns {
		d.turns[i].parts = slices.Clone(d.turns[i].parts)
		for k := range d.turns[i].parts {
			d.turns[i].parts[k].tail = d.turns[i].tail
		}
	}
	if f.roles > 2 {
		d.join()
	}
}

// dropThoughts removes the thinking that a format does not show, and the turns that have nothing
// else.
func (d *Dialogue) dropThoughts(f form) {
	var turns []utterance // last first
	for _, u := range slices.Backward(d.turns) {
		more := len(turns) > 0 && turns[len(turns)-1].by == byAssistant
		switch {
		case u.by != byAssistant:
		case f.roles > 2 && !more && u.onlyThinks():
			continue
		case f.thinks != nil:
			u.parts = slices.DeleteFunc(slices.Clone(u.parts), func(p filled) bool {
				return p.kind == record.ThoughtPortion && !f.thinks(p.raw)
			})
		}
		if len(u.parts) > 0 {
			turns = append(turns, u)
		}
	}
	slices.Reverse(turns)
	d.turns = turns
}

// placeFooter puts the footer after the live records. While a call waits for the model, user text
// would end the turn: Claude drops its thinking, Gemini and DeepSeek begin another turn. There the
// footer follows the text of the last result.
func (d *Dialogue) placeFooter(roles int) {
	if d.footer.Request != "" {
		d.add(utterance{by: ByUser, tail: true, parts: []filled{{text: d.footer.Request}}})
		return
	}
	system, text := d.footer.System, d.footer.Quoted
	if roles == 2 {
		system, text = "", system+text
	}
	if last := len(d.turns) - 1; text != "" && last >= 0 && d.turns[last].by == byTools {
		parts := slices.Clone(d.turns[last].parts)
		parts[len(parts)-1].footer = text
		d.turns[last].parts = parts
	} else if text != "" {
		d.add(utterance{by: byNote, tail: true, parts: []filled{{text: text}}})
	}
	if system != "" {
		d.add(utterance{by: bySystem, tail: true, parts: []filled{{text: system}}})
	}
}

// setTools adds definitions of tools to a body, and the choice of none of them under key if no call
// may answer it.
func (d *Dialogue) setTools(body object, list []object, key string, none any) {
	if len(list) == 0 {
		return
	}
	if body["tools"] = list; d.footer.Request != "" {
		body[key] = none
	}
}

// join makes one turn of turns of the user, or of the assistant, that follow each other. A turn of
// the assistant that returns its reasoning stays a message of its own: a message has one reasoning.
func (d *Dialogue) join() {
	var turns []utterance
	for _, u := range d.turns {
		if u.by == byNote {
			u.by = ByUser
		}
		last := len(turns) - 1
		if last >= 0 && turns[last].continues(&u) {
			turns[last].parts = append(turns[last].parts, u.parts...)
			turns[last].tail = turns[last].tail && u.tail
			continue
		}
		turns = append(turns, u)
	}
	d.turns = turns
}

// continues reports whether a turn and the one after it are one message.
func (u *utterance) continues(next *utterance) bool {
	return u.by == next.by && (u.by == ByUser || u.by == byAssistant && !u.thinks() && !next.thinks())
}

// thinks reports whether a turn has thinking.
func (u *utterance) thinks() bool {
	return slices.ContainsFunc(u.parts, func(p filled) bool { return p.kind == record.ThoughtPortion })
}

// onlyThinks reports whether a turn has nothing but thinking.
func (u *utterance) onlyThinks() bool {
	return !slices.ContainsFunc(u.parts, func(p filled) bool { return p.kind != record.ThoughtPortion })
}

// withFooter returns the text of a result and the footer after it.
func (p *filled) withFooter(text string) string {
	if p.footer == "" {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + p.footer
}
