package recall

import (
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Numbers of the index over old records. Its window is wider than that of the zones, which
// choose their lines from the newest: what is asked for again may lie further back, and to rank a
// passage costs less than to weigh its words.
const (
	recallBytes  = 2 << 20 // likewise, of the log, no more than the ends of each
	segmentLen   = 32      // records
	passageBytes = 400     // about a hundred tokens
	Ends         = 8 << 10 // bytes that are looked at at each end of a record
)

// oldRecords are the passages of the records behind a boundary, ranked against each other. The window that they are
// from does not grow with the history. They are read in segments of records that begin at the same places wherever
// the boundary is, so that only what is new is read when it moves.
type oldRecords struct {
	boundary int
	segments []*recordSegment
	passages []oldPassage // of all segments: the documents of the corpus
	corpus   *compress.Corpus
	scores   [2]*compress.Running // for the request, and for the newest records
}

// recordSegment is some records in a row.
type recordSegment struct {
	first, n int
	passages []oldPassage
	index    *compress.Index
	size     int // bytes, about
}

// over returns the positions of the failed results that a later one ended or repeated; none if a record cannot be read.
func (q *Query) over() map[int]bool {
	o, err := q.Memo.Outcomes(q.History, q.Fold)
	if err != nil {
		return nil
	}
	return o.Closed
}

// oldPassage is a part of what a record says.
type oldPassage struct {
	compress.Passage
	of   *oldRecord
	read *readPassage // which all copies share
}

// readPassage is what is known of a passage once somebody asked.
type readPassage struct {
	named []string  // the identifiers in it; nil: nobody did
	lines []oldLine // likewise
}

func (p *oldPassage) text() string { return p.of.text[p.From:p.To] }

// words are the identifiers in the passage.
func (p *oldPassage) words() []string {
	if p.read.named == nil {
		p.read.named = append([]string{}, compress.Identifiers(p.text(), recallHits)...)
	}
	return p.read.named
}

// lines are those of the passage.
func (p *oldPassage) lines() []oldLine {
	if p.read.lines == nil {
		p.read.lines = linesOf(p.text())
	}
	return p.read.lines
}

// linesOf returns the lines of a text that are not blank.
func linesOf(text string) []oldLine {
	at, lines := 0, []oldLine{}
	compress.EachLine(text, func(_ int, line string) {
		from := at + strings.Index(text[at:], line)
		at = from + len(line)
		lines = append(lines, oldLine{from, at})
	})
	return lines
}

// longestRun returns the longest part of a text without a line that is hidden. A short line is only
// hidden if it is over.
func longestRun(text string, lines []oldLine, hidden, over func(line string) bool) (from, to int) {
	begin, end := -1, -1
	finish := func() {
		if begin >= 0 && end-begin > to-from {
			from, to = begin, end
		}
		begin = -1
	}
	for _, l := range lines {
		switch line := text[l.from:l.to]; {
		case len(line) < LineBytes && !over(line):
		case hidden(line):
			finish()
		default:
			if begin < 0 {
				begin = l.from
			}
			end = l.to
		}
	}
	finish()
	return from, to
}

// tellsFailure reports whether a line of the passage tells that something failed.
func (p *oldPassage) tellsFailure() (tells bool) {
	compress.EachLine(p.text(), func(_ int, line string) { tells = tells || compress.TellsFailure(line) })
	return tells
}

// oldRecord is a record as far as it can be recalled.
type oldRecord struct {
	at       int    // its place
	who      string // "user", "tool run_tests"
	text     string // what is looked at of it
	whole    bool   // which is all of it
	read     bool   // it could be read
	said     int    // bytes of text in front of the arguments of its calls
	passages int
}

// isReplaced reports whether later writes of the same files replaced what a record has from a byte
// on: the output of a call, or its arguments. It returns false if the record cannot be read.
func (q *Query) isReplaced(old *oldRecord, from int) bool {
	if !record.IsResult(q.History.At(old.at)) && from < old.said {
		return false
	}
	replaced, known := q.replaced[old.at]
	if !known {
		replaced = q.Memo.Replaced(q.History, old.at, q.Fold.N)
		if q.replaced == nil {
			q.replaced = map[int]bool{}
		}
		q.replaced[old.at] = replaced
	}
	return replaced
}

// old returns the records behind a boundary.
func (mm *Memo) old(m record.Records, boundary int) *oldRecords {
	before := mm.recalled
	if before != nil && before.boundary == boundary {
		return before
	}
	known := map[int]*recordSegment{}
	if before != nil {
		for _, s := range before.segments {
			known[s.first] = s
		}
	}
	o := &oldRecords{boundary: boundary}
	var indexes []*compress.Index
	readable := true
	for _, first := range recallWindow(m, boundary) {
		n := min(segmentLen, boundary-first)
		s := known[first]
		if s == nil || s.n != n {
			s = mm.coming[first]
		}
		if s == nil || s.n != n {
			var ok bool
			s, ok = readSegment(m, first, n)
			readable = readable && ok
		}
		o.segments = append(o.segments, s)
		o.passages = append(o.passages, s.passages...)
		indexes = append(indexes, s.index)
	}
	o.corpus = compress.JoinIndexes(indexes...)
	if readable { // else the next build tries again
		mm.recalled = o
	}
	maps.DeleteFunc(mm.coming, func(first int, s *recordSegment) bool { return first+s.n <= boundary })
	return o
}

// prepare reads a segment of the live ones of n records that is whole and that no build read yet, if there is one, so that a compaction
// finds most of those that it makes old read.
func (mm *Memo) prepare(m record.Records, boundary, n int) {
	for first := (boundary-1)/segmentLen*segmentLen + 1; first+segmentLen-1 <= n && len(mm.coming) < journal.RecallRecords/segmentLen; first += segmentLen {
		if mm.coming[first] != nil {
			continue
		}
		if s, ok := readSegment(m, first, segmentLen); ok {
			if mm.coming == nil {
				mm.coming = map[int]*recordSegment{}
			}
			mm.coming[first] = s
		}
		return
	}
}

// recallWindow returns where the segments begin that are looked at, oldest first.
func recallWindow(m record.Records, boundary int) (firsts []int) {
	bytes := 0
	for first := (boundary-2)/segmentLen*segmentLen + 1; first > 0 && boundary > 1; first -= segmentLen {
		for at := first; at < min(first+segmentLen, boundary); at++ {
			bytes += min(int(m.At(at).Len), 2*Ends)
		}
		if len(firsts) > 0 && (bytes > recallBytes || boundary-first > journal.RecallRecords) {
			break
		}
		firsts = append(firsts, first)
	}
	slices.Reverse(firsts)
	return firsts
}

// readSegment reads n records from first on; ok is false when one cannot be read.
func readSegment(m record.Records, first, n int) (s *recordSegment, ok bool) {
	s, ok = &recordSegment{first: first, n: n}, true
	var docs []string
	for at := first; at < first+n; at++ {
		old, _ := oldAt(m, at)
		if !old.read {
			ok = false
			continue
		}
		found := compress.Passages(old.text, passageBytes)
		old.passages = len(found)
		for _, p := range found {
			s.passages = append(s.passages, oldPassage{p, old, &readPassage{}})
			docs = append(docs, old.text[p.From:p.To])
		}
		s.size += len(old.text) + 96 + 96*len(found)
	}
	s.index = compress.NewIndex(docs)
	s.size += s.index.Size()
	return s, ok
}

// oldAt is the record at a place.
func oldAt(m record.Records, at int) (old *oldRecord, r record.Excerpt) {
	old = &oldRecord{at: at}
	r, err := record.ExcerptOf(m, at)
	if err != nil || record.IsUnread(m, at) {
		return old, r
	}
	old.read, old.who = true, Speaker(&r, m, at)
	said := recalled(&r)
	old.text, old.whole = journal.BothEnds(said.Whole(), Ends)
	old.said = len(old.text)
	if len(said.Calls) > 0 {
		old.said = min(old.said, len(said.Text))
	}
	return old, r
}

// recalled is a record without the calls whose state is elsewhere, and newer, and without the texts
// that edits remove.
func recalled(r *record.Excerpt) record.Excerpt {
	said := *r
	said.Calls = slices.DeleteFunc(slices.Clone(r.Calls), func(c ctxabi.Call) bool { return derived.KeepsList(c.Name) })
	for i := range said.Calls {
		said.Calls[i].Arguments = journal.WithoutRemoved(said.Calls[i])
	}
	return said
}

// wordsAt returns what can be recalled of the record at a place, as oldAt reads it; ok is false when it cannot be read.
func wordsAt(m record.Records, at int) (text string, ok bool) {
	r, err := record.WordsOf(m, at)
	if err != nil || record.IsUnread(m, at) {
		return "", false
	}
	said := recalled(&r)
	text, _ = journal.BothEnds(said.Whole(), Ends)
	return text, true
}

// Speaker is what a heading calls the one who says it.
func Speaker(s *record.Excerpt, m record.Records, at int) string {
	var b strings.Builder
	switch e := m.At(at); {
	case s.Result:
		b.WriteString("tool")
	case e.Role == ctxabi.Event:
		b.WriteString("tool_call")
	default:
		b.WriteString(e.Role.String())
	}
	record.WriteWord(&b, record.ShortName(s.Name))
	return b.String()
}

func (o *oldRecords) size() int {
	n := 32 * len(o.passages)
	for _, s := range o.segments {
		n += s.size
	}
	return n
}
