package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
)

// Numbers of excerpts.
const (
	passageBytes = 240
	maxExcerpt   = 8 << 20 // bytes of a record that passages are looked for in, from its beginning
)

// passage is a part of a record that may be shown: whole lines, or a piece of a long one.
type passage struct {
	from, to int
	score    float64
}

// excerpt chooses passages of a text that hold the query's terms, best first while fits says that they have room, and gives
// them in their order, verbatim, … where something is left out. weight says what a term is worth.
func excerpt(text string, q *Query, weight map[uint64]float64, fits func(string) bool) string {
	text = strings.TrimRight(text, "\n")
	if len(text) <= 16*passageBytes && fits(text) {
		return text
	}
	for _, size := range []int{passageBytes, passageBytes / 3, 1} {
		if shown := choose(text, size, q, weight, fits); shown != "" {
			return shown
		}
	}
	return clipped(text, q, weight, fits)
}

// choose is excerpt with passages of about a size; "" where not one has room.
func choose(text string, size int, q *Query, weight map[uint64]float64, fits func(string) bool) string {
	passages := rankPassages(text[:min(len(text), maxExcerpt)], size, q, weight)
	order := make([]int, len(passages))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch sa, sb := passages[a].score, passages[b].score; {
		case sa > sb:
			return -1
		case sa < sb:
			return 1
		}
		return 0
	})
	var chosen []passage
	shown := ""
	for n, i := range order {
		if passages[i].score == 0 && n > 0 || n >= 64 {
			break
		}
		with := append(slices.Clone(chosen), passages[i])
		slices.SortFunc(with, func(a, b passage) int { return a.from - b.from })
		if s := show(text, with); fits(s) {
			chosen, shown = with, s
		} else if n > 8 {
			break
		}
	}
	return shown
}

// clipped is a part of the best line, from the first word on that the query asks for.
func clipped(text string, q *Query, weight map[uint64]float64, fits func(string) bool) string {
	var best passage
	for _, p := range rankPassages(text[:min(len(text), maxExcerpt)], 1, q, weight) {
		if p.score > best.score || best.to == 0 {
			best = p
		}
	}
	part := text[best.from:best.to]
	at := 0
	eachWord(part, func(from, to int) bool {
		compress.Terms(part[from:to], func(t uint64) {
			if weight[t] > 0 {
				at = max(at, from+1)
			}
		})
		return at == 0
	})
	before := ""
	if at > 1 {
		part, before = part[at-1:], "…"
	}
	for len(part) > 8 && !fits(before+part+"…") {
		part = strings.ToValidUTF8(part[:len(part)*3/4], "")
	}
	return before + part + "…"
}

// eachWord calls yield with the runs of letters and digits of a text until it returns false.
func eachWord(text string, yield func(from, to int) bool) {
	for at := 0; at < len(text); {
		from := strings.IndexFunc(text[at:], inWord)
		if from < 0 {
			return
		}
		from += at
		to := len(text)
		if n := strings.IndexFunc(text[from:], func(c rune) bool { return !inWord(c) }); n >= 0 {
			to = from + n
		}
		if !yield(from, to) {
			return
		}
		at = to
	}
}

func inWord(c rune) bool { return unicode.In(c, unicode.L, unicode.M, unicode.N) }

// rankPassages splits a text into passages of about a size and gives each passage what its terms are worth, a phrase that it holds twice that.
func rankPassages(text string, size int, q *Query, weight map[uint64]float64) (out []passage) {
	seen := map[uint64]bool{}
	for _, p := range compress.Passages(text, size) {
		part := text[p.From:p.To]
		clear(seen)
		score := 0.0
		count := func(t uint64) {
			if w := weight[t]; w > 0 && !seen[t] {
				seen[t] = true
				score += w
			}
		}
		compress.Terms(part, count)
		for _, x := range slices.Concat(q.phrases, q.names) {
			if strings.Contains(part, x.text) {
				for _, t := range x.words {
					score += weight[t]
				}
			}
		}
		from := p.From
		for from > 0 && (text[from-1] == ' ' || text[from-1] == '\t') {
			from--
		}
		if from > 0 && text[from-1] != '\n' {
			from = p.From // a piece of a line
		}
		out = append(out, passage{from, p.To, score})
	}
	if len(out) == 0 && text != "" {
		out = append(out, passage{0, min(len(text), passageBytes), 0}) // data and no text
		for out[0].to < len(text) && out[0].to > 0 && text[out[0].to]&0xC0 == 0x80 {
			out[0].to--
		}
	}
	return out
}

// show writes passages, which stand in order, and what is between neighbours.
func show(text string, passages []passage) string {
	var b strings.Builder
	end := 0
	for i, p := range passages {
		between := text[end:p.from]
		switch {
		case strings.TrimSpace(between) == "":
			b.WriteString(between)
		case i == 0 && end == 0:
			b.WriteString("…\n")
		default:
			b.WriteString("\n…\n")
		}
		b.WriteString(text[p.from:p.to])
		end = p.to
	}
	if strings.TrimSpace(text[end:]) != "" {
		b.WriteString("\n…")
	}
	return strings.Trim(b.String(), "\n")
}
