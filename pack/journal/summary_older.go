package journal

import (
	"fmt"
	"slices"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Each new version of a summary must repeat all valid statements. Writers drop reasons of decisions
// and failed attempts first, because the next step does not need them. Prompts quote such
// lines from earlier versions below the version in use.

const (
	olderShare     = 600 // share of the conclusions' tokens that the lines take at most, in thousandths
	olderFromLines = 700 // share of the key lines' tokens that they may take in addition
	olderLine      = 100 // tokens of the longest quoted line
	olderRepeats   = 600 // thousandths of a line's words in the newer summary from which on it is a repetition
	olderRevised   = 450 // the same in one line of the newer summary: that line revises it
	leastWords     = 4   // different words of a quoted line
	maxOlder       = 8   // earlier versions that are searched
	maxLines       = 200 // lines of a version, for each group of sections, and twice as many of the version in use
)

// olderSections lists the quoted sections of earlier versions, in order of priority.
var olderSections = [][]string{{"decisions", "tried"}, {"facts"}}

// earlierThan returns the versions of list delivered before s, newest first, without versions from
// before a retraction.
func earlierThan(list []Summary, s *Summary) (earlier []*Summary) {
	for i := range list {
		switch v := &list[i]; {
		case v.N == 0 && v.After <= s.After:
			earlier = nil
		case v.N > 0 && v.N < s.N:
			earlier = append([]*Summary{v}, earlier...)
		}
	}
	return earlier[:min(len(earlier), maxOlder)]
}

// older returns lines of earlier versions that the version in use neither repeats nor revises, in
// at most room tokens: first reasons of decisions and failed attempts, then facts, of each the
// newest ones first. It returns "" if there is no such line.
func (b *zoner) older(room int) string {
	if len(b.own.earlier) == 0 || room < leastWords {
		return ""
	}
	known := linesKnown(b.own.Text)
	text := ""
	for _, sections := range olderSections {
		for _, v := range b.own.earlier {
			heading := fmt.Sprintf("From version %d (%s), omitted since, possibly outdated:\n", v.N,
				ctxabi.SummaryPath(v.N))
			for _, line := range linesOf(v.Text, sections) {
				if known.has(line) || record.NeedsFence(line) {
					continue
				}
				line = ctxabi.Escape(line) + "\n"
				n := b.c.CountCached(heading + line)
				if b.c.CountCached(line) > olderLine || n > room {
					continue
				}
				text, heading, room = text+heading+line, "", room-n
				known.add(line)
			}
		}
	}
	return text
}

// linesOf returns the first lines of some sections of a summary, without indentation, headings, and
// fenced code.
func linesOf(text string, sections []string) (lines []string) {
	section, fenced := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		isFence := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
		if fenced = fenced != isFence; fenced || isFence {
			continue
		}
		if name, ok := sectionOf(line); ok {
			section = name
		} else if line != "" && slices.Contains(sections, section) && len(lines) < maxLines {
			lines = append(lines, line)
		}
	}
	return lines
}

// knownLines holds the set of words of a text, and one set for each of its first lines.
type knownLines struct {
	words map[string]bool
	lines []map[string]bool
}

func linesKnown(text string) *knownLines {
	k := &knownLines{words: map[string]bool{}}
	for line := range strings.Lines(text) {
		k.add(line)
	}
	return k
}

func (k *knownLines) add(line string) {
	words := derived.Words(line)
	for w := range words {
		k.words[w] = true
	}
	if len(k.lines) < 2*maxLines {
		k.lines = append(k.lines, words)
	}
}

// has reports whether the text contains the words of a line, whether one of its lines revises that
// line, or whether the line has too few words to be quoted alone.
func (k *knownLines) has(line string) bool {
	words := derived.Words(line)
	if len(words) < leastWords || shared(words, k.words)*1000 >= len(words)*olderRepeats {
		return true
	}
	for _, other := range k.lines {
		if shared(words, other)*1000 >= len(words)*olderRevised {
			return true
		}
	}
	return false
}

// shared returns how many words two sets have in common.
func shared(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}
