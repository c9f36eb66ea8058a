package journal

import (
	"fmt"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Part is a piece of the journal as it stands in the pack.
type Part struct {
	Piece
	Text   string
	Tokens int
	How    string // a record that is shortened: by what

	Role     ctxabi.Role      // of a record
	Contents []record.Portion // of a record, without their texts
	Instead  []string         // see rendered

	Mark   bool   // a line around parts with one label
	Legend bool   // the block that explains the notation
	Day    string // of the records that follow, in a line of its own

	MissingRules int // of the user's words: messages with standing rules that are not shown

	Version    int  // number of that version
	VersionCut bool // that version is truncated
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
	day    string // see [ctxabi.DayOf]

	role     ctxabi.Role      // of the record
	contents []record.Portion // without their texts
	body     int              // that it was rendered with
	// instead are the texts that stand in the place of the record's results, in their order, or of the arguments of its calls; "": the
	// result or the arguments themselves. It is nil where neither is so, and where the rest of the record is shortened, too.
	instead []string
}

// render renders and counts the record at a place of m, with references where refs says so.
func (mm *Memo) render(m record.Records, at, body int, refs references, c *tokens.Counter) (rendered, error) {
	key := shownAs{at, body, refs.String()}
	r, ok := mm.records[key]
	if !ok {
		before := record.UnreadSoFar(m)
		s, err := record.Read(m, at, body)
		if err != nil {
			return r, err
		}
		s.Count = c.Count
		r.body = body
		if r.day, err = record.DayOf(m, at); err != nil {
			return r, err
		}
		if len(refs) == 0 {
			r.text, r.how, r.instead = s.WriteCalls(body)
		} else {
			r.text, r.how, r.instead = refer(s, refs, body)
		}
		if r.role, r.contents, err = outlineAt(m, at, r); err != nil {
			return r, err
		}
		whole := r.how == "" && record.UnreadSoFar(m) == before // else what is kept of its count is not that of r
		if whole && mm.Known != nil {
			r.tokens = mm.Known(record.AddressOf(m, at))
		}
		if r.tokens == 0 {
			r.tokens = c.CountCached(r.text)
			if whole && mm.Counted != nil {
				mm.Counted(record.AddressOf(m, at), r.tokens)
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
func (mm *Memo) show(m record.Records, p Piece, c *tokens.Counter) (rendered, error) {
	// No text weighs sixteen times its tokens but for rows of one character, and those can be cut.
	if p.exact > 0 && int(m.At(p.From).Weight)/16 < p.exact {
		if r, err := mm.render(m, p.From, 0, nil, c); err != nil || r.tokens <= p.exact {
			return r, err
		}
	}
	return mm.render(m, p.From, p.body, nil, c)
}

// count sums up the tokens of pieces of the journal but for blocks and folded records.
func (mm *Memo) count(m record.Records, pieces []Piece, c *tokens.Counter) (n int64, err error) {
	days := dayLines{c: c}
	for _, p := range pieces {
		if p.Zone == InBlocks || p.Zone == InFolds {
			continue
		}
		if p.Omitted {
			n += int64(c.CountCached(leftOut(p, record.StretchOf(m, p.Span))))
			continue
		}
		r, err := mm.show(m, p, c)
		if err != nil {
			return 0, err
		}
		n += int64(r.tokens)
		for _, line := range days.before(p, r.day) {
			n += int64(line.Tokens)
		}
	}
	return n, nil
}

const Conversation = record.BlockHeading + "conversation\n"

// RenderJournal renders the pieces of f: the leading records below their heading, the legend, the zones, and all others
// below the conversation's heading.
// It returns ctxabi.ErrIO when a record cannot be read.
func (mm *Memo) RenderJournal(m record.Records, f *Fold, c *tokens.Counter) (parts []Part, total int, err error) {
	if f.N == 0 {
		return nil, 0, nil
	}
	past, err := mm.Zones(m, f, c)
	if err != nil {
		return nil, 0, err
	}
	return mm.journal(m, f, past, mm.repeats(f), c)
}

// journal renders the pieces of f with the zones of the past, which may lack those of the newest generation. total is what
// they take. Records that repeat others refer to them as repeats says; nil: none does.
func (mm *Memo) journal(m record.Records, f *Fold, past Past, repeats *repeats, c *tokens.Counter) (parts []Part, total int, err error) {
	pieces := f.pieces(m, past.folded()...)
	parts = make([]Part, 0, len(pieces)+8)
	if f.Lead.N > 0 {
		parts = append(parts, Part{Piece: Piece{Lead: true}, Text: leading, Tokens: c.CountCached(leading)})
	}
	heading := Conversation // that is to stand before the next record; "": it stands already
	begin := func() {
		if heading != "" {
			parts = append(parts, Part{Piece: Piece{Kept: true}, Text: heading, Tokens: c.CountCached(heading)})
			heading = ""
		}
	}
	legend := past.any() // it is to stand before the first record that does not lead
	folds := foldMarks{mm: mm, rules: &f.Rules, c: c, past: past}
	days := dayLines{c: c}
	for _, p := range pieces {
		if legend && !p.Lead {
			parts, legend = append(parts, mm.legend(c)), false
		}
		parts = append(parts, folds.before(p)...)
		if p.Zone == InBlocks {
			if p.Past < len(past) && len(past[p.Past].blocks) > 0 {
				parts, heading = append(parts, past[p.Past].blocks...), Conversation
				for i := len(parts) - len(past[p.Past].blocks); i < len(parts); i++ {
					parts[i].Past = p.Past
				}
			}
			continue
		}
		if !p.Lead {
			begin()
		}
		q := Part{Piece: p}
		if p.Zone == InFolds {
			parts = append(parts, folds.open(p)...)
			q = past.fold(p)
			q.Past = p.Past
		} else if p.Omitted {
			q.Text = leftOut(p, record.StretchOf(m, p.Span))
			q.Tokens = c.CountCached(q.Text)
		} else {
			r, err := mm.show(m, p, c)
			if err == nil && repeats != nil && !p.Kept && !p.Lead {
				r, err = repeats.show(m, p.From, r, c)
			}
			if err != nil {
				return nil, 0, err
			}
			q.Text, q.Tokens, q.How, q.Role, q.Contents, q.Instead = r.text, r.tokens, r.how, r.role, r.contents, r.instead
			parts = append(parts, days.before(p, r.day)...)
		}
		parts = append(parts, q)
	}
	parts = append(parts, folds.close()...)
	if len(pieces) == f.Lead.N {
		begin()
	}
	for _, q := range parts {
		total += q.Tokens
	}
	return parts, total, nil
}

// leftOut is the line that stands in place of a range of records.
func leftOut(p Piece, s record.Stretch) string {
	if s.Count == 1 {
		return fmt.Sprintf("## %s left out: about %d tokens, %s/%s\n", s, p.Weight, ctxabi.LineDir, s)
	}
	return fmt.Sprintf("## %s left out: %d records, about %d tokens, %s/<number>\n", s, s.Count, p.Weight, ctxabi.LineDir)
}
