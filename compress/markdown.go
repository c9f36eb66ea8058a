package compress

import "strings"

// mdLine is one line of Markdown as far as splitting needs to know it.
type mdLine struct {
	from, to   int // bytes of the text, the line's end included
	indent     int // columns before its text; a tab is four
	blank      bool
	code       bool   // of a code fence, its marks included
	level      int    // of the heading that it is, else 0
	title      string // of the heading
	underline  bool   // of a heading that is the line before
	item       bool   // it begins an item of a list
	bullet     bool   // of one without numbers
	introduces bool   // it ends in a colon
	joined     bool   // it is not parted from the line before: a fence, a table, what follows a heading or a colon
}

// readLines takes text apart. Blank lines of a code fence do not count as blank.
func readLines(text string) []mdLine {
	lines := make([]mdLine, 0, strings.Count(text, "\n")+1)
	fence := ""                // the mark that the open fence began with
	led, table := false, false // the last line that is not blank leads in; the line before is of a table
	at := 0
	for whole := range strings.Lines(text) {
		s := strings.TrimSpace(whole)
		l := mdLine{from: at, to: at + len(whole), indent: indentOf(whole)}
		at = l.to
		n := len(lines)
		switch open := fenceAfter(fence, s); {
		case fence != "":
			fence, l.code, l.joined = open, true, true
		case s == "":
			l.blank, l.joined = true, led
		case open != "":
			fence, l.code, l.joined = open, true, led
		default:
			l.joined = led || table && s[0] == '|'
			l.level, l.title = heading(s, l.indent)
			if level := underline(s); level > 0 && n > 0 && plain(lines, n-1) {
				l.level, l.underline, l.joined = level, true, true
				lines[n-1].level, lines[n-1].title = level, strings.TrimSpace(text[lines[n-1].from:lines[n-1].to])
			}
			l.item, l.bullet = listMark(s)
			l.introduces = l.level == 0 && s[len(s)-1] == ':'
		}
		table = fence == "" && s != "" && s[0] == '|'
		if !l.blank {
			led = l.level > 0 || l.introduces
		}
		lines = append(lines, l)
	}
	return lines
}

// plain says whether line n may be the text of an underlined heading: it stands
// alone, and is nothing else.
func plain(lines []mdLine, n int) bool {
	l := lines[n]
	alone := n == 0 || lines[n-1].blank || lines[n-1].level > 0
	return alone && !l.blank && !l.code && !l.item && l.level == 0
}

func indentOf(line string) (columns int) {
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

// fenceMark gives the run of backticks or tildes with which s opens or closes a code fence, else "".
func fenceMark(s string) string {
	if len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 || s[0] == '`' && strings.Contains(s[n:], "`") {
		return ""
	}
	return s[:n]
}

// fenceAfter gives the mark of the code fence that is open behind a line without blanks around it; open is that of the one before it, "" for none.
func fenceAfter(open, s string) string {
	mark := fenceMark(s)
	switch {
	case open == "":
		return mark
	case mark != "" && mark[0] == open[0] && len(mark) >= len(open) && len(s) == len(mark):
		return ""
	}
	return open
}

// heading gives the level and title of a line that begins with one to six #.
func heading(s string, indent int) (level int, title string) {
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

// underline gives the level of the heading that a line of = or - makes of the line before.
func underline(s string) int {
	switch {
	case len(s) < 2:
		return 0
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

// listMark says whether a line begins a list's item, and whether that has a bullet.
func listMark(s string) (item, bullet bool) {
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
