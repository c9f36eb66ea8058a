package notes

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
)

// Bounds of quotes.
const (
	narrowLine  = 40 // a line from so many bytes on may go on in a next one that begins in upper case
	leastLine   = 20 // likewise, in one that begins in lower case
	proseWords  = 60 // hundredths of the words of a paragraph that are made of letters
	itemWords   = 25 // likewise, of an item
	wrappedLine = 35 // hundredths of the lines of a wrapped paragraph that do not begin in upper case
	codeMarks   = 20 // hundredths of the words of a line of code that have marks of code
	longField   = 1600
)

// Quotes returns the parts of a text that can be quoted: the sentences of prose, whatever the lines
// they are wrapped into, the items of lists, the rows of tables, and the lines of all else. An item
// and a row name the line without which they mislead. Parts that say nothing to a reader who comes
// back (progress bars, passed tests, log lines of requests, marks of fences) are omitted, and so is
// JSON that a speaker writes for a program. role is "user" or "assistant" for the text of a
// message, and "" for results and arguments of calls.
func Quotes(text, role string) []compress.Unit {
	if role != anybody && isRecord(text) {
		return []compress.Unit{}
	}
	r := quoteReader{text: text, role: role, lines: compress.MarkdownLines(text), units: []compress.Unit{},
		escaped: !strings.Contains(text, "\n")}
	for at := 0; at < len(r.lines); {
		at = r.read(at)
	}
	return r.units
}

// isRecord reports whether a text is one JSON value, fenced or not.
func isRecord(text string) bool {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```json"); ok {
		text = strings.TrimSpace(strings.TrimSuffix(rest, "```"))
	}
	return len(text) > 1 && (text[0] == '{' && text[len(text)-1] == '}' || text[0] == '[' && text[len(text)-1] == ']') && strings.Contains(text, `":`)
}

// quoteReader reads the units of a text.
type quoteReader struct {
	text    string
	role    string
	lines   []compress.MarkdownLine
	units   []compress.Unit
	escaped bool // line ends may be written \n

	heading int // 1 + the unit of the last heading; 0: none
	lead    int // 1 + the unit that introduces the list or table that goes on; 0: none
	header  int // 1 + the unit of the header of the table that goes on; 0: none
	parent  int // 1 + the item that introduces the deeper items that follow; 0: none
	indent  int // of parent
}

func (r *quoteReader) line(at int) string {
	return strings.TrimSpace(r.text[r.lines[at].From:r.lines[at].To])
}

// add adds the bytes from from to before to as a unit, without blanks at their ends, and returns 1
// + its index; 0 for nothing.
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

// read reads what begins with a line, and returns the line behind it.
func (r *quoteReader) read(at int) int {
	l, line := &r.lines[at], r.line(at)
	if line != "" && line[0] != '|' {
		r.header = 0
	}

	switch {
	case l.Blank || l.Underline:
		return at + 1
	case l.Code:
		if compress.FenceMark(line) == "" {
			r.printed(at)
		}
		return at + 1
	case l.Level > 0 || r.isTitle(at):
		r.heading = r.add(compress.Unit{From: l.From, To: l.To, Lead: true})
		r.lead, r.parent = r.heading, 0
		return at + 1
	case line[0] == '|':
		r.row(at)
		return at + 1
	case l.Item:
		return r.item(at)
	}
	return r.paragraph(at)
}

// isTitle reports whether a line is a paragraph of its own in bold.
func (r *quoteReader) isTitle(at int) bool {
	line := r.line(at)
	if len(line) < 5 || !strings.HasPrefix(line, "**") || strings.Index(line[2:], "**") != len(line)-4 {
		return false
	}
	return (at == 0 || r.lines[at-1].Blank) && (at+1 == len(r.lines) || r.lines[at+1].Blank || r.lines[at+1].Item)
}

// introduces reports whether a line introduces the next lines.
func introduces(line string) bool { return strings.HasSuffix(strings.TrimRight(line, "*_ "), ":") }

