package notes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// Thresholds of Quotes.
const (
	minWrapped      = 40   // minimum bytes of a wrapped line
	minWrappedLower = 20   // likewise, if the next line starts in lower case
	minProseWords   = 60   // minimum percentage of plain words in prose
	minItemWords    = 25   // likewise, in a list item
	minLowerLines   = 35   // minimum percentage of lower-case line starts in a wrapped paragraph
	minCodeWords    = 20   // minimum percentage of words with code characters in code
	maxPrintedLine  = 1600 // bytes; EachLine splits longer lines
)

// Quotes splits a text into units: sentences of prose, list items, table rows, and single lines
// of code and output. Units are in order and do not overlap. Items refer to their introduction,
// rows to their header, and sentences to their heading, or to the previous sentence if they begin
// with a word such as "but" or "it". A sentence about a repair forms one unit with the
// previous sentence.
//
// Quotes omits code fences and lines that [compress.IsNoise] accepts. role is "user" or "assistant"
// for a message, and "" for a result or the arguments of a call. A message that is a JSON value has
// no units. The result is never nil.
func Quotes(text, role string) []compress.Unit {
	if role != "" && isRecord(text) {
		return []compress.Unit{}
	}
	q := quoter{text: text, role: role, list: split(text, role != ""), units: []compress.Unit{},
		escaped: !strings.Contains(text, "\n")}
	for i := 0; i < len(q.list); {
		i = q.add(i)
	}
	return q.units
}

// isRecord reports whether a text looks like a single JSON object or list, with or without a fence.
// It checks the brackets and one field, not the syntax.
func isRecord(text string) bool {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```json"); ok {
		text = strings.TrimSpace(strings.TrimSuffix(rest, "```"))
	}
	bracketed := strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") ||
		strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]")
	return bracketed && strings.Contains(text, `":`)
}

// quoter makes units of sentences.
type quoter struct {
	text    string
	role    string
	list    []sentence
	units   []compress.Unit
	escaped bool // the text is one line, which may contain line ends as \n

	// Context of the next unit, each as 1 + the index of a unit; 0 means none.
	heading int // last heading
	lead    int // introduction of the current list or table
	header  int // header of the current table
	parent  int // item above the current nested list
	last    int // previous sentence of the paragraph

	indent int // columns of parent
}

// unit trims a unit, appends it, and returns 1 + its index. It returns 0 if the unit is blank.
func (q *quoter) unit(u compress.Unit) int {
	s := q.text[u.From:u.To]
	u.From += len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	u.To -= len(s) - len(strings.TrimRightFunc(s, unicode.IsSpace))
	if u.From >= u.To {
		return 0
	}
	q.units = append(q.units, u)
	return len(q.units)
}

// add adds the unit of a sentence, of a line, or of the item that begins with it, and returns the
// next sentence.
func (q *quoter) add(i int) (end int) {
	s := &q.list[i]
	u := compress.Unit{From: s.from, To: s.to}
	isRow := s.whole[0] == '|' && !s.item
	if !isRow {
		q.header = 0
	}
	switch {
	case s.kind == kindHeading || isTitle(s):
		u.Lead = true
		q.heading = q.unit(u)
		q.lead, q.parent, q.last = q.heading, 0, 0
	case isRow:
		q.addRow(i, u)
	case s.item:
		for end = i + 1; end < len(q.list) && q.list[end].item && !q.list[end].first; end++ {
			u.To = q.list[end].to
		}
		q.addItem(s, end, u)
		return end
	case s.kind == kindSaid:
		if s.first {
			q.lead, q.parent, q.last = q.heading, 0, 0
		}
		q.addSentence(s, u)
	default:
		q.addPrinted(s)
	}
	return i + 1
}

// isTitle reports whether a sentence is a heading in the form of a bold paragraph.
func isTitle(s *sentence) bool {
	return s.kind == kindSaid && !s.item && s.first && s.last && len(s.whole) >= 5 && strings.HasPrefix(s.whole, "**") &&
		strings.Index(s.whole[2:], "**") == len(s.whole)-4
}

// introduces reports whether a line ends with a colon, ignoring emphasis.
func introduces(line string) bool { return strings.HasSuffix(strings.TrimRight(line, "*_ "), ":") }

// addRow adds a table row. The row above a separator row becomes the header of the rows below it.
func (q *quoter) addRow(i int, u compress.Unit) {
	isLine := func(row string) bool { return strings.Trim(row, "|-: \t") == "" }
	switch {
	case isLine(q.list[i].whole):
	case q.header > 0:
		u.Under = q.header
		q.unit(u)
	default:
		u.Under, u.Lead = q.lead, i+1 < len(q.list) && q.list[i+1].whole[0] == '|' && isLine(q.list[i+1].whole)
		if n := q.unit(u); u.Lead {
			q.header = n
		}
	}
}

// addItem adds a list item. The sentence after the item has the index end.
func (q *quoter) addItem(s *sentence, end int, u compress.Unit) {
	if q.parent > 0 && s.indent <= q.indent {
		q.parent = 0
	}
	body := q.text[u.From:u.To]
	u.Plain = wordShare(body) < minItemWords || codeShare(body) >= minCodeWords
	if u.Under = q.lead; q.parent > 0 {
		u.Under = q.parent
	}
	u.Lead = introduces(strings.TrimSpace(body))
	nested := end < len(q.list) && q.list[end].item && q.list[end].indent > s.indent+1
	if n := q.unit(u); u.Lead || nested {
		q.parent, q.indent = n, s.indent
	}
}

