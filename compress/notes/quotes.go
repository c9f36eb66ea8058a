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
	if role != anybody && isRecord(text) {
		return []compress.Unit{}
	}
	r := quoteReader{text: text, role: role, lines: compress.MarkdownLines(text), units: []compress.Unit{},
		escaped: !strings.Contains(text, "\n")}
	for at := 0; at < len(r.lines); {
		at = r.addBlock(at)
	}
	return r.units
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

// quoteReader collects the units of a text.
type quoteReader struct {
	text    string
	role    string
	lines   []compress.MarkdownLine
	units   []compress.Unit
	escaped bool // the text is one line, which may contain line ends as \n

	// Context of the next unit, each as 1 + the index of a unit; 0 means none.
	heading int // last heading
	lead    int // introduction of the current list or table
	header  int // header of the current table
	parent  int // item above the current nested list

	indent int // columns of parent

	last int // 1 + the index of the previous sentence; 0 at the start of a paragraph, after an announcement
}

func (r *quoteReader) line(at int) string {
	return strings.TrimSpace(r.text[r.lines[at].From:r.lines[at].To])
}

// add trims a unit, appends it, and returns 1 + its index. It returns 0 if the unit is blank.
func (r *quoteReader) add(u compress.Unit) int {
	s := r.text[u.From:u.To]
	u.From += len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	u.To -= len(s) - len(strings.TrimRightFunc(s, unicode.IsSpace))
	if u.From >= u.To {
		return 0
	}
	r.units = append(r.units, u)
	return len(r.units)
}

// addBlock adds the units of the block that starts at line at, and returns the line after the
// block.
func (r *quoteReader) addBlock(at int) int {
	l, line := &r.lines[at], r.line(at)
	if line != "" && line[0] != '|' {
		r.header = 0
	}

	switch {
	case l.Blank:
		return at + 1
	case l.Code:
		if compress.FenceMark(line) == "" {
			r.addPrinted(at)
		}
		return at + 1
	case l.Level > 0 || r.isTitle(at):
		r.heading = r.add(compress.Unit{From: l.From, To: l.To, Lead: true})
		r.lead, r.parent = r.heading, 0
		return at + 1
	case line[0] == '|':
		r.addRow(at)
		return at + 1
	case l.Item:
		return r.addItem(at)
	}
	return r.addParagraph(at)
}

// isTitle reports whether a line is a heading in the form of a bold paragraph.
func (r *quoteReader) isTitle(at int) bool {
	line := r.line(at)
	if len(line) < 5 || !strings.HasPrefix(line, "**") || strings.Index(line[2:], "**") != len(line)-4 {
		return false
	}
	return (at == 0 || r.lines[at-1].Blank) && (at+1 == len(r.lines) || r.lines[at+1].Blank || r.lines[at+1].Item)
}

// introduces reports whether a line ends with a colon, ignoring emphasis.
func introduces(line string) bool { return strings.HasSuffix(strings.TrimRight(line, "*_ "), ":") }

// addRow adds a table row. The row above a separator row becomes the header of the rows below it.
func (r *quoteReader) addRow(at int) {
	l, line := &r.lines[at], r.line(at)
	if strings.Trim(line, "|-: \t") == "" {
		return
	}
	if r.header > 0 {
		r.add(compress.Unit{From: l.From, To: l.To, Under: r.header})
		return
	}
	isHeader := at+1 < len(r.lines) && strings.HasPrefix(r.line(at+1), "|") &&
		strings.Trim(r.line(at+1), "|-: \t") == ""
	if n := r.add(compress.Unit{From: l.From, To: l.To, Under: r.lead, Lead: isHeader}); isHeader {
		r.header = n
	}
}

// addItem adds a list item with its continuation lines, and returns the line after the item.
func (r *quoteReader) addItem(at int) int {
	l := &r.lines[at]
	end := at + 1
	for ; end < len(r.lines); end++ {
		next := &r.lines[end]
		if next.Blank || next.Code || next.Item || next.Level > 0 || r.line(end)[0] == '|' {
			break
		}
		if next.Indent <= l.Indent && (r.lines[end-1].To-r.lines[end-1].From < minWrapped ||
			EndsSentence(r.line(end-1))) {
			break
		}
	}

	if r.parent > 0 && l.Indent <= r.indent {
		r.parent = 0
	}
	u := compress.Unit{From: l.From, To: r.lines[end-1].To, Under: r.lead}
	body := r.text[u.From:u.To]
	u.Plain = wordShare(body) < minItemWords || codeShare(body) >= minCodeWords
	if r.parent > 0 {
		u.Under = r.parent
	}
	u.Lead = introduces(r.line(end - 1))
	if n := r.add(u); u.Lead || isNested(r.lines, end, l.Indent) {
		r.parent, r.indent = n, l.Indent
	}
	return end
}

// isNested reports whether a line is an item of a list below an item with this indent.
func isNested(lines []compress.MarkdownLine, at, indent int) bool {
	return at < len(lines) && lines[at].Item && lines[at].Indent > indent+1
}