// row reads a row of a table.
func (r *quoteReader) row(at int) {
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

// item reads an item of a list with the lines that go on with it, and returns the line behind it.
func (r *quoteReader) item(at int) int {
	l := &r.lines[at]
	end := at + 1
	for ; end < len(r.lines); end++ {
		next := &r.lines[end]
		if next.Blank || next.Code || next.Item || next.Level > 0 || r.line(end)[0] == '|' {
			break
		}
		if next.Indent <= l.Indent && (r.lines[end-1].To-r.lines[end-1].From < narrowLine ||
			endsSentence(r.line(end-1))) {
			break
		}
	}

	if r.parent > 0 && l.Indent <= r.indent {
		r.parent = 0
	}
	u := compress.Unit{From: l.From, To: r.lines[end-1].To, Under: r.lead}
	body := r.text[u.From:u.To]
	u.Plain = wordShare(body) < itemWords || codeShare(body) >= codeMarks
	if r.parent > 0 {
		u.Under = r.parent
	}
	u.Lead = introduces(r.line(end - 1))
	if n := r.add(u); u.Lead || deeper(r.lines, end, l.Indent) {
		r.parent, r.indent = n, l.Indent
	}
	return end
}

// deeper reports whether a line is an item that is indented more than so many columns.
func deeper(lines []compress.MarkdownLine, at, indent int) bool {
	return at < len(lines) && lines[at].Item && lines[at].Indent > indent+1
}

// paragraph reads the lines up to the next blank one, heading, item, or table, and returns the line
// behind them.
func (r *quoteReader) paragraph(at int) (end int) {
	from := at
	for end = at + 1; end < len(r.lines); end++ {
		l := &r.lines[end]
		if l.Blank || l.Code || l.Item || l.Level > 0 || r.line(end)[0] == '|' {
			break
		}
	}
	r.lead, r.parent = r.heading, 0
	if !r.isProse(from, end) {
		for ; at < end; at++ {
			r.printed(at)
		}
		return end
	}

	wrapped := r.isWrapped(from, end)
	for at < end {
		to := at + 1
		for to < end && wrapped && goesOnIn(r.line(to-1), r.line(to)) {
			to++
		}
		r.sentences(r.lines[at].From, r.lines[to-1].To)
		at = to
	}
	return end
}

// isProse reports whether the lines from from to before to are written for readers.
func (r *quoteReader) isProse(from, to int) bool {
	printed, code, deeper := 0, false, false
	for at := from; at < to; at++ {
		line := r.line(at)
		first, _, _ := strings.Cut(line, " ")
		colon := strings.IndexByte(first, ':') // of a match of grep, a place in a file
		marks := codeShare(line)
		if isLog(line) || line[0] == '<' || marks >= codeMarks || colon > 0 && colon+1 < len(first) {
			printed++
		}
		code, deeper = code || marks > 0, deeper || r.lines[at].Indent > r.lines[from].Indent
	}
	if printed*4 > to-from || code && deeper || compress.IsNoise(r.line(from)) {
		return false
	}
	text := r.text[r.lines[from].From:r.lines[to-1].To]
	return wordShare(text) >= proseWords && keyLines(r.text, r.lines[from:to]) < 2
}

// codeShare returns how many hundredths of the words of a line have marks of code, outside of
// backticks.
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
		if at > 0 && w[at-1] != ']' || strings.HasSuffix(w, "):") || strings.ContainsAny(w, "={};") && !strings.Contains(w, "://") || strings.HasPrefix(w, "self.") {
			code++
		}
	}
	return code * 100 / max(1, all)
}

// isWrapped reports whether lines are wrapped ones of a paragraph rather than one statement each:
// enough of them do not begin in upper case.
func (r *quoteReader) isWrapped(from, to int) bool {
	lower := 0
	for at := from + 1; at < to; at++ {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(r.line(at), "> `*_\"'("))
		if unicode.IsLetter(first) && !unicode.IsUpper(first) {
			lower++
		}
	}
	return lower*100 >= (to-from-1)*wrappedLine
}

// wordShare returns how many hundredths of the words of a text are made of letters, or of a script
// without spaces; 0 for a text of two words or less.
func wordShare(text string) int {
	all, words := 0, 0
	for w := range strings.FieldsSeq(text) {
		all++
		w = strings.TrimFunc(w, func(c rune) bool { return unicode.IsPunct(c) && c != '_' && c != '/' })
		letters := w != ""
		for i, c := range w {
			if !unicode.IsLetter(c) && !unicode.IsMark(c) && !strings.ContainsRune("'’-", c) && (c < utf8.RuneSelf || i == 0) {
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

// goesOnIn reports whether a sentence of a line may go on in the next one.
func goesOnIn(line, next string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, "> "))
	return endsSentence(line) || len(line) >= narrowLine || len(line) >= leastLine && unicode.IsLower(first)
}

// endsSentence reports whether a line ends with the end of a sentence.
func endsSentence(line string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, " \"')*_`»”’」』）"))
	return last == ':' || unicode.Is(unicode.STerm, last)
}

// sentences adds the sentences of the bytes from from to before to.
func (r *quoteReader) sentences(from, to int) {
	flat := []byte(r.text[from:to]) // of the same length
	for i, c := range flat {
		if c < ' ' || c == '>' && i > 0 && r.text[from+i-1] == '\n' {
			flat[i] = ' '
		}
	}
	body := strings.TrimRight(string(flat), " ")
	last := 0 // 1 + the sentence before, if it says something
	for end := len(body); body != ""; {
		one, rest := cutSentence(body)
		leads := rest == "" && introduces(one)
		idle := r.role == models && worthOf(one) <= 0 // "Let me look."
		u := compress.Unit{From: from + end - len(body), To: from + end - len(rest), Under: r.heading, Lead: leads || idle}
		if last > 0 && refersBack(one) {
			u.Under = last
		}
		last = r.add(u)
		if leads && last > 0 {
			r.lead = last
		}
		if idle {
			last = 0
		}
		body = rest
	}
}

// backWords begin a sentence that is about the one before it, or restricts it.
var backWords = compress.WordSet(`it its they them he she that those but however instead otherwise then nor except only
	aber sondern jedoch das sie es er dies pero sino eso esto ello mas porém isso isto ele ela mais cela ce il elle`)

// backRuns do so in scripts without spaces.
var backRuns = []string{"しかし", "でも", "ただし", "それ", "これ", "その", "だが", "但", "不过", "然而", "它", "这", "那", "他", "她", "하지만",
	"그러나", "그것", "이것", "다만"}

// refersBack reports whether a sentence misleads without the one before it.
func refersBack(s string) bool {
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

// printed adds a line of code or output, in pieces if it is long.
func (r *quoteReader) printed(at int) {
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
	if line := r.line(at); !r.escaped && len(line) < longField && !strings.Contains(line, "\r") {
		add(line)
		return
	}
	compress.EachLine(whole, func(_ int, line string) { add(line) })
}

// isField reports whether a line is one field of JSON that is printed in many lines.
func isField(line string) bool {
	rest, ok := strings.CutPrefix(line, `"`)
	if !ok {
		return false
	}
	_, value, ok := strings.Cut(rest, `":`)
	return ok && strings.Count(strings.TrimSpace(value), " ") < 8
}
