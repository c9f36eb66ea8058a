package compress

import "strings"

// MarkdownLine is one line of Markdown as far as splitting a text needs to know it.
type MarkdownLine struct {
	From, To   int // bytes of the text, the line's end included
	Indent     int // columns before its text; a tab is four
	Blank      bool
	Code       bool   // of a code fence, its marks included
	Level      int    // of the heading that it is, else 0
	Title      string // of the heading
	Item       bool   // it begins an item of a list
	Bullet     bool   // of one without numbers
	Introduces bool   // it ends in a colon
	Joined     bool   // it is not parted from the line before: a fence, a table, what follows a heading or a colon
}

// MarkdownLines returns the lines of a text. Blank lines of a code fence do not count as blank.
func MarkdownLines(text string) []MarkdownLine {
	lines := make([]MarkdownLine, 0, strings.Count(text, "\n")+1)
	fence := ""                // the mark that the open fence began with
	led, table := false, false // the last line that is not blank leads in; the line before is of a table
	at := 0
	for whole := range strings.Lines(text) {
		s := strings.TrimSpace(whole)
		l := MarkdownLine{From: at, To: at + len(whole), Indent: IndentOf(whole)}
		at = l.To
		switch open := FenceAfter(fence, s); {
		case fence != "":
			fence, l.Code, l.Joined = open, true, true
		case s == "":
			l.Blank, l.Joined = true, led
		case open != "":
			fence, l.Code, l.Joined = open, true, led
		default:
			l.Joined = led || table && s[0] == '|'
			l.Level, l.Title = Heading(s, l.Indent)
			l.Item, l.Bullet = ListMark(s)
			l.Introduces = l.Level == 0 && s[len(s)-1] == ':'
		}
		table = fence == "" && s != "" && s[0] == '|'
		if !l.Blank {
			led = l.Level > 0 || l.Introduces
		}
		lines = append(lines, l)
	}
	return lines
}

// IndentOf returns how many columns of blanks a line begins with; a tab is four.
func IndentOf(line string) (columns int) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4
		default:
			return columns
		}
	}
	return columns
}

// FenceMark returns the run of backticks or tildes with which s opens or closes a code fence,
// else "".
func FenceMark(s string) string {
	if len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 || s[0] == '`' && strings.Contains(s[n:], "`") {
		return ""
	}
	return s[:n]
}

// FenceAfter returns the mark of the code fence that is open behind line s, which has no blanks
// around it; open is the mark of the one before it. Both are "" for none.
func FenceAfter(open, s string) string {
	mark := FenceMark(s)
	switch {
	case open == "":
		return mark
	case mark != "" && mark[0] == open[0] && len(mark) >= len(open) && len(s) == len(mark):
		return ""
	}
	return open
}

// Heading returns the level and title of a line, indented by so many columns, that begins with
// one to six #; level is 0 for another line.
func Heading(s string, indent int) (level int, title string) {
	rest := strings.TrimLeft(s, "#")
	level = len(s) - len(rest)
	if level == 0 || level > 6 || indent > 3 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	rest = strings.TrimSpace(rest)
	if short := strings.TrimRight(rest, "#"); short == "" || short[len(short)-1] == ' ' {
		rest = strings.TrimSpace(short) // a closing run
	}
	return level, rest
}

// ListMark reports whether a line that is not empty begins an item of a list, and whether that
// has a bullet.
func ListMark(s string) (item, bullet bool) {
	if s[0] == '-' || s[0] == '*' || s[0] == '+' {
		is := len(s) > 1 && (s[1] == ' ' || s[1] == '\t')
		return is, is
	}
	n := 0
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	is := n > 0 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' '
	return is, false
}
