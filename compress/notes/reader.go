package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ctxfs/ctxfs/compress"
)

// Bounds of sentences, in bytes.
const (
	maxRead      = 64 << 10 // of a text of the assistant that is read, half from each end
	longSentence = 400      // a longer sentence states nothing
	longWrapped  = 50       // a line of this length goes on in the next one, unless it ends a sentence
	pasteLines   = 8        // consecutive lines "key: value" that count as a paste
	printedLines = 3        // consecutive printed lines that count as a paste
	shortFence   = 160      // a shorter fence, or a shorter element, may be a part of what is said
)

// sentenceKind distinguishes sentences from code, logs, and quotations.
type sentenceKind uint8

const (
	kindSaid    sentenceKind = iota // a sentence of a paragraph or of an item of a list
	kindBox                         // an item of a checklist
	kindHeading                     // a heading
	kindPrinted                     // a line of code, a quotation, a table, a log
	kindPasted                      // a line of a long block of these
)

// sentence is one sentence of a record, or one line of code, a log, or a quotation.
type sentence struct {
	whole  string // as written, in one line with single blanks
	text   string // whole without the mark of a list and the label of an option
	from   int    // the range of bytes in the text; of a line its end is included
	to     int
	kind   sentenceKind
	item   bool   // it belongs to an item of a list
	number bool   // the list is numbered
	indent int    // columns before its block
	label  string // of an option: "a", "2"
	led    bool   // a line that ends in a colon introduces its list
	first  bool   // it begins a block
	last   bool   // it ends a block
	done   bool   // of a box: it is ticked

	words    []noteWord // see parse
	question bool
}

// parse splits the words of a sentence. It returns false for a text that is no sentence: code, a
// label alone, or a long one.
func (s *sentence) parse() bool {
	if s.kind != kindSaid || len(s.text) > longSentence || !isProse(strings.TrimRight(s.text, ".!?")) {
		return false
	}
	s.text = unmark(s.text)
	s.question = isQuestion(s.text)
	s.words = splitWords(s.text, nil)
	markDoubts(s.words)
	return len(s.words) > 0
}

// bothEnds returns the first and the last part of a text that is longer than maxRead bytes.
func bothEnds(text string) string {
	if len(text) <= maxRead {
		return text
	}
	return strings.ToValidUTF8(text[:maxRead/2], "") + "\n\n# …\n\n" + strings.ToValidUTF8(text[len(text)-maxRead/2:], "")
}

// sentencesOf splits a message into its sentences. It and [Quotes], for results of tools, are the
// only splitters: facts, statements, points, and the user's words are chosen among what it
// returns.
func sentencesOf(text string) []sentence { return split(text, true) }

func split(text string, message bool) []sentence {
	r := reader{text: text, lines: compress.MarkdownLines(text), message: message}
	for at := 0; at < len(r.lines); {
		at = r.block(at)
	}
	return r.out
}

// reader splits one text.
type reader struct {
	text    string
	lines   []compress.MarkdownLine
	message bool // a person or a model says it; otherwise a tool printed it
	led     bool // a line before introduces the list
	out     []sentence
}

func (r *reader) line(at int) string {
	return strings.TrimSpace(r.text[r.lines[at].From:r.lines[at].To])
}

// add appends the lines from one to another, which belong together, as one block of a kind. A long
// block is pasted.
func (r *reader) add(kind sentenceKind, from, to int, long bool) int {
	if long {
		kind = kindPasted
	}
	for at := from; at < to; at++ {
		l := &r.lines[at]
		if s := oneLine(r.line(at)); s != "" && (!l.Code || compress.FenceMark(s) == "") {
			r.out = append(r.out, sentence{whole: s, text: s, from: l.From, to: l.To, kind: kind, indent: l.Indent, first: true, last: true})
		}
	}
	return to
}

// block reads the block that begins at a line, and returns the next line.
func (r *reader) block(at int) (end int) {
	l, line := &r.lines[at], r.line(at)
	switch {
	case l.Blank:
		return at + 1
	case l.Code:
		for end = at + 1; end < len(r.lines) && r.lines[end].Code; end++ {
			if mark := compress.FenceMark(r.line(end)); mark != "" && mark == r.line(end) {
				end++
				break
			}
		}
		return r.add(kindPrinted, at, end, r.lines[end-1].To-l.From > shortFence)
	case r.message && opens(line) != "":
		for end = at; end < len(r.lines) && !strings.Contains(r.line(end), "</"+opens(line)); end++ {
		}
		end = min(end+1, len(r.lines))
		return r.add(kindPrinted, at, end, r.lines[end-1].To-l.From > shortFence)
	}
	if !l.Item && !l.Joined {
		r.led = false
	}
	if l.Level > 0 {
		return r.add(kindHeading, at, at+1, false)
	}
	if end = at + keyLines(r.text, r.lines[at:]); r.message && end-at >= pasteLines {
		return r.add(kindPasted, at, end, true)
	}
	if r.isPrinted(at) {
		for end = at + 1; end < len(r.lines) && !r.lines[end].Blank && (r.isPrinted(end) || r.lines[end].Indent > 0 && !r.lines[end].Item); end++ {
		}
		return r.add(kindPrinted, at, end, end-at >= printedLines)
	}
	if l.Item {
		return r.item(at)
	}
	return r.paragraph(at)
}