// codeShare returns the percentage of words in line that look like code. Inline code in backticks
// counts as prose.
func codeShare(line string) int {
	all, code := 0, 0
	in := false
	for w := range strings.FieldsSeq(line) {
		all++
		was := in
		in = in != (strings.Count(w, "`")%2 == 1)
		if was || in || strings.Contains(w, "`") {
			continue
		}
		at := strings.IndexByte(w, '(')
		if at > 0 && w[at-1] != ']' || strings.HasSuffix(w, "):") || strings.HasPrefix(w, "self.") ||
			strings.ContainsAny(w, "={};") && !strings.Contains(w, "://") {
			code++
		}
	}
	return code * 100 / max(1, all)
}

// wordShare returns the percentage of words in text that consist of letters, hyphens, and
// apostrophes. It returns 0 for a text of fewer than three words.
func wordShare(text string) int {
	all, words := 0, 0
	for w := range strings.FieldsSeq(text) {
		all++
		w = strings.TrimFunc(w, func(c rune) bool { return unicode.IsPunct(c) && c != '_' && c != '/' })
		letters := w != ""
		for i, c := range w {
			isLetter := unicode.IsLetter(c) || unicode.IsMark(c) || strings.ContainsRune("'’-", c)
			if !isLetter && (c < utf8.RuneSelf || i == 0) { // runs without spaces contain punctuation
				letters = false
				break
			}
		}
		if letters {
			words++
		}
	}
	if all < 3 && unspacedWords(text) < 3 {
		return 0
	}
	return words * 100 / all
}

// mayContinue reports whether a paragraph may continue in the next line: line ends a sentence or is
// long enough to be wrapped.
func mayContinue(line, next string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, "> "))
	return EndsSentence(line) || len(line) >= minWrapped || len(line) >= minWrappedLower && unicode.IsLower(first)
}

// EndsSentence reports whether a line ends with a colon or a sentence terminator, ignoring quotes
// and brackets.
func EndsSentence(line string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, " \"')*_`»”’」』）"))
	return last == ':' || unicode.Is(unicode.STerm, last)
}

// addSentence adds a sentence. Announcements of a model, such as "Let me look.", become leads. A
// sentence about a repair joins the one before it.
func (q *quoter) addSentence(s *sentence, u compress.Unit) {
	leads := s.last && introduces(s.whole)
	idle := q.role == models && worthOf(s.whole) <= 0
	if q.last > 0 && !q.units[q.last-1].Lead && isRepair(s.whole) {
		before := &q.units[q.last-1]
		if before.Lead = u.To-before.From > longSentence; !before.Lead {
			before.To = u.From + len(strings.TrimRightFunc(q.text[u.From:u.To], unicode.IsSpace)) // not quoted without its repair
			return
		}
	}
	u.Under, u.Lead = q.heading, leads || idle
	if q.last > 0 && RefersBack(s.whole) {
		u.Under = q.last
	}
	q.last = q.unit(u)
	if leads && q.last > 0 {
		q.lead = q.last
	}
	if idle {
		q.last = 0
	}
}

var (
	backWords = wordSet("backWords")
	backVerbs = wordSet("backVerbs")
	backRuns  = textSet("backRuns")
)

// RefersBack reports whether a sentence begins with a word that refers to the previous sentence.
func RefersBack(s string) bool {
	s = strings.TrimLeft(s, "*_\"'(>- ")
	first, rest, _ := strings.Cut(strings.ToLower(s), " ")
	first = strings.TrimRight(first, ",:")
	if backWords.has(first) || strings.HasPrefix(first, "it'") || strings.HasPrefix(first, "it’") {
		return true
	}
	if first == "this" || first == "these" {
		next, _, _ := strings.Cut(rest, " ")
		return backVerbs.has(next)
	}
	return slices.ContainsFunc(backRuns(), func(run string) bool { return strings.HasPrefix(s, run) })
}

// isRepair reports whether a sentence tells of the repair or the removal of something.
func isRepair(s string) bool {
	if !isQuestion(s) {
		for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if repairWords.has(w) {
				return true
			}
		}
	}
	return false
}

// addPrinted adds a line of code or output unless it is noise. EachLine splits long and escaped
// lines into several units.
func (q *quoter) addPrinted(s *sentence) {
	from := s.from
	add := func(line string) {
		from += strings.Index(q.text[from:s.to], line)
		u := compress.Unit{From: from, To: from + len(line), Plain: true, Lead: isField(line)}
		from = u.To
		if !compress.IsNoise(line) {
			q.unit(u)
		}
	}
	whole := q.text[s.from:s.to]
	if line := strings.TrimSpace(whole); !q.escaped && len(line) < maxPrintedLine && !strings.Contains(line, "\r") {
		add(line)
		return
	}
	compress.EachLine(whole, func(_ int, line string) { add(line) })
}

// isField reports whether a line is a JSON field with a value of up to eight words.
func isField(line string) bool {
	rest, ok := strings.CutPrefix(line, `"`)
	if !ok {
		return false
	}
	_, value, ok := strings.Cut(rest, `":`)
	return ok && strings.Count(strings.TrimSpace(value), " ") < 8
}
