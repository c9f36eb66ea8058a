package compress

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Numbers of [Fold].
const (
	foldScanned = 400 // lines that are looked at, at each end of a text
	FoldClip    = 160 // bytes of one line
	FoldJoin    = " | "
)

// foldPart is a line that may stand in a fold.
type foldPart struct {
	at    int
	text  string
	words []string // identifiers
	tells int      // result of Tells
}

// Fold returns one line, of at most about limit tokens (by ctxabi.Weight), for a tool's output:
// the lines that say how it ended (errors, failures, counts), its first line and those with the
// most identifiers that no other one has, in the order of the text. A short text stands there
// whole. A line that does not fit alone is cut at a word. Fold returns "" only for a text without
// characters that a line can show.
func Fold(text string, limit int) string {
	parts := foldParts(text)
	seen := map[string]bool{}
	var taken []foldPart
	for limit > 2 && len(parts) > 0 {
		best, bestScore, bestCost := -1, 0.0, 0
		for i, p := range parts {
			cost := ctxabi.Weight(p.text) + 1
			if cost > limit && len(taken) > 0 {
				continue
			}
			cost = min(cost, limit)
			score := float64(p.tells)
			for _, w := range p.words {
				if !seen[w] {
					score++
				}
			}
			if score /= float64(cost + 4); score > bestScore {
				best, bestScore, bestCost = i, score, cost
			}
		}
		if best < 0 {
			break
		}
		p := parts[best]
		p.text = ClipWords(p.text, bestCost)
		parts = slices.Delete(parts, best, best+1)
		taken = append(taken, p)
		limit -= bestCost
		for _, w := range p.words {
			seen[w] = true
		}
	}
	if len(taken) == 0 { // nothing but data, or no room
		return ClipWords(Clip(strings.TrimSpace(text), FoldClip), max(1, limit))
	}

	slices.SortFunc(taken, func(a, b foldPart) int { return a.at - b.at })
	var b strings.Builder
	for i, p := range taken {
		if i > 0 {
			b.WriteString(FoldJoin)
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// foldParts returns the lines at both ends of a text, each once.
func foldParts(text string) []foldPart {
	var all []foldPart
	known := map[string]bool{}
	EachLine(text, func(n int, line string) {
		line = Clip(line, FoldClip)
		if known[line] || len(all) >= 2*foldScanned && n > 4*foldScanned {
			return
		}
		known[line] = true
		p := foldPart{at: n, text: line, tells: 1}
		if len(all) == 0 {
			p.tells = 3
		}
		EachWord(line, func(w string, kind WordKind) {
			if kind == IdentifierWord {
				p.words = append(p.words, w)
			} else if v := verdicts[strings.ToLower(w)]; v > p.tells {
				p.tells = v
			}
		})
		all = append(all, p)
	})
	if len(all) > 2*foldScanned {
		all = slices.Concat(all[:foldScanned], all[len(all)-foldScanned:])
	}
	return all
}

// verdicts are words for how something went, and what a line with one is worth in identifiers.
var verdicts = map[string]int{
	"error": 9, "errors": 9, "failed": 10, "failure": 9, "failures": 9, "fail": 9, "exception": 9, "traceback": 6, "panic": 9, "fatal": 9, "denied": 8, "refused": 8,
	"cannot": 7, "undefined": 7, "timeout": 7, "invalid": 7, "missing": 6, "conflict": 7, "warning": 4, "passed": 9, "success": 6, "successfully": 6, "exit": 5, "found": 3,
}

// Tells rates the words of a line about success or failure: 0 for none, up to 10 for a failure.
func Tells(line string) (tells int) {
	EachWord(line, func(w string, _ WordKind) { tells = max(tells, verdicts[strings.ToLower(w)]) })
	return tells
}

// TellsFailure reports whether a line has a word for a failure.
func TellsFailure(line string) (failure bool) {
	EachWord(line, func(w string, _ WordKind) {
		failure = failure || verdicts[strings.ToLower(w)] >= 6 && !strings.HasPrefix(strings.ToLower(w), "success") && w != "passed"
	})
	return failure
}

// Clip returns a line of at most n bytes as it is, and of a longer one the first n bytes at
// most, cut at a blank where there is one in their second half, with … behind them.
func Clip(line string, n int) string {
	if len(line) <= n {
		return line
	}
	end := n
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	if i := strings.LastIndexByte(line[:end], ' '); i > n/2 {
		end = i
	}
	return line[:end] + "…"
}

// ClipWords returns a line that weighs at most limit tokens (by ctxabi.Weight) as it is, and of a
// heavier one the beginning, cut at a blank where its second half has one, with … behind it.
func ClipWords(line string, limit int) string {
	if Fits(line, limit) {
		return line
	}
	end := cutPoint(line, max(1, limit-1), false)
	if at := strings.LastIndexByte(line[:end], ' '); at > end/2 {
		end = at
	}
	return line[:end] + "…"
}

// ClipTokens returns text in one line. If that exceeds limit tokens (by ctxabi.Weight), cut is
// true and line is its beginning and its end with … between them, within about limit.
func ClipTokens(text string, limit int) (line string, cut bool) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\v' || r == '\f' || r == '\u0085'
	}), " ")
	text = strings.TrimSpace(text)
	if Fits(text, limit) {
		return text, false
	}
	head := beforeWord(text, headOf(text, max(1, limit*2/3)))
	tail := FromWord(text, len(text)-tailOf(text[head:], max(1, limit-limit*2/3)))
	return strings.TrimRight(text[:head], " ") + " … " + strings.TrimLeft(tail, " "), true
}

// Conclusion returns one line of at most limit tokens (by ctxabi.Weight) for the report of another
// agent: its last paragraph, or the last of its sentences that fit.
func Conclusion(text string, limit int) string {
	return lastSentences(strings.Join(strings.Fields(lastParagraph(text)), " "), limit)
}

// ConclusionLines returns the lines with which the report of another agent ends, verbatim: as many
// of its last paragraph, from the end, as fit in limit tokens (by ctxabi.Weight). Of a single line
// that is too long it returns the last sentences, or the end after "…".
func ConclusionLines(text string, limit int) (lines []string) {
	for line := range strings.SplitSeq(lastParagraph(text), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for len(lines) > 1 && !Fits(strings.Join(lines, "\n"), limit) {
		lines = lines[1:]
	}
	if len(lines) == 1 {
		lines[0] = lastSentences(lines[0], limit)
	}
	return lines
}

// lastSentences returns a line that fits in limit tokens, and of a longer one the last sentences or
// the end after "…".
func lastSentences(line string, limit int) string {
	for rest := line; rest != ""; _, rest, _ = uniseg.FirstSentenceInString(rest, -1) {
		if Fits(rest, limit) {
			return rest
		}
	}
	if line == "" {
		return ""
	}
	return "… " + FromWord(line, len(line)-tailOf(line, limit))
}

// lastParagraph returns the last paragraph of a text, as far as it is in the last passage.
func lastParagraph(text string) (last string) {
	for _, p := range Passages(text, longParagraph) {
		last = text[p.From:p.To]
	}
	return last[strings.LastIndex(last, "\n\n")+1:]
}
