package runs

import (
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// counts are the figures of one summary line: "2 failed, 9 passed in 0.3s".
type counts struct {
	passed, failed int
	total          int // tests that ran, where the line does not say how many passed
}

// Words of summary lines.
var (
	passWords    = compress.WordSet("passed passing pass passes")
	failWords    = compress.WordSet("failed failing fail failure failures error errors")
	totalWords   = compress.WordSet("run ran examples")
	countedWords = compress.WordSet("test tests example examples suites")
	otherWords   = compress.WordSet(`total skipped pending ignored todo deselected selected xfailed xpassed warning warnings assertions measured filtered out
		finished in of and all time elapsed duration ok result results s ms min files file suites snapshots problem problems found generated inconclusive
		notrun not snapshot obsolete info done rerun reruns checked source were there inclusive the with completed x`)
)

// counter reads one line.
type counter struct {
	counts
	number  int
	free    bool   // no word has used the number
	waiting string // a word that may be followed by its number: "Failures: 1"
	ok      bool
}

// countsIn returns the figures of a line; ok is false unless the line contains nothing else.
func countsIn(line string) (c counts, ok bool) {
	var r counter
	for line != "" {
		n := 1
		switch {
		case isDigit(line[0]):
			for n < len(line) && (isDigit(line[n]) || line[n] == '.' && n+1 < len(line) && isDigit(line[n+1])) {
				n++
			}
			if !strings.HasPrefix(line[n:], "%") && !strings.Contains(line[:n], ".") {
				r.takeNumber(line[:n])
			}
		case isLetter(line[0]):
			for n < len(line) && isLetter(line[n]) {
				n++
			}
			if !r.takeWord(strings.ToLower(line[:n]), line[n:]) {
				return counts{}, false
			}
		case line[0] == ',' || line[0] == ';':
			r.free, r.waiting = false, ""
		case line[0] < 0x80 && strings.IndexByte(" \t=-:.()[]|/#!*", line[0]) < 0:
			return counts{}, false
		}
		line = line[n:]
	}
	return r.counts, r.ok || r.total > 0
}

func (r *counter) takeNumber(digits string) {
	r.number, _ = strconv.Atoi(digits)
	if r.free = r.waiting == ""; !r.free {
		r.add(r.waiting, r.number)
		r.waiting, r.ok = "", true
	}
}

// takeWord reports false for a word that no summary has; rest follows it.
func (r *counter) takeWord(word, rest string) bool {
	outcome := passWords[word] || failWords[word]
	switch {
	case r.free && outcome:
		r.add(word, r.number)
		r.free, r.ok = false, true
	case r.free && countedWords[word]:
		r.total = max(r.total, r.number)
	case outcome || totalWords[word]:
		r.waiting = ""
		next := strings.TrimLeft(rest, " ")
		if strings.HasPrefix(next, ":") || strings.HasPrefix(next, "=") || next != rest && next != "" && isDigit(next[0]) {
			r.waiting = word
		}
	case !countedWords[word] && !otherWords[word]:
		return false
	default:
		r.free = false
	}
	return true
}

func (c *counts) add(word string, n int) {
	switch {
	case passWords[word]:
		c.passed += n
	case failWords[word]:
		c.failed += n
	default:
		c.total += n
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
