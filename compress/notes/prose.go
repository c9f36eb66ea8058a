package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ctxfs/ctxfs/compress"
)

// Bounds of what is read of a record, in bytes.
const (
	proseRead    = 64 << 10 // of a text, half from each end
	longSentence = 400      // longer ones are none that somebody would note
	longWrapped  = 50       // a line from so many bytes on goes on in the next one, unless it ends a sentence
	pasteLines   = 8        // so many lines "key: value" in a row are pasted
)

// sentence is one that somebody says: not of code, a quotation, a table, a log.
type sentence struct {
	text     string // as it stands, with single blanks
	words    []noteWord
	question bool
	item     bool   // it is an item of a list
	label    string // of an option: "a", "2"
	led      bool   // a line that ends in a colon leads in the list that it is of
}

// prose calls say with each sentence of a text and check with each item of its checklists, in their
// order. The words of a sentence are only good during the call.
func prose(text string, say func(s *sentence), check func(text string, done bool)) {
	if len(text) > proseRead {
		head, tail := text[:proseRead/2], text[len(text)-proseRead/2:]
		if i := strings.LastIndexByte(head, '\n'); i > 0 {
			head = head[:i]
		}
		if i := strings.IndexByte(tail, '\n'); i >= 0 {
			tail = tail[i+1:]
		}
		prose(strings.ToValidUTF8(head, ""), say, check)
		text = strings.ToValidUTF8(tail, "")
	}
	r := proseReader{text: text, lines: compress.MarkdownLines(text), say: say, check: check}
	for at := 0; at < len(r.lines); at++ {
		if !r.skips(at) {
			at = r.read(at)
		}
	}
}

// proseReader reads the lines of one text.
type proseReader struct {
	text  string
	lines []compress.MarkdownLine
	say   func(s *sentence)
	check func(text string, done bool)
	words []noteWord // of the sentence that is being said
	tag   string     // the element whose lines these are
	led   bool       // a line before leads in
}

func (r *proseReader) line(at int) string {
	return strings.TrimSpace(r.text[r.lines[at].From:r.lines[at].To])
}

// skips reports whether a line is not what somebody says: of an element, code, a quotation, a
// table, a log.
func (r *proseReader) skips(at int) bool {
	l, line := &r.lines[at], r.line(at)
	if r.tag != "" {
		if strings.Contains(line, "</"+r.tag) {
			r.tag = ""
		}
		return true
	}
	if l.Blank || l.Code {
		return true
	}
	if name := opens(line); name != "" {
		if !strings.Contains(line, "</"+name) {
			r.tag = name
		}
		return true
	}
	if !l.Item && !l.Joined {
		r.led = false
	}
	return l.Level > 0 || isQuoted(line) || l.Indent >= 4 && !l.Item && !r.led || isLog(line)
}

// read reads what begins with a line, and returns the last line of that.
func (r *proseReader) read(at int) int {
	l, line := &r.lines[at], r.line(at)
	if done, item, ok := Checkbox(line); ok {
		if item != "" && !strings.HasPrefix(item, "[!") {
			r.check(item, done)
		}
		return at
	}
	if run := keyLines(r.text, r.lines[at:]); run >= pasteLines {
		return at + run - 1
	}
	s := sentence{item: l.Item, led: r.led}
	body := line
	if l.Item {
		s.label, body = cutMark(line, l.Bullet)
	} else if label, rest, ok := cutLabel(line); ok {
		s.label, body = label, rest
	}
	r.led = r.led && l.Item || l.Introduces
	for wrapped := l.Item; at+1 < len(r.lines) && goesOn(body) && r.continues(at+1, wrapped); at++ {
		body += " " + r.line(at+1)
	}
	r.sentences(&s, body)
	return at
}

// continues reports whether a line may go on with a paragraph, or with an item of a list.
func (r *proseReader) continues(at int, item bool) bool {
	l, line := &r.lines[at], r.line(at)
	if l.Blank || l.Code || l.Level > 0 || l.Item || isQuoted(line) || isLog(line) || l.Indent >= 4 && !item {
		return false
	}
	_, _, labelled := cutLabel(line)
	return !labelled
}

// sentences calls say with each sentence of a paragraph; s has what they share.
func (r *proseReader) sentences(s *sentence, body string) {
	for body != "" {
		var one string
		one, body = cutSentence(body)
		one = strings.Join(strings.Fields(one), " ")
		if one == "" || len(one) > longSentence || !isProse(strings.TrimRight(one, ".!?")) {
			continue
		}
		s.text = unmark(one)
		s.question = strings.HasSuffix(strings.TrimRight(s.text, ".!\")*"), "?")
		r.words = splitWords(s.text, r.words)
		markDoubts(r.words)
		if s.words = r.words; len(s.words) > 0 {
			r.say(s)
		}
	}
}

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
	first, _, _ := strings.Cut(line, " ")
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
		case c == ' ' || unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsDigit(c):
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