// isPrinted reports whether a line belongs to a table, or in a message to a quotation, a diff,
// code, or the output of a program.
func (r *reader) isPrinted(at int) bool {
	l, line := &r.lines[at], r.line(at)
	switch {
	case l.Code || l.Level > 0:
		return false
	case line[0] == '|' || !r.message:
		return line[0] == '|'
	}
	return isQuoted(line) || line[0] == '+' || beginsPrinted(line) ||
		!l.Item && (isLog(line) || !isProse(strings.Trim(line, "*_.!?")) || l.Indent >= 4 && !r.led)
}

// endsBlock reports whether a line belongs to no paragraph and no item that begins before it.
func (r *reader) endsBlock(at int) bool {
	l := &r.lines[at]
	return l.Blank || l.Code || l.Item || l.Level > 0 || r.isPrinted(at)
}

// item reads an item of a list, or a box.
func (r *reader) item(at int) (end int) {
	l := &r.lines[at]
	s := sentence{item: true, number: !l.Bullet, indent: l.Indent, led: r.led, first: true}
	r.led = r.led || l.Introduces
	for end = at + 1; end < len(r.lines) && !r.endsBlock(end); end++ {
		last := r.line(end - 1)
		if r.lines[end].Indent <= l.Indent && (len(last) < minWrapped || EndsSentence(last)) {
			break
		}
	}
	if done, text, ok := Checkbox(r.line(at)); ok {
		s.kind, s.done, s.last = kindBox, done, true
		s.whole, s.text, s.from, s.to = oneLine(r.line(at)), oneLine(text), l.From, r.lines[end-1].To
		r.out = append(r.out, s)
		return end
	}
	r.sentences(at, end, s)
	return end
}

// paragraph reads a paragraph: its sentences, or its lines if it was printed by a program.
func (r *reader) paragraph(at int) (end int) {
	from := at
	for end = at + 1; end < len(r.lines) && !r.endsBlock(end); end++ {
	}
	if !r.message && !r.isProse(from, end) {
		return r.add(kindPrinted, from, end, false)
	}
	wrapped := r.isWrapped(from, end)
	for at < end {
		to := at + 1
		for to < end && (wrapped && mayContinue(r.line(to-1), r.line(to)) || r.message && goesOn(r.line(to-1))) {
			if _, _, ok := cutLabel(r.line(to)); ok {
				break
			}
			to++
		}
		r.sentences(at, to, sentence{indent: r.lines[at].Indent, led: r.led, first: at == from || !wrapped})
		r.led = r.led && at != from || r.lines[to-1].Introduces
		at = to
	}
	return end
}

// sentences adds the sentences of some lines. Each one copies the common fields from s.
func (r *reader) sentences(at, to int, s sentence) {
	from := r.lines[at].From
	flat := []byte(r.text[from:r.lines[to-1].To]) // line ends become blanks at the same offsets
	for i, c := range flat {
		if c < ' ' || c == '>' && i > 0 && flat[i-1] == ' ' && r.text[from+i-1] == '\n' {
			flat[i] = ' '
		}
	}
	body := strings.TrimRight(string(flat), " ")
	end := from + len(body)
	body = strings.TrimLeft(body, " ")

	s.from = end - len(body)
	if label, rest, ok := cutLabel(body); s.item {
		s.label, body = cutMark(body, !s.number)
	} else if ok {
		s.label, body = label, rest
	}
	mark := r.text[s.from : end-len(body)]
	for body != "" || mark != "" {
		s.text, body = cutSentence(body)
		s.text, s.to, s.last = oneLine(s.text), end-len(body), body == ""
		s.whole, mark = oneLine(mark+s.text), ""
		r.out = append(r.out, s)
		s.first, s.from = false, s.to
	}
}

