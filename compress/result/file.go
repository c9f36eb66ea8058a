package result

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// file shows the first lines of a file, its outline (headings, definitions), and the lines
// between that say the most.
func (r *result) file() (string, bool) {
	s, ok := r.newSheet(r.text)
	if !ok {
		return "", false
	}
	var outline []int
	fence := false
	for i, line := range s.lines {
		if compress.FenceMark(strings.TrimSpace(line)) != "" {
			fence = !fence
		}
		if compress.InOutline(line, fence) {
			outline = append(outline, i)
		}
	}
	near := s.asked(outline)
	s.showAll(0, len(s.lines), fileHead)
	s.showAll(len(s.lines), max(0, len(s.lines)-3), 0.06)
	s.cover(outline, fileOutline, near)
	s.cover(s.all(), 1, near)
	s.rest()
	return s.write("")
}

// Shares of what may be shown of a file.
const (
	fileHead    = 0.12
	fileOutline = 0.25
	aroundAsked = 6 // lines before and behind one that the call named
)

// asked returns what lines are worth: those around a line whose number the call names the most,
// then those of the outline.
func (s *sheet) asked(outline []int) func(i int) float64 {
	weights := map[int]float64{}
	for _, i := range outline {
		weights[i] = 1.3
	}
	numbers := map[string]bool{}
	for word := range strings.FieldsFuncSeq(s.r.about.Args[:min(len(s.r.about.Args), 400)], func(c rune) bool { return c < '0' || c > '9' }) {
		if len(word) > 1 {
			numbers[word] = true
		}
	}
	for i, line := range s.lines {
		text := strings.TrimLeft(line, " \t")
		digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
		if digits == "" || len(digits) == len(text) || !numbers[digits] || !strings.ContainsAny(text[len(digits):len(digits)+1], ":\t |\u2192") {
			continue
		}
		for k := max(0, i-aroundAsked); k <= min(len(s.lines)-1, i+aroundAsked); k++ {
			weights[k] = 3
		}
		weights[i] = 5
	}
	return func(i int) float64 {
		if w, ok := weights[i]; ok {
			return w
		}
		return 1
	}
}