// addParagraph adds the sentences of a paragraph, or its lines if it is not prose, and returns the
// line after it. A blank line, heading, list item, table, or code fence ends the paragraph.
func (r *quoteReader) addParagraph(at int) (end int) {
	from := at
	for end = at + 1; end < len(r.lines); end++ {
		l := &r.lines[end]
		if l.Blank || l.Code || l.Item || l.Level > 0 || r.line(end)[0] == '|' {
			break
		}
	}
	r.lead, r.parent, r.last = r.heading, 0, 0
	if !r.isProse(from, end) {
		for ; at < end; at++ {
			r.addPrinted(at)
		}
		return end
	}

	wrapped := r.isWrapped(from, end)
	for at < end {
		to := at + 1
		for to < end && wrapped && mayContinue(r.line(to-1), r.line(to)) {
			to++
		}
		r.addSentences(r.lines[at].From, r.lines[to-1].To)
		at = to
	}
	return end
}

// isProse reports whether lines[from:to] are sentences rather than code, a log, or key-value pairs.
func (r *quoteReader) isProse(from, to int) bool {
	printed, code, deeper := 0, false, false
	for at := from; at < to; at++ {
		line := r.line(at)
		first, _, _ := strings.Cut(line, " ")
		colon := strings.IndexByte(first, ':') // file.go:12, as in the output of grep
		marks := codeShare(line)
		if isLog(line) || line[0] == '<' || marks >= minCodeWords || colon > 0 && colon+1 < len(first) {
			printed++
		}
		code, deeper = code || marks > 0, deeper || r.lines[at].Indent > r.lines[from].Indent
	}
	if printed*4 > to-from || code && deeper || compress.IsNoise(r.line(from)) {
		return false
	}
	text := r.text[r.lines[from].From:r.lines[to-1].To]
	return wordShare(text) >= minProseWords && keyLines(r.text, r.lines[from:to]) < 2
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

// isWrapped reports whether sentences of lines[from:to] may span several lines. If most lines start
// in upper case, each line is a statement of its own.
func (r *quoteReader) isWrapped(from, to int) bool {
	lower := 0
	for at := from + 1; at < to; at++ {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(r.line(at), "> `*_\"'("))
		if unicode.IsLetter(first) && !unicode.IsUpper(first) {
			lower++
		}
	}
	return lower*100 >= (to-from-1)*minLowerLines
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

// addSentences adds the sentences of text[from:to]. Announcements of a model, such as "Let me
// look.", become leads.
func (r *quoteReader) addSentences(from, to int) {
	flat := []byte(r.text[from:to]) // line ends become blanks at the same offsets
	for i, c := range flat {
		if c < ' ' || c == '>' && i > 0 && r.text[from+i-1] == '\n' {
			flat[i] = ' '
		}
	}
	body := strings.TrimRight(string(flat), " ")
	for end := len(body); body != ""; {
		one, rest := cutSentence(body)
		leads := rest == "" && introduces(one)
		idle := r.role == models && worthOf(one) <= 0
		u := compress.Unit{From: from + end - len(body), To: from + end - len(rest)}
		body = rest
		if r.last > 0 && !r.units[r.last-1].Lead && isRepair(one) {
			before := &r.units[r.last-1]
			if before.Lead = u.To-before.From > longSentence; !before.Lead {
				before.To = from + end - len(body) // not quoted without its repair
				continue
			}
		}
		u.Under, u.Lead = r.heading, leads || idle
		if r.last > 0 && RefersBack(one) {
			u.Under = r.last
		}
		r.last = r.add(u)
		if leads && r.last > 0 {
			r.lead = r.last
		}
		if idle {
			r.last = 0
		}
	}
}

// backWords are the first words of sentences that depend on the previous sentence.
var backWords = compress.WordSet(`it its they them he she that those but however instead otherwise then nor except only
	therefore thus hence daher deshalb
	aber sondern jedoch das sie es er dies pero sino eso esto ello mas porém isso isto ele ela mais cela ce il elle`)

// backRuns are the prefixes of such sentences in Japanese, Chinese, and Korean.
var backRuns = []string{
	"しかし", "でも", "ただし", "それ", "これ", "その", "だが",
	"但", "不过", "然而", "它", "这", "那", "他", "她",
	"하지만", "그러나", "그것", "이것", "다만",
}

// RefersBack reports whether a sentence begins with a word that refers to the previous sentence.
func RefersBack(s string) bool {
	s = strings.TrimLeft(s, "*_\"'(>- ")
	first, rest, _ := strings.Cut(strings.ToLower(s), " ")
	first = strings.TrimRight(first, ",:")
	if backWords[first] || strings.HasPrefix(first, "it'") || strings.HasPrefix(first, "it’") {
		return true
	}
	if first == "this" || first == "these" {
		next, _, _ := strings.Cut(rest, " ")
		return isOneOf(next, "is", "was", "are", "were", "means", "will", "would", "should", "can", "could", "may",
			"must", "does", "has", "ensures", "allows", "makes", "also", "only")
	}
	return slices.ContainsFunc(backRuns, func(run string) bool { return strings.HasPrefix(s, run) })
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
func (r *quoteReader) addPrinted(at int) {
	l := &r.lines[at]
	whole := r.text[l.From:l.To]
	from := l.From
	add := func(line string) {
		from += strings.Index(r.text[from:l.To], line)
		u := compress.Unit{From: from, To: from + len(line), Plain: true, Lead: isField(line)}
		from = u.To
		if !compress.IsNoise(line) {
			r.add(u)
		}
	}
	if line := r.line(at); !r.escaped && len(line) < maxPrintedLine && !strings.Contains(line, "\r") {
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
