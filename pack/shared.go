package pack

import (
	"crypto/sha256"
	"hash"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// shared is what a pack has in common with the pack of one record fewer and the same files, from its beginning on: whole
// blocks and records before the footer. That is what a provider finds in its cache when each pack is sent in its turn.
// Of the first record and of none it is nothing, since nothing was sent before.
//
// It is worked out by making that other pack up to its footer, so that it holds through compactions and tighter folds, too,
// and depends on no earlier build. Where that pack was the last one made, what stood in it is known.
type shared struct{ bytes, tokens int }

// before is the input with one record fewer; false: nothing was sent before this one.
func (in *Input) before() (Input, bool) {
	m := in.History()
	if m.Len() < 2 {
		return Input{}, false
	}
	less := *in
	if record.AddressOf(m, m.Len()).Event {
		less.Tools = in.Tools[:len(in.Tools)-1]
	} else {
		less.Messages = shorter{in.Messages, in.Messages.Len() - 1}
	}
	return less, true
}

// shorter is the beginning of a log.
type shorter struct {
	record.Records
	n int
}

func (s shorter) Len() int { return s.n }

// drafted is what stood before the footer of the pack that was made last.
type drafted struct {
	around          [sha256.Size]byte // of all that it was made from, but for the records
	messages, tools int
	stretches       []journal.Part
}

// drafting is what the pack of in is called among drafts, without what stands in it, where around is the hash of all but the records.
func (in *Input) drafting(around hash.Cloner) (n drafted) {
	in.withSummaries(around).Sum(n.around[:0])
	n.messages, n.tools = in.Messages.Len(), len(in.Tools)
	return n
}

// stretchesBefore are those of the pack of one record fewer; none where there is no such pack.
func (in *Input) stretchesBefore(mm *Memo, c *tokens.Counter, around hash.Cloner) []journal.Part {
	less, ok := in.before()
	if !ok {
		return nil
	}
	if n, last := less.drafting(around), &mm.last; n.around == last.around && n.messages == last.messages && n.tools == last.tools {
		return last.stretches
	}
	before, err := less.draft(mm, c)
	if err != nil {
		return nil
	}
	return before.stretches()
}

// since compares d with the pack of one record fewer.
func (d *draft) since(was []journal.Part) (k shared) {
	for i, s := range d.stretches() {
		if i == len(was) || s.Text != was[i].Text {
			break
		}
		k.bytes, k.tokens = k.bytes+len(s.Text), k.tokens+s.Tokens
	}
	return k
}

// stretches are the blocks and records before the footer, as they stand in the pack.
func (d *draft) stretches() (list []journal.Part) {
	add := func(blocks []block) {
		for _, b := range blocks {
			if b.text != "" {
				list = append(list, journal.Part{Text: b.text, Tokens: b.tokens})
			}
		}
	}
	stable, session := d.around()
	add(stable)
	list = append(list, d.inHead()...)
	add(session)
	return append(list, d.behindHead()...)
}

// written are the tokens that a provider adds to its cache: the prefix, but for what it has.
func (d *draft) written() int { return d.tokens.head + d.tokens.journal - d.shared.tokens }

// inHead are the parts of the journal that stand in the head: the leading records, below their heading.
func (d *draft) inHead() []journal.Part {
	n := 0
	for n < len(d.parts) && d.parts[n].Lead {
		n++
	}
	return d.parts[:n]
}

// behindHead are the other parts of the journal.
func (d *draft) behindHead() []journal.Part { return d.parts[len(d.inHead()):] }

// around are the blocks before and behind the leading records.
func (d *draft) around() (stable, session []block) {
	n := 0
	for n < len(d.head) && d.head[n].phase == phaseStable {
		n++
	}
	return d.head[:n], d.head[n:]
}
