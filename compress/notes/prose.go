package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"

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

// prose gives the sentences of a text in their order, and the items of its checklists. Words are only good until the next call.
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
	lines := compress.MarkdownLines(text)
	var words []noteWord
	tag, led := "", false // the element whose lines these are; a line before leads in
	for at := 0; at < len(lines); at++ {
		l := lines[at]
		line := strings.TrimSpace(text[l.From:l.To])
		if tag != "" {
			if strings.Contains(line, "</"+tag) {
				tag = ""
			}
			continue
		}
		if l.Blank || l.Code {
			continue
		}
		if name := opens(line); name != "" {
			if !strings.Contains(line, "</"+name) {
				tag = name
			}
			continue
		}
		if !l.Item && !l.Joined {
			led = false
		}
		if l.Level > 0 || line[0] == '>' || line[0] == '|' || line[0] == '<' || l.Indent >= 4 && !l.Item && !led || isLog(line) {
			continue
		}
		if done, item, ok := Checkbox(line); ok {
			if item != "" && !strings.HasPrefix(item, "[!") {
				check(item, done)
			}
			continue
		}
		if run := keyLines(text, lines[at:]); run >= pasteLines {
			at += run - 1
			continue
		}
		s := sentence{item: l.Item, led: led}
		body := line
		if l.Item {
			s.label, body = cutMark(line, l.Bullet)
		} else if label, rest, ok := cutLabel(line); ok {
			s.label, body = label, rest
		}
		led = led && l.Item || l.Introduces
		for at+1 < len(lines) && goesOn(body) {
			next := lines[at+1]
			text := strings.TrimSpace(text[next.From:next.To])
			if next.Blank || next.Code || next.Level > 0 || next.Item || text[0] == '>' || text[0] == '|' || text[0] == '<' || isLog(text) || next.Indent >= 4 && !l.Item {
				break
			}
			if _, _, labelled := cutLabel(text); labelled {
				break
			}
			body += " " + text
			at++
		}
		for body != "" {
			var one string
			one, body = cutSentence(body)
			one = strings.Join(strings.Fields(one), " ")
			if one == "" || len(one) > longSentence || !isProse(one) {
				continue
			}
			s.text = unmark(one)
			s.question = strings.HasSuffix(strings.TrimRight(s.text, ".!\")*"), "?")
			words = splitWords(s.text, words)
			markDoubts(words)
			if s.words = words; len(words) > 0 {
				say(&s)
			}
		}
	}
}

// Checkbox reads one line of a todo list: "- [ ] text", "* [x] text", "1. [ ] text".
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

// cutMark takes the mark of a list's item off a line.
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

// cutLabel takes the name of an option off a line: "Option B: …", "**B)** …", "A. …".
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
	if after == "" || !(after[0] == ')' || after[0] == ':' || ok && (after[0] == '-' || strings.HasPrefix(after, "–") || strings.HasPrefix(after, "—") || after[0] == '(')) {
		return "", line, false
	}
	if after[0] == '(' {
		return lower[:1], after, true
	}
	_, size := utf8.DecodeRuneInString(after)
	return lower[:1], strings.TrimSpace(strings.TrimLeft(after[size:], "*_ ")), true
}

// opens gives the name of an element that begins a line, as agents put what they add to a message: <system-reminder>.
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

// goesOn says whether a line is wrapped: long, and no sentence ends with it.
func goesOn(line string) bool {
	return len(line) >= longWrapped && len(line) < 4*longSentence && !strings.ContainsRune(".!?:;|", rune(line[len(line)-1]))
}

// cutSentence takes the first sentence off a text.
func cutSentence(text string) (first, rest string) {
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
			return text[:end], strings.TrimSpace(text[end:])
		}
	}
	return text, ""
}

// abbreviated says whether a full stop behind a text may be one of an abbreviation or a number.
func abbreviated(text string) bool {
	from := strings.LastIndexByte(text, ' ') + 1
	last := strings.ToLower(strings.TrimLeft(text[from:], "(\""))
	switch last {
	case "e.g", "i.e", "etc", "vs", "dr", "mr", "mrs", "ms", "st", "no", "ca", "approx", "incl", "z.b", "d.h", "bzw", "usw", "fig":
		return last != "no" || from > 0
	}
	return from == 0 && strings.Trim(last, "0123456789") == "" || len(last) == 1 && last != "i" && text[len(text)-1] >= 'A' && text[len(text)-1] <= 'Z'
}

// unmark takes emphasis off that holds a whole sentence, and quotes.
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

// isLog says whether a line is printed by a program rather than written: of a log, a diff, a shell, code.
func isLog(line string) bool {
	switch c := line[0]; {
	case c == '{' || c == '[' && !strings.HasPrefix(line, "[x") && !strings.HasPrefix(line, "[ ") || c == '}' || c == '#' || c == '@' && !strings.Contains(line, " ") || c == '/' || c == '\\' || c == ';':
		return true
	case c == '+' || c == '-':
		if len(line) > 1 && line[1] != ' ' || strings.HasPrefix(line[1:], "  ") {
			return true
		}
	case c == '$' && strings.HasPrefix(line, "$ "):
		return true
	case c >= '0' && c <= '9':
		if len(line) > 10 && (line[4] == '-' && line[7] == '-' || line[2] == ':' && line[5] == ':') {
			return true
		}
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

// isProse says whether a sentence is made of words: most of it letters and blanks.
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
		case c == ' ' || unicode.IsLetter(c) || unicode.IsDigit(c):
			letters++
		}
	}
	return (letters+code)*100 >= all*78 && letters > 0
}

// keyLines counts the lines that are "key: value" and nothing else, from the first on.
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
