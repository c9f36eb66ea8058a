package pack

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
)

// requestRecords renders the records that a summary must cover. A request contains them if the
// prompt omits or shortens too many of them. A call that asks for the summary then gets the version
// in use and these records instead of the conversation.
type requestRecords struct {
	span    ctxabi.Span // places of the records
	base    *journal.Summary
	tools   []ctxabi.EventPlace // of the history; see [record.Merged]
	room    int                 // tokens for the records
	marks   ctxabi.Marks
	counter *tokens.Counter
	made    atomic.Pointer[string] // result of text; nil: not computed yet
}

const (
	wellShown      = 900  // share of the uncovered records that a prompt shows at least, in thousandths
	mostUncovered  = 30   // if the uncovered records exceed the free tokens by this factor, none is listed
	requestFrame   = 200  // tokens of the marks and headings around the records
	dialogueShare  = 700  // share of the tokens for records without calls and results, in thousandths
	leastPerRecord = 40   // tokens; if the records do not fit at this size, none is listed
	overhead       = 1.05 // tokens of a record with its heading, in relation to its weight
)

// uncovered returns the records for a request, or nil if the prompt shows them well enough.
func (d *draft) uncovered() *requestRecords {
	if d.limits.limit == 0 || !d.journal.Present || !d.zoned {
		return nil
	}
	r := &requestRecords{tools: d.in.Tools, marks: d.in.labelMarks(), counter: d.counter}
	from := d.clock.Lead.N + 1
	if r.base = d.memo.SummaryAfter(d.clock.N); r.base != nil {
		from = max(from, r.base.To+1)
	}
	r.span = ctxabi.Span{From: from, To: d.askedUpto}

	r.room = d.limits.limit - d.tokens.head - d.toolTokens - requestFrame -
		d.counter.CountCached(longRequest(&d.ask, d.perToken()))
	if r.base != nil {
		r.room -= r.base.Tokens
	}
	for _, p := range d.inHead() {
		r.room -= p.Tokens
	}
	total, least := 0, 0
	for at := r.span.From; at <= r.span.To && total <= r.room*mostUncovered && least <= r.room; at++ {
		weight := int(d.history.At(at).Weight)
		total, least = total+weight, least+min(weight, leastPerRecord)
	}
	shown := 0
	for i := range d.parts {
		if p := &d.parts[i]; p.Zone == journal.InFull && !p.Omitted && !p.Mark && p.From == p.To &&
			p.From >= r.span.From && p.To <= r.span.To {
			shown += min(p.Tokens, int(d.history.At(p.From).Weight))
		}
	}
	fits := r.span.From <= r.span.To && least <= r.room && total <= r.room*mostUncovered
	if !fits || shown*1000 >= total*wellShown || min(total, r.room) <= shown {
		return nil
	}
	return r
}

// size returns the bytes of memory that the computed text takes.
func (r *requestRecords) size() int {
	if r == nil || r.made.Load() == nil {
		return 0
	}
	return len(*r.made.Load())
}

// text returns the version in use and the records, each within the marks of its label. It shortens
// the longest records, results and calls first, until all of them fit. It returns "" if they do not
// fit. The first call computes the text, and later ones reuse it. It returns ctxabi.ErrIO if a
// record cannot be read.
func (r *requestRecords) text(logs native.Logs) (string, error) {
	if made := r.made.Load(); made != nil {
		return *made, nil
	}
	text, err := r.compute(logs)
	if err == nil {
		r.made.Store(&text)
	}
	return text, err
}

func (r *requestRecords) compute(logs native.Logs) (string, error) {
	messages, events, err := logs()
	if err != nil {
		return "", err
	}
	m := record.Records(messages)
	if len(r.tools) > 0 {
		m = &record.Merged{Messages: messages, Events: events, Tools: r.tools}
	}
	base := ""
	if r.base != nil {
		id := fmt.Sprintf("summary, version %d", r.base.N)
		if r.base.To > 0 {
			id += ", up to " + record.AddressOf(m, r.base.To).Source()
		}
		base = r.marks.Begin(ctxabi.Notes) + record.Frame(id, ctxabi.Escape(r.base.Text)) + r.marks.End()
	}

	room := r.room
	for range 4 { // attempts
		said, results := r.limits(m, room)
		text, err := r.render(m, said, results)
		if err != nil {
			return "", err
		}
		if n := r.counter.Count(text); n > r.room {
			room = room * r.room / n * 95 / 100
		} else {
			heading := record.BlockHeading + record.SourcesOf(m, r.span) + "\n"
			return base + r.marks.Begin(ctxabi.OldRecords) + heading + text + r.marks.End(), nil
		}
	}
	return "", nil
}

// isOutput reports whether a record is a result or has calls.
func isOutput(e ctxabi.Entry) bool { return e.Flags&ctxabi.HasCalls != 0 || record.IsResult(e) }

// limits returns the largest number of tokens of one record without, and with calls or results.
func (r *requestRecords) limits(m record.Records, room int) (said, results int) {
	var talk, output []int
	for at := r.span.From; at <= r.span.To; at++ {
		e := m.At(at)
		if n := int(float64(e.Weight)*overhead) + 1; isOutput(e) {
			output = append(output, n)
		} else {
			talk = append(talk, n)
		}
	}
	share := room * dialogueShare / 1000
	if len(output) == 0 {
		share = room
	}
	said, used := levelOf(talk, share)
	results, _ = levelOf(output, room-used)
	return said, results
}

// levelOf returns the limit to which sizes are cut so that their sum is at most room, and that sum.
func levelOf(sizes []int, room int) (level, sum int) {
	slices.Sort(sizes)
	for i, n := range sizes {
		if level = (room - sum) / (len(sizes) - i); n > level {
			return max(level, leastPerRecord), sum + level*(len(sizes)-i)
		}
		sum += n
	}
	return max(room, leastPerRecord), sum
}

// render returns the records, each cut to its limit in tokens, with a line before each new day.
func (r *requestRecords) render(m record.Records, said, results int) (string, error) {
	var b strings.Builder
	last := ""
	for at := r.span.From; at <= r.span.To; at++ {
		day, err := record.DayOf(m, at)
		if err != nil {
			return "", err
		}
		if day != "" && day != last {
			b.WriteString(ctxabi.DayHeading + day + "\n")
			last = day
		}
		limit := said
		if isOutput(m.At(at)) {
			limit = results
		}
		s, err := record.Read(m, at, limit)
		if err != nil {
			return "", err
		}
		s.Count = r.counter.Count
		text, _ := s.Write(limit)
		heading, body, _ := strings.Cut(text, "\n")
		b.WriteString(heading + "\n" + ctxabi.EscapeMarks(body))
	}
	return b.String(), nil
}
