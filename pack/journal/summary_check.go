package journal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/pack/record"
)

// A delivered summary is never altered. Its exact values are looked up in the messages that it
// covers; the result is at most two lines below it, which are hints and no proof.

// Numbers of the checks.
const (
	checkTokens   = 40       // of one line
	checkedItems  = 64       // of one kind that are looked up
	checkedBytes  = 16 << 20 // of history; a summary of more is not checked
	checkedText   = 64 << 10 // of the summary
	sharedWords   = 256      // words of it that are looked up
	fetchedAtOnce = 512
)

// summaryItem matches what the checks look up: URLs, mail addresses, paths, hashes and ids, hosts, and
// numbers of three digits or more.
var summaryItem = lazy.Regexp("(?i)" + strings.Join([]string{
	`https?://[^\s<>"'` + "`" + `)\]]+`,
	`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`,
	`(?:[\w.@~-]*/)+[\w.@-]*\w`,
	`\b[\w-]+(?:\.[\w-]+)+\b`,
	`\b[a-z]*[_-]?[0-9][0-9a-z]*(?:[_-][0-9a-z]+)*\b`,
	`\b[0-9a-f]{7,64}\b`,
}, "|"))

// inlineCode matches code in backquotes, which is a command if it has more than one word.
var inlineCode = lazy.Regexp("`([^`\n]{3,200})`")

// lookedUp is one value of a summary.
type lookedUp struct {
	text    string
	outside bool // it is a URL, a host, a command, or a recipient: where it comes from matters
	said    bool // a record other than a tool result contains it
	output  bool // a tool result does
}

// itemsOf returns the values of a summary, in their order, each once.
func itemsOf(text string) (items []lookedUp) {
	text = text[:min(len(text), checkedText)]
	known := map[string]bool{}
	add := func(s string, outside bool) {
		if s = strings.TrimRight(s, ".,;:"); s != "" && !known[s] && len(items) < checkedItems {
			known[s] = true
			items = append(items, lookedUp{text: s, outside: outside})
		}
	}
	for _, m := range inlineCode().FindAllStringSubmatch(text, -1) {
		if strings.ContainsAny(strings.TrimSpace(m[1]), " \t") {
			add(strings.TrimSpace(m[1]), true)
		}
	}
	for _, s := range summaryItem().FindAllString(text, -1) {
		switch {
		case strings.Contains(s, "://"), strings.Contains(s, "@") && !strings.Contains(s, "/"):
			add(s, true)
		case strings.Contains(s, "/"):
			add(s, false)
		case strings.Contains(s, "."):
			if isHost(s) || digitsIn(s) >= 3 {
				add(s, isHost(s))
			}
		case digitsIn(s) >= 3 || len(s) >= 8 && digitsIn(s) > 0:
			add(s, false)
		}
	}
	return items
}

// isHost reports whether a name with dots looks like a host: an address, or three parts or more
// without a file extension.
func isHost(s string) bool {
	parts := strings.Split(s, ".")
	letters := strings.IndexFunc(s, unicode.IsLetter) >= 0
	if !letters {
		return len(parts) == 4
	}
	return len(parts) >= 3 && digitsIn(parts[len(parts)-1]) == 0
}

func digitsIn(s string) (n int) {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// wordsIn returns words of a text in lower case: runs of at least three letters or digits, and pairs
// of characters of scripts without spaces.
func wordsIn(text string) map[string]bool {
	words := map[string]bool{}
	for _, run := range strings.FieldsFunc(strings.ToLower(text[:min(len(text), checkedText)]), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(words) >= sharedWords {
			break
		}
		if first, _ := utf8.DecodeRuneInString(run); first < 0x2e80 {
			if utf8.RuneCountInString(run) >= 3 {
				words[run] = true
			}
			continue
		}
		runes := []rune(run)
		for i := 0; i+1 < len(runes); i++ {
			words[string(runes[i:i+2])] = true
		}
	}
	return words
}

// summaryChecked is what the checks of a version found.
type summaryChecked struct {
	shares  bool     // a word of it occurs in the covered records
	missing []string // values that do not
	output  []string // values from outside that occur only in tool results
}

// checkSummary sets the lines below the version that enters, and whether it replaces derived lines: a
// summary does so that is not tiny and has a word of the records that it covers. It returns
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

// lookUp reads the records that a version covers. It returns ctxabi.ErrIO if one cannot be read.
func (b *zoner) lookUp(s *Summary) (found summaryChecked, err error) {
	items, words := itemsOf(s.Text), wordsIn(s.Text)
	total := int64(0)
	for at := 1; at <= s.To; at++ {
		total += int64(b.m.At(at).Len)
	}
	if total > checkedBytes {
		return summaryChecked{shares: true}, nil
	}

	open := len(items)
	for at := 1; at <= s.To && (open > 0 || !found.shares); at++ {
		if at%fetchedAtOnce == 1 && b.mm.Fetch != nil {
			var places []record.Address
			for k := at; k < min(at+fetchedAtOnce, s.To+1); k++ {
				places = append(places, record.AddressOf(b.m, k))
			}
			b.mm.Fetch(places)
		}
		r, err := record.WordsOf(b.m, at)
		if err != nil {
			if err := b.mm.Context.Err(); err != nil {
				return found, err
			}
			b.unread = true // the pack can do without
			continue
		}
		text := r.Whole()
		for i := range items {
			it := &items[i]
			if it.said || it.output && (r.Result || !it.outside) || !occurs(text, it.text) {
				continue
			}
			it.said, it.output = it.said || !r.Result, it.output || r.Result
			if it.said || !it.outside {
				open--
			}
		}
		if !found.shares {
			found.shares = sharesWord(text, words)
		}
	}
	for _, it := range items {
		switch {
		case !it.said && !it.output:
			found.missing = append(found.missing, it.text)
		case !it.said && it.outside:
			found.output = append(found.output, it.text)
		}
	}
	return found, nil
}

// occurs reports whether a text contains a value: as it is, inside JSON, or as a number without its
// separators of thousands.
func occurs(text, value string) bool {
	if strings.Contains(text, value) {
		return true
	}
	plain := strings.ReplaceAll(value, ",", "")
	return plain != value && strings.Contains(text, plain)
}

// sharesWord reports whether a text has one of the words.
func sharesWord(text string, words map[string]bool) bool {
	text = strings.ToLower(text)
	if len(words) == 0 || text == "" {
		return false
	}
	for w := range wordsIn(text) {
		if words[w] {
			return true
		}
	}
	return false
}
