package result

import (
	"strings"
	"unicode/utf8"
)

// sniffed is how many bytes of a text are looked at to find its kind.
const sniffed = 4096

// sampleOf returns the first lines of a text that are not blank.
func sampleOf(text string) []string {
	lines := strings.Split(plainText(text[:min(len(text), sniffed)]), "\n")
	if len(text) > sniffed && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	n := 0
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			lines[n] = strings.TrimRight(l, " \t")
			n++
		}
	}
	return lines[:n]
}

// share returns the part of lines for which is holds.
func share(lines []string, is func(string) bool) float64 {
	n := 0
	for _, l := range lines {
		if is(l) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(lines)))
}

// isBinary reports whether a text is bytes, or base64 of them.
func isBinary(text string) bool {
	head := text[:min(len(text), sniffed)]
	bad := 0
	for i, c := range head {
		if c == 0 || c == utf8.RuneError && i < len(head)-utf8.UTFMax || c < ' ' && !strings.ContainsRune("\n\r\t\b\x1b\f", c) {
			bad++
		}
	}
	if bad*20 > len(head) {
		return true
	}
	_, n := base64Of(text)
	return n > 0
}

func isHTML(start string) bool {
	low := strings.ToLower(start[:min(len(start), 512)])
	return strings.HasPrefix(low, "<!doctype html") || strings.HasPrefix(low, "<html") || strings.HasPrefix(low, "<?xml") && strings.Contains(low, "<html") ||
		strings.HasPrefix(low, "<head") || strings.HasPrefix(low, "<body")
}

func isDiff(lines []string) bool {
	headers := 0
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "diff --git "), strings.HasPrefix(l, "@@ -") && strings.Contains(l[3:], "@@"):
			headers++
		case strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			headers++
		}
	}
	return headers >= 2 && (strings.HasPrefix(lines[0], "diff ") || strings.HasPrefix(lines[0], "--- ") || strings.HasPrefix(lines[0], "commit ") || headers*50 > len(lines))
}

func isWebSearch(lines []string, tool string) bool {
	if !isSearchTool(tool) {
		return false
	}
	urls := 0
	for _, l := range lines {
		if strings.Contains(l, "://") {
			urls++
		}
	}
	return urls >= 2
}

// matched reports whether most lines begin with a path and perhaps a number, as grep prints
// them.
func matched(lines []string) bool {
	return len(lines) >= 3 && share(lines, func(l string) bool { file, _ := matchOf(l); return file != "" || l == "--" }) > 0.7
}

// matchOf returns the file of a line as grep prints it, "src/a.go:12:func main() {", and where
// its text begins; file is "" for another line.
func matchOf(line string) (file string, text int) {
	at := strings.IndexByte(line, ':')
	if at <= 0 || at > 200 || strings.HasPrefix(line[at:], "::") || strings.ContainsAny(line[:at], " \t(){}\"'<>=,") || !strings.ContainsAny(line[:at], "./") || strings.HasPrefix(line[at:], "://") {
		return "", 0
	}
	return line[:at], at + 1
}

// listed reports whether most lines are paths or entries of directories.
func listed(lines []string) bool {
	return len(lines) >= 3 && share(lines, func(l string) bool { return entryOf(l) != noEntry }) > 0.8
}

// isTable reports whether the lines look like a header and rows of as many columns.
func isTable(lines []string) bool {
	if len(lines) < 4 {
		return false
	}
	for _, sep := range []string{"\t", ",", "|", ";"} {
		n := strings.Count(lines[0], sep)
		if n < 2 {
			continue
		}
		if share(lines, func(l string) bool {
			return strings.Count(l, sep) >= n && strings.Count(l, sep) <= n+2 || strings.Trim(l, "|-+: ") == ""
		}) > 0.9 && !strings.Contains(lines[0], "(") {
			return true
		}
	}
	return aligned(lines)
}

// aligned reports whether columns begin at the same places in most lines, below a header in
// capitals.
func aligned(lines []string) bool {
	head := lines[0]
	if head != strings.ToUpper(head) || len(strings.Fields(head)) < 3 || strings.ContainsAny(head, "=[]{}#*") {
		return false
	}
	var starts []int
	for i := 1; i < len(head); i++ {
		if head[i] != ' ' && head[i-1] == ' ' && i > 1 && head[i-2] == ' ' {
			starts = append(starts, i)
		}
	}
	if len(starts) < 2 {
		return len(strings.Fields(head)) >= 3 && share(lines, func(l string) bool {
			n := len(strings.Fields(l)) - len(strings.Fields(head))
			return n >= 0 && n <= 8 && !strings.HasPrefix(l, " ")
		}) > 0.9 && strings.ContainsAny(head, "%")
	}
	return share(lines[1:], func(l string) bool {
		n := 0
		for _, at := range starts {
			if at >= len(l) || l[at-1] == ' ' {
				n++
			}
		}
		return n*4 >= len(starts)*3
	}) > 0.8
}

// isRun reports whether lines are what test runners and compilers print.
func isRun(lines []string) bool {
	for _, l := range lines[:min(len(lines), 12)] {
		for _, sign := range []string{"=== test session starts ===", "=== RUN   ", "--- FAIL: ", "TAP version 1", "collected ", "   Compiling ", "npm error ", "npm ERR! "} {
			if strings.Contains(l, sign) && !strings.ContainsAny(l, "\"`") {
				return true
			}
		}
		if n, ok := strings.CutPrefix(l, "running "); ok && strings.HasSuffix(n, " tests") {
			return true
		}
	}
	return share(lines, func(l string) bool {
		return strings.Contains(l, ": error: ") || strings.Contains(l, ": warning: ") || strings.Contains(l, "): error ") || strings.HasPrefix(l, "error[") || strings.Contains(l, "::") && (strings.HasSuffix(l, "FAILED") || strings.Contains(l, " PASSED "))
	}) > 0.08
}

// failures returns how many of lines speak of a failure.
func failures(lines []string) int {
	n := 0
	for _, l := range lines {
		if classify(l) >= classMessage {
			n++
		}
	}
	return n
}

// entry is what a line of a listing is.
type entry uint8

const (
	noEntry   entry = iota
	pathEntry       // a path
	longEntry       // of ls -l
	dirEntry        // "src/core:", below which the entries of a directory stand
	sumEntry        // "total 48"
)

// entryOf returns what a line of a listing is.
func entryOf(line string) entry {
	s := strings.TrimSpace(line)
	switch {
	case s == "" || len(s) > 400:
		return noEntry
	case strings.HasPrefix(s, "total ") && len(s) < 20 && len(strings.Fields(s)) == 2:
		return sumEntry
	case len(s) > 10 && strings.IndexByte("-dlbcps", s[0]) >= 0 && strings.Trim(s[1:10], "rwxsStT-") == "" && len(strings.Fields(s)) >= 5:
		return longEntry
	case strings.HasSuffix(s, ":") && strings.ContainsAny(s, "./") && !strings.Contains(s, " "):
		return dirEntry
	}
	s = strings.TrimLeft(s, "│├└─┬ |`+-")
	if fields := strings.Fields(s); len(fields) == 2 && len(fields[0]) < 8 && strings.ContainsAny(fields[1], "./") { // du, git status --short
		s = fields[1]
	}
	if s == "" || strings.ContainsAny(s, " \t(){}<>=;,\"'") || strings.Contains(s, "://") {
		return noEntry
	}
	return pathEntry
}