// isProse reports whether lines[from:to] are sentences rather than code, a log, or key-value pairs.
func (r *reader) isProse(from, to int) bool {
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

// isWrapped reports whether sentences of lines[from:to] may span several lines. If most lines start
// in upper case, each line is a statement of its own.
func (r *reader) isWrapped(from, to int) bool {
	lower := 0
	for at := from + 1; at < to; at++ {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(r.line(at), "> `*_\"'("))
		if unicode.IsLetter(first) && !unicode.IsUpper(first) {
			lower++
		}
	}
	return lower*100 >= (to-from-1)*minLowerLines
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Checkbox reads one line of a todo list: "- [ ] text", "* [x] text", "1. [ ] text". ok is false
// for another line.
func Checkbox(line string) (done bool, text string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	if line == "" {
		return false, "", false
	}
	item, bullet := compress.ListMark(line)
	if !item {
		return false, "", false
	}
	_, rest := cutMark(line, bullet)
	if rest, ok = strings.CutPrefix(rest, "["); !ok {
		return false, "", false
	}
	mark, text, ok := strings.Cut(rest, "]")
	if !ok || len(mark) > 1 || strings.HasPrefix(text, "(") {
		return false, "", false
	}
	switch mark {
	case "x", "X":
		return true, strings.TrimSpace(text), true
	case " ", "":
		return false, strings.TrimSpace(text), true
	}
	return false, "", false
}

// cutMark takes the mark of a list's item off a line, and the label in it or behind it.
func cutMark(line string, bullet bool) (label, rest string) {
	if bullet {
		label, rest, ok := cutLabel(strings.TrimSpace(line[1:]))
		if ok {
			return label, rest
		}
		return "", strings.TrimSpace(line[1:])
	}
	i := strings.IndexAny(line, ".)")
	return line[:i], strings.TrimSpace(line[i+1:])
}

// cutLabel takes the name of an option off a line: "Option B: …", "**B)** …", "A. …"; ok is
// false if it has none.
func cutLabel(line string) (label, rest string, ok bool) {
	s := strings.TrimLeft(line, "*_ ")
	lower := strings.ToLower(s)
	for _, word := range []string{"option ", "variant ", "approach ", "alternative "} {
		if strings.HasPrefix(lower, word) {
			lower = lower[len(word):]
			s = s[len(word):]
			ok = true
			break
		}
	}
	if len(s) < 3 || !(lower[0] >= 'a' && lower[0] <= 'h' || lower[0] >= '1' && lower[0] <= '9') {
		return "", line, false
	}
	after := strings.TrimLeft(s[1:], "*_ ")
	isTime := len(after) > 1 && after[0] == ':' && '0' <= after[1] && after[1] <= '9' // "1:00"
	if after == "" || isTime || !(after[0] == ')' || after[0] == ':' || ok && (after[0] == '-' || strings.HasPrefix(after, "–") || strings.HasPrefix(after, "—") || after[0] == '(')) {
		return "", line, false
	}
	if after[0] == '(' {
		return lower[:1], after, true
	}
	_, size := utf8.DecodeRuneInString(after)
	return lower[:1], strings.TrimSpace(strings.TrimLeft(after[size:], "*_ ")), true
}

// opens returns the name of an element that begins a line, as agents put what they add to a
// message: <system-reminder>. It returns "" for another line.
func opens(line string) string {
	if len(line) < 3 || line[0] != '<' || !('a' <= line[1]|0x20 && line[1]|0x20 <= 'z') {
		return ""
	}
	end := strings.IndexAny(line, "> ")
	if end < 2 || strings.HasSuffix(line[:end], "/") || !strings.Contains(line, ">") {
		return ""
	}
	return line[1:end]
}

// goesOn reports whether a line is wrapped: long, and no sentence ends with it.
func goesOn(line string) bool {
	return len(line) >= longWrapped && len(line) < 4*longSentence && !strings.ContainsRune(".!?:;|", rune(line[len(line)-1]))
}

// cutSentence takes the first sentence off a text. Sentences end at ASCII marks that a blank
// follows, and at the marks of other scripts by the rules of Unicode (UAX 29).
func cutSentence(text string) (first, rest string) {
	first, rest = cutAtMark(text)
	if strings.IndexFunc(first, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 {
		return first, rest
	}

	for at := 0; at < len(first); {
		one, _, _ := uniseg.FirstSentenceInString(first[at:], -1)
		at += len(one)
		one = strings.TrimRight(one, " \"')»”’」』）")
		if end, _ := utf8.DecodeLastRuneInString(one); at < len(first) && end >= utf8.RuneSelf && unicode.Is(unicode.STerm, end) {
			for at < len(first) && first[at] == '*' {
				at++
			}
			return strings.TrimSpace(first[:at]), strings.TrimSpace(text[at:])
		}
	}
	return first, rest
}

// cutAtMark takes the first sentence off a text that ends at an ASCII mark.
func cutAtMark(text string) (first, rest string) {
	code := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '`':
			code = !code && strings.IndexByte(text[i+1:], '`') >= 0
		case '.', '!', '?':
			if code {
				continue
			}
			end := i + 1
			for end < len(text) && strings.IndexByte(".!?)\"'*", text[end]) >= 0 {
				end++
			}
			if end < len(text) && text[end] != ' ' || c == '.' && end == i+1 && abbreviated(text[:i]) {
				continue
			}
			if c == '.' && end > i+2 && end+1 < len(text) && 'a' <= text[end+1] && text[end+1] <= 'z' { // "C:/... by mistake"
				i = end
				continue
			}
			return text[:end], strings.TrimSpace(text[end:])
		}
	}
	return text, ""
}

