package bench

import (
	"fmt"
	"strings"
)

// grown is one line of the table of growth: a figure for each length of a history.
type grown struct {
	Work string    `json:"work"`
	Unit string    `json:"unit"`
	By   []float64 `json:"by"`
}

// growth returns the figures by length of the history, each line with the constant and the linear term that fit it best;
// "" where nothing of it was measured.
func (t *table) growth() string {
	if len(t.Growth) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| work |")
	for _, n := range t.Lengths {
		fmt.Fprintf(&b, " %s |", thousands(int(n)))
	}
	fmt.Fprintf(&b, " fit over n messages |\n| --- |%s --- |\n", strings.Repeat(" ---: |", len(t.Lengths)))
	for _, g := range t.Growth {
		fmt.Fprintf(&b, "| %s |", g.Work)
		for _, v := range g.By {
			fmt.Fprintf(&b, " %s |", format(g.Unit, v))
		}
		fmt.Fprintf(&b, " %s |\n", fitted(g.Unit, t.Lengths, g.By))
	}
	return b.String()
}

// fitted formats the line through the figures of some lengths.
func fitted(unit string, lengths, figures []float64) string {
	if len(figures) < 2 {
		return "–"
	}
	constant, slope := fit(lengths, figures)
	each := fmt.Sprintf("%s ns", digits(slope))
	if unit == "bytes" {
		each = fmt.Sprintf("%s B", digits(slope))
	}
	return fmt.Sprintf("%s + %s × n", format(unit, constant), each)
}

// thousands formats a number with a comma at each thousand.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
