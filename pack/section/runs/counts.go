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

// countsIn returns the figures of a line; ok is false unless the line contains nothing else.
func countsIn(line string) (c counts, ok bool) {
	number, free := 0, false // the last number, if no word has used it
	waiting := ""            // a word that may be followed by its number: "Failures: 1"
	for line != "" {
		n := 0
		switch {
		case isDigit(line[0]):
			for n < len(line) && (isDigit(line[n]) || line[n] == '.' && n+1 < len(line) && isDigit(line[n+1])) {
				n++
			}
			word := line[:n]
			line = line[n:]
			if strings.HasPrefix(line, "%") || strings.Contains(word, ".") {
				continue
			}
			number, _ = strconv.Atoi(word)
			if waiting != "" {
				c.add(waiting, number)
				waiting, ok = "", true
				continue
			}
			free = true
		case isLetter(line[0]):
			for n < len(line) && isLetter(line[n]) {
				n++
			}
			word := strings.ToLower(line[:n])
			line = line[n:]
			switch {
			case free && (passWords[word] || failWords[word]):
				c.add(word, number)
				free, ok = false, true
			case free && countedWords[word]:
				c.total = max(c.total, number)
			case passWords[word] || failWords[word] || totalWords[word]:
				waiting = ""
				if rest := strings.TrimLeft(line, " "); strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "=") || strings.HasPrefix(line, " ") && rest != "" && isDigit(rest[0]) {
					waiting = word
				}
			case !countedWords[word] && !otherWords[word]:
				return counts{}, false
			default:
				free = false
			}
		case line[0] >= 0x80 || strings.IndexByte(" \t=-:;,.()[]|/#!*", line[0]) >= 0:
			if line[0] == ',' || line[0] == ';' {
				free, waiting = false, ""
			}
			line = line[1:]
		default:
			return counts{}, false
		}
	}
	return c, ok || c.total > 0
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
