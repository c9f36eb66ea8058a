package journal

import (
	"strconv"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// The journal never rewrites a delivered summary; it only truncates long ones. This file searches
// the covered records for the exact values of a summary and adds up to two check lines, which are
// hints and not proofs.

const (
	checkTokens  = 40       // size of one check line
	checkedBytes = 16 << 20 // largest history that is searched
)

// searchedValue is an exact value of a summary and where the search found it.
type searchedValue struct {
	derived.Value
	said   bool // in a record other than a tool result
	output bool // in a tool result
}

// checkResult is the outcome of the checks of one version.
type checkResult struct {
	shares  bool     // summary and covered records have a word in common
	missing []string // values that no covered record contains
	output  []string // URLs, hosts, commands, and recipients that only tool results contain
}

// checkSummary sets the check lines of the delivered version and decides whether the version
// replaces derived lines. It does if it has at least minReplaces tokens and a word in common with
// the records that it covers. checkSummary returns an error if the context of the build ends.
func (b *zoner) checkSummary() error {
	id := b.own.ID()
	found, ok := b.mm.checked[id]
	if !ok {
		var err error
		if found, err = b.searchValues(b.own.Summary); err != nil {
			return err
		}
		if !b.unread {
			b.mm.checked[id] = found
		}
	}
	if found.shares && b.own.Tokens >= minReplaces {
		b.z.covers = b.own.To
	}
	b.own.checks = b.hint("Not found in the messages: ", found.missing) + b.hint("Only in tool output: ", found.output)
	return nil
}

// hint returns a line that lists the first values that fit into checkTokens. It returns "" if none
// fits.
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

// searchValues searches the covered records for the values of a version. If the records exceed
// checkedBytes, it reads none of them and reports no value as missing. It skips records that cannot
// be read and then sets b.unread. It returns an error if the context of the build ends.
func (b *zoner) searchValues(s *Summary) (found checkResult, err error) {
	if b.bytesUntil(s.To) > checkedBytes {
		return checkResult{shares: true}, nil
	}
	l := summarySearch{words: derived.Words(s.Text)}
	for _, v := range derived.Values(s.Text) {
		if isMessageRange(v.Text, s.After) {
			continue
		}
		l.items = append(l.items, searchedValue{Value: v})
	}
	l.open = len(l.items)

	for at := 1; at <= s.To && (l.open > 0 || !l.shares); at++ {
		r, err := record.WordsOf(b.m, at)
		if err != nil {
			if err := b.mm.Context.Err(); err != nil {
				return found, err
			}
			b.unread = true
			continue
		}
		l.addRecord(&r)
	}
	return l.result(), nil
}

// isMessageRange reports whether a value may be a number or a range of messages, such as 12 or
// 105-107, in a history of n records.
func isMessageRange(value string, n int) bool {
	for part := range strings.SplitSeq(value, "-") {
		if k, err := strconv.Atoi(part); err != nil || k < 1 || k > n {
			return false
		}
	}
	return true
}

// bytesUntil returns the total size of the records 1 to to.
func (b *zoner) bytesUntil(to int) (total int64) {
	for at := 1; at <= to; at++ {
		total += int64(b.m.At(at).Len)
	}
	return total
}

// summarySearch searches records for the values and words of a version.
type summarySearch struct {
	items  []searchedValue
	words  map[string]bool
	open   int  // items that the search has not settled
	shares bool // a record contains one of the words
}

// addRecord searches one record. A value is settled once a message contains it; a tool result
// settles it, too, unless it is a URL, a host, a command, or a recipient.
func (l *summarySearch) addRecord(r *record.Excerpt) {
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

func (l *summarySearch) result() checkResult {
	found := checkResult{shares: l.shares}
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

// sharesWord reports whether a text contains one of the words.
func sharesWord(text string, words map[string]bool) bool {
	for w := range derived.Words(text) {
		if words[w] {
			return true
		}
	}
	return false
}
