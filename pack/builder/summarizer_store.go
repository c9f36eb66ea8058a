package builder

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// summaryRow is a line of [session.SummariesFile]: a text that was accepted, or one that was discarded, or how a run failed.
type summaryRow struct {
	Maker string `json:"maker"`           // see makerOf
	To    int    `json:"to,omitempty"`    // as in Summary, and After and Text
	End   int64  `json:"end,omitempty"`   // where the record at To ends in its log: another one there is not what was summarized
	After int    `json:"after,omitempty"` // likewise
	Text  string `json:"text,omitempty"`  // likewise

	Discarded string `json:"discarded,omitempty"` // why
	Failed    string `json:"failed,omitempty"`    // likewise
}

// endOf is where the record at a place ends in its log.
func endOf(m record.Records, at int) int64 {
	e := m.At(at)
	return e.Offset + int64(e.Len)
}

// use makes s remember what the command of maker did for the history m.
func (s *summarizer) use(x *session.Session, m record.Records, maker string) {
	kept := x.KeptChanges()
	if s.loaded && s.maker == maker && s.kept == kept {
		return
	}
	if !s.loaded || s.kept != kept {
		s.loaded, s.kept, s.rows = true, kept, slices.Clone(s.own)
		lines, _ := x.DerivedLines(session.SummariesFile)
		for _, line := range lines {
			var row summaryRow
			if json.Unmarshal(line, &row) == nil && (row.To == 0 || row.To <= m.Len() && endOf(m, row.To) == row.End) {
				s.rows = append(s.rows, row)
			}
		}
	}
	if s.maker != maker {
		s.asked, s.note = nil, ""
	}
	s.maker, s.list = maker, nil
	for _, row := range s.rows {
		if row.Maker == maker && row.Text != "" {
			s.accept(row)
		}
	}
}

// accept adds the text of a row, unless another host had one of the same records accepted first.
func (s *summarizer) accept(row summaryRow) {
	if slices.ContainsFunc(s.list, func(sum journal.Summary) bool { return sum.To == row.To }) {
		return
	}
	sum := journal.Summary{To: row.To, After: row.After, Text: row.Text}
	id := sum.ID()
	sum.Sum = &id
	s.list = append(slices.Clip(s.list), sum) // inputs of builds hold the list as it was
}

// before is the newest summary of records in front of the one at to, or nil.
func (s *summarizer) before(to int) *journal.Summary {
	for i := range slices.Backward(s.list) {
		if s.list[i].To < to {
			return &s.list[i]
		}
	}
	return nil
}

// decided reports whether the records up to a place need no run: what one made of these is accepted or discarded.
func (s *summarizer) decided(to int) bool {
	return slices.ContainsFunc(s.rows, func(r summaryRow) bool {
		return r.Maker == s.maker && (r.Text != "" && r.To >= to || r.Discarded != "" && r.To == to)
	})
}

// share has the text of a row committed, unless there is one of the same records by then.
func (s *summarizer) share(ctx context.Context, x *session.Session, row summaryRow) <-chan error {
	return keepBehind(ctx, x, func() (session.Kept, bool) {
		was, err := x.KeptSum(session.SummariesFile)
		there := err != nil
		x.EachDerivedLine(session.SummariesFile, func(line []byte) bool {
			var r summaryRow
			there = there || json.Unmarshal(line, &r) == nil && r.Maker == row.Maker && r.To == row.To && r.Text != ""
			return !there
		})
		line, err := json.Marshal(row)
		return session.Kept{Name: session.SummariesFile, Was: was, Line: true, Data: line}, !there && err == nil
	})
}

// keep keeps a row with the session. Where summaries are committed, those are that are accepted, by share,
// and this host alone remembers the others.
func (s *summarizer) keep(x *session.Session, row summaryRow) error {
	if x.Keeps() {
		s.own = append(s.own, row)
		s.rows = append(s.rows, row)
		return nil
	}
	line, err := json.Marshal(row)
	if err == nil {
		err = x.AppendDerived(session.SummariesFile, line)
	}
	if err == nil || row.Text == "" { // what is not accepted matters while this daemon runs
		s.rows = append(s.rows, row)
	}
	return err
}

// tell keeps a row of what was not accepted and tells the session, once.
func (s *summarizer) tell(x *session.Session, row summaryRow, note string) {
	if slices.Contains(s.rows, row) {
		return
	}
	s.keep(x, row)
	kind := ctxabi.ErrIO
	if row.Discarded != "" {
		kind = ctxabi.ErrMalformed
	}
	x.Report(disk.RowOf("summarize", ctxabi.PackFile, 0, ctxabi.E("summarize", ctxabi.PackFile, kind, "%s", note)))
}

// size is about how many bytes s holds.
func (s *summarizer) size() (n int) {
	for i := range s.rows {
		n += 256 + len(s.rows[i].Text) + len(s.rows[i].Discarded) + len(s.rows[i].Failed)
	}
	return n + 128*len(s.list)
}