// abbreviated reports whether a full stop behind a text may be one of an abbreviation or a
// number.
func abbreviated(text string) bool {
	from := strings.LastIndexByte(text, ' ') + 1
	last := strings.ToLower(strings.TrimLeft(text[from:], "(\"*_"))
	switch last {
	case "e.g", "i.e", "etc", "vs", "dr", "mr", "mrs", "ms", "st", "no", "ca", "approx", "incl", "z.b", "d.h", "bzw", "usw", "fig":
		return last != "no" || from > 0
	}
	return from == 0 && strings.Trim(last, "0123456789") == "" || len(last) == 1 && last != "i" && text[len(text)-1] >= 'A' && text[len(text)-1] <= 'Z'
}

// unmark takes emphasis off that holds a whole sentence.
func unmark(s string) string {
	for _, mark := range []string{"**", "__", "*", "_"} {
		if rest, ok := strings.CutPrefix(s, mark); ok {
			if inner, ok := strings.CutSuffix(rest, mark); ok && !strings.Contains(inner, mark) {
				return strings.TrimSpace(inner)
			}
		}
	}
	return s
}

// isQuoted reports whether a line is of a quotation, a table or markup.
func isQuoted(line string) bool { return line[0] == '>' || line[0] == '|' || line[0] == '<' }

// isLog reports whether a line is printed by a program rather than written: of a log, a diff, a
// shell, code.
func isLog(line string) bool {
	if beginsPrinted(line) {
		return true
	}
	switch line[len(line)-1] {
	case '{', '}', ';', '\\':
		return true
	}
	first, rest, _ := strings.Cut(line, " ")
	if _, message, _ := strings.Cut(rest, " "); strings.Contains(first, ".") && isNumber(first) {
		return strings.HasPrefix(message, "error ") || strings.HasPrefix(message, "warn ") // "158.5 npm error …"
	}
	switch strings.TrimRight(first, ":") {
	case "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "FATAL", "TRACE", "Traceback", "File", "at", "panic", "FAIL", "---", "import", "from", "const", "var", "func", "def", "class", "return":
		return first != "at" && first != "from" || strings.ContainsAny(line, "()")
	}
	return strings.HasSuffix(strings.TrimRight(first, ":"), "Error") && strings.HasSuffix(first, ":")
}

// beginsPrinted reports whether a line begins as no sentence does.
func beginsPrinted(line string) bool {
	switch c := line[0]; c {
	case '{', '}', '#', '/', '\\', ';':
		return true
	case '[':
		return !strings.HasPrefix(line, "[x") && !strings.HasPrefix(line, "[ ")
	case '@':
		return !strings.Contains(line, " ")
	case '+', '-':
		return len(line) > 1 && line[1] != ' ' || strings.HasPrefix(line[1:], "  ")
	case '$':
		return strings.HasPrefix(line, "$ ")
	}
	if line[0] < '0' || line[0] > '9' || len(line) <= 10 {
		return false
	}
	return line[4] == '-' && line[7] == '-' || line[2] == ':' && line[5] == ':' // a date, a time
}

// isProse reports whether a sentence is made of words: most of it letters and blanks.
func isProse(s string) bool {
	letters, code := 0, 0
	all := 0
	in := false
	for _, c := range s {
		all++
		switch {
		case c == '`':
			in = !in
		case in:
			code++
		case c == ' ' || c >= utf8.RuneSelf || unicode.IsLetter(c) || unicode.IsDigit(c):
			letters++
		}
	}
	return (letters+code)*100 >= all*78 && letters > 0
}

// keyLines returns how many lines, from the first on, are "key: value" and nothing else.
func keyLines(text string, lines []compress.MarkdownLine) (n int) {
	for _, l := range lines {
		key, value, ok := strings.Cut(strings.TrimSpace(text[l.From:l.To]), ": ")
		if !ok || strings.Count(key, " ") > 3 || l.Blank || strings.HasSuffix(value, ".") && strings.Contains(value, " ") {
			break
		}
		n++
	}
	return n
}
