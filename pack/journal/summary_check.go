package journal

import (
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// A delivered summary is never altered. Its exact values are looked up in the messages that it
// covers; the result is at most two lines below it, which are hints and no proof.

// Numbers of the checks.
const (
	checkTokens   = 40       // of one line
	checkedBytes  = 16 << 20 // of history; a summary of more is not checked
	fetchedAtOnce = 512      // records
)

// lookedUp is a value of a summary.
type lookedUp struct {
	derived.Value
	said   bool // a record other than a tool result contains it
	output bool // a tool result does
}

// summaryChecked is what the checks of a version found.
type summaryChecked struct {
	shares  bool     // a word of it occurs in the covered records
	missing []string // values that do not
	output  []string // values from outside that occur only in tool results
}

// checkSummary sets the lines below the version that enters, and whether it replaces derived lines:
// a summary does so that is not tiny and has a word of the records that it covers. It returns
// ctxabi.ErrIO if a record cannot be read.
func (b *zoner) checkSummary() error {
	id := b.own.ID()
	found, ok := b.mm.checked[id]
	if !ok {
		var err error
		if found, err = b.lookUp(b.own); err != nil {
			return err
		}
		if !b.unread {
			b.mm.checked[id] = found
		}
	}
	if found.shares && b.own.Tokens >= minReplaces {
		b.z.covers = b.own.To
	}
	b.checks = b.hint("Not found in the messages: ", found.missing) + b.hint("Only in tool output: ", found.output)
	return nil
}

// hint returns a line that lists values, as many as fit into checkTokens; "" for none.
func (b *zoner) hint(begin string, values []string) (line string) {
	for _, v := range values {
		next := begin + ctxabi.EscapeInline(record.OneLine(v))
		if line != "" {
			next = strings.TrimSuffix(line, "\n") + ", " + ctxabi.EscapeInline(record.OneLine(v))
		}
		if b.c.CountCached(next+"\n") > checkTokens {
			break
		}
		line = next + "\n"
	}
	return line
}

// lookUp reads the records that a version covers. It returns an error if the pack's context ends; a
// record that cannot be read is skipped.
func (b *zoner) lookUp(s *Summary) (found summaryChecked, err error) {
	if b.bytesUntil(s.To) > checkedBytes {
		return summaryChecked{shares: true}, nil
	}
	l := summarySearch{words: derived.Words(s.Text)}
	for _, v := range derived.Values(s.Text) {
		l.items = append(l.items, lookedUp{Value: v})
	}
	l.open = len(l.items)

	for at := 1; at <= s.To && (l.open > 0 || !l.shares); at++ {
		if at%fetchedAtOnce == 1 {
			b.fetchFrom(at, s.To)
		}
		r, err := record.WordsOf(b.m, at)
		if err != nil {
			if err := b.mm.Context.Err(); err != nil {
				return found, err
			}
			b.unread = true // the pack can do without
			continue
		}
		l.record(&r)
	}
	return l.found(), nil
}

// bytesUntil returns the size of the records up to a position.
func (b *zoner) bytesUntil(to int) (total int64) {
	for at := 1; at <= to; at++ {
		total += int64(b.m.At(at).Len)
	}
	return total
}

// fetchFrom fetches the next records from a position, up to the last one.
func (b *zoner) fetchFrom(at, last int) {
	if b.mm.Fetch == nil {
		return
	}
	var places []record.Address
	for k := at; k < min(at+fetchedAtOnce, last+1); k++ {
		places = append(places, record.AddressOf(b.m, k))
	}
	b.mm.Fetch(places)
}

// summarySearch is one search for the values and words of a version.
type summarySearch struct {
	items  []lookedUp
	words  map[string]bool
	open   int  // items whose result further records can change
	shares bool // a word occurs in a record
}

// record searches one record.
func (l *summarySearch) record(r *record.Excerpt) {
	text := r.Whole()
	for i := range l.items {
		it := &l.items[i]
		if it.said || it.output && (r.Result || !it.Outside) || !it.In(text) {
			continue
		}
		it.said, it.output = it.said || !r.Result, it.output || r.Result
		if it.said || !it.Outside {
			l.open--
		}
	}

	if !l.shares {
		l.shares = sharesWord(text, l.words)
	}
}

// found returns the result of the search.
func (l *summarySearch) found() summaryChecked {
	found := summaryChecked{shares: l.shares}
	for _, it := range l.items {
		switch {
		case !it.said && !it.output:
			found.missing = append(found.missing, it.Text)
		case !it.said && it.Outside:
			found.output = append(found.output, it.Text)
		}
	}
	return found
}

// sharesWord reports whether a text has one of the words.
func sharesWord(text string, words map[string]bool) bool {
	for w := range derived.Words(text) {
		if words[w] {
			return true
		}
	}
	return false
}
