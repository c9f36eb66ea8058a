package pack

import (
	"fmt"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/tokens"
)

// part is a piece of the journal as it stands in the pack.
type part struct {
	piece
	text   string
	tokens int
	how    string // a record that is shortened: by what
	notes  string // of a block of notes: which

	role     ctxabi.Role      // of a record
	contents []record.Portion // of a record, without their texts
	instead  []string         // see rendered

	summarized int // of a summary: the last place that the summarizer's text tells of; 0: all of it is derived
}

// shownAs names one rendering of the record at one place.
type shownAs struct {
	at, body int
	repeats  string // the records that it refers to; "": none
}

type rendered struct {
	text   string
	tokens int
	how    string // it is shortened: by what
	used   bool   // by the build going on

	role     ctxabi.Role      // of the record
	contents []record.Portion // without their texts
	body     int              // that it was rendered with
	// instead are the texts that stand in the place of the record's results, in their order; "": the result itself. It is nil where
	// no result is a reference, and where the rest of the record is shortened, too.
	instead []string
}

// render renders and counts the record at a place of m, with references where refs says so.
func (mm *journalMemo) render(m record.Records, at, body int, refs references, c *tokens.Counter) (rendered, error) {
	key := shownAs{at, body, refs.String()}
	r, ok := mm.records[key]
	if !ok {
		before := record.UnreadSoFar(m)
		s, err := record.Read(m, at, body)
		if err != nil {
			return r, err
		}
		r.body = body
		if len(refs) == 0 {
			r.text, r.how = s.Write(body)
		} else {
			r.text, r.how, r.instead = refer(s, refs, body)
		}
		if r.role, r.contents, err = outlineAt(m, at, r); err != nil {
			return r, err
		}
		whole := r.how == "" && record.UnreadSoFar(m) == before // else what is kept of its count is not that of r
		if whole && mm.known != nil {
			r.tokens = mm.known(record.AddressOf(m, at))
		}
		if r.tokens == 0 {
			r.tokens = c.CountCached(r.text)
			if whole && mm.counted != nil {
				mm.counted(record.AddressOf(m, at), r.tokens)
			}
		}
	}
	if !r.used {
		r.used = true
		mm.records[key] = r
	}
	return r, nil
}

// show renders the record of a piece as far as its share goes.
func (mm *journalMemo) show(m record.Records, p piece, c *tokens.Counter) (rendered, error) {
	// No text weighs sixteen times its tokens but for rows of one character, and those can be cut.
	if p.exact > 0 && int(m.At(p.From).Weight)/16 < p.exact {
		if r, err := mm.render(m, p.From, 0, nil, c); err != nil || r.tokens <= p.exact {
			return r, err
		}
	}
	return mm.render(m, p.From, p.body, nil, c)
}

// count sums up the tokens of pieces of the journal.
func (mm *journalMemo) count(m record.Records, pieces []piece, c *tokens.Counter) (n int64, err error) {
	for _, p := range pieces {
		if p.omitted {
			n += int64(c.CountCached(leftOut(p, record.StretchOf(m, p.Span))))
			continue
		}
		r, err := mm.show(m, p, c)
		if err != nil {
			return 0, err
		}
		n += int64(r.tokens)
	}
	return n, nil
}

const conversation = record.BlockHeading + "conversation\n"

// renderJournal renders the pieces of f: the leading records below their heading, the zones, and all others below the conversation's.
func (mm *journalMemo) renderJournal(m record.Records, f *fold, c *tokens.Counter) (parts []part, total int, err error) {
	if f.n == 0 {
		return nil, 0, nil
	}
	z, err := mm.zones(m, f, c)
	if err != nil {
		return nil, 0, err
	}
	pieces := f.pieces(m, z.from)
	parts = make([]part, 0, len(pieces)+8)
	if f.lead.n > 0 {
		parts = append(parts, part{piece: piece{lead: true}, text: leading, tokens: c.CountCached(leading)})
	}
	repeats := mm.repeats(f)
	begin := func() {
		parts = append(parts, z.blocks...)
		parts = append(parts, part{piece: piece{kept: true}, text: conversation, tokens: c.CountCached(conversation)})
	}
	for i, p := range pieces {
		if i == f.lead.n {
			begin()
		}
		q := part{piece: p}
		if p.zone == inFolds {
			q = z.folds[p.From-z.from]
		} else if p.omitted {
			q.text = leftOut(p, record.StretchOf(m, p.Span))
			q.tokens = c.CountCached(q.text)
		} else {
			r, err := mm.show(m, p, c)
			if err == nil && repeats != nil && !p.kept && !p.lead {
				r, err = repeats.show(m, p.From, r, c)
			}
			if err != nil {
				return nil, 0, err
			}
			q.text, q.tokens, q.how, q.role, q.contents, q.instead = r.text, r.tokens, r.how, r.role, r.contents, r.instead
		}
		parts = append(parts, q)
	}
	if len(pieces) == f.lead.n {
		begin()
	}
	for _, q := range parts {
		total += q.tokens
	}
	return parts, total, nil
}

// leftOut is the line that stands in place of a range of records.
func leftOut(p piece, s record.Stretch) string {
	if s.Count == 1 {
		return fmt.Sprintf("## %s left out: about %d tokens, %s/%s\n", s, p.weight, ctxabi.LineDir, s)
	}
	return fmt.Sprintf("## %s left out: %d records, about %d tokens, %s/<number>\n", s, s.Count, p.weight, ctxabi.LineDir)
}
