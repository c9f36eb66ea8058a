package section

import (
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// Message holds the user's words of one message, or of the replies to a question tool.
type Message struct {
	At    int
	Parts []string // sentences and list items, without pasted content
	Rules string   // the standing rules among the parts; "" for none
	Asked string   // of a short reply: the text of the assistant that it answers
	Cut   bool     // Parts omits pasted content
	Reply bool     // the user answered a question tool
	Sense derived.Sense

	order []int // see Order; nil: not computed yet
}

// Says reports whether the message has words of its own: it is neither small talk nor a paste alone.
func (w *Message) Says() bool {
	return w.Sense != derived.Idle && len(w.Parts) > 0 && !(len(w.Parts) == 1 && w.Cut)
}

// Order returns the indices of the parts by importance, rules first.
func (w *Message) Order() []int {
	if w.order == nil {
		w.order = derived.Order(w.Parts, derived.IsRule)
	}
	return w.order
}

// requests is the section of the user's words.
type requests struct {
	list  []*Message // clones share the array: equal records append equal messages
	asked string     // what the assistant asked since the user's last message
}

func newRequests() prefix.Section { return new(requests) }

// AnsweredBytes is the maximum size of the text that a short reply answers.
const AnsweredBytes = 320

// Apply implements [prefix.Section].
func (s *requests) Apply(r *prefix.Record) {
	text := r.Excerpt.Text
	switch {
	case r.User:
		w := &Message{At: r.At, Sense: derived.SenseOf(text)}
		w.Parts, w.Cut = derived.UserWords(text)
		w.Parts = bounded(w.Parts)
		w.Rules = strings.Join(derived.Rules(w.Parts), " ")
		if w.Sense == derived.Reply {
			w.Asked = s.asked
		}
		s.list, s.asked = append(s.list, w), ""
	case r.Excerpt.Result && len(r.Excerpt.Replies) > 0:
		s.list = append(s.list, &Message{At: r.At, Parts: r.Excerpt.Said(), Reply: true})
	case !r.Excerpt.Result && strings.TrimSpace(text) != "":
		s.asked = derived.Question(text, AnsweredBytes)
	}
}

// maxWords is how many bytes of one message a state keeps. Prompts quote less.
const maxWords = 8 << 10

// bounded returns the most important parts of a message with at most maxWords bytes, rules first,
// and "…" for the others.
func bounded(parts []string) []string {
	size := 0
	for _, part := range parts {
		size += len(part) + 1
	}
	if size <= maxWords {
		return parts
	}

	kept, left := make([]bool, len(parts)), maxWords
	for _, i := range derived.Order(parts, derived.IsRule) {
		if left -= len(parts[i]) + 1; left < 0 {
			break
		}
		kept[i] = true
	}
	return derived.Select(parts, func(i int) bool { return kept[i] })
}

// size returns the approximate number of bytes of a message.
func (w *Message) size() int {
	n := len(w.Rules) + len(w.Asked)
	for _, part := range w.Parts {
		n += len(part)
	}
	return n
}

// Encode implements [prefix.Section].
func (s *requests) Encode(c *coder.Coder) {
	coder.Text(c, &s.asked)
	coder.Pointers(c, &s.list, func(w *Message) {
		coder.Number(c, &w.At)
		coder.Number(c, &w.Sense)
		coder.List(c, &w.Parts, func(part *string) { coder.Text(c, part) })
		coder.Text(c, &w.Rules, &w.Asked)
		c.Flag(&w.Cut, &w.Reply)
	})
}

// Clone implements [prefix.Section].
func (s *requests) Clone() prefix.Section { copied := *s; return &copied }
