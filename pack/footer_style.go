package pack

import (
	"fmt"
	"strings"
)

// style is how the goal is written. The zero style is the usual one. With structural_variation of the recipe each
// number of records has one of its own, so that a model does not fall into repeating what
// it always sees; what is said is the same in all of them.
type style struct {
	progress  int // 0: "3/5."; see text
	label     string
	separator string // a line between the parts, "" for none
	mark      func(i int) string
}

// What a style chooses from.
var (
	progressStyles = 4
	labels         = []string{"Progress", "Status", "Current state"}
	separators     = []string{"", "---\n", "===\n", "***\n", "\n"}
	listMarks      = []func(i int) string{
		func(int) string { return "- " }, func(int) string { return "* " }, func(int) string { return "  " }, func(i int) string { return fmt.Sprintf("%d. ", i+1) },
	}
)

// styleOf is the style of a pack of n records.
func styleOf(n int) style {
	x := uint64(n)
	pick := func(of int) int { // splitmix64
		x += 0x9e3779b97f4a7c15
		z := x
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return int((z ^ z>>31) % uint64(of))
	}
	return style{progress: pick(progressStyles), label: labels[pick(len(labels))], separator: separators[pick(len(separators))], mark: listMarks[pick(len(listMarks))]}
}

// text writes the goal:
//
//	Progress 3/5. Next: add RetryMax to config.go
//	Failed: go test ./auth: TestRefreshExpired (messages:41, twice)
//	Last request of the user, message 12:
//	> Make the token refresh retry.
func (g *goal) text(s style) string {
	var parts []string
	if g.all > 0 {
		line := ""
		switch {
		case s.label == "":
			line = fmt.Sprintf("Progress %d/%d.", g.done, g.all)
		case s.progress == 0:
			line = fmt.Sprintf("%s: %d/%d.", s.label, g.done, g.all)
		case s.progress == 1:
			line = fmt.Sprintf("%s: %d %% (%d of %d).", s.label, 100*g.done/g.all, g.done, g.all)
		case s.progress == 2:
			full := 10 * g.done / g.all
			line = fmt.Sprintf("%s: [%s%s] %d of %d.", s.label, strings.Repeat("#", full), strings.Repeat(".", 10-full), g.done, g.all)
		default:
			line = fmt.Sprintf("%s: %d of %d steps done.", s.label, g.done, g.all)
		}
		if g.next != "" {
			line += " Next: " + g.next
		}
		parts = append(parts, line+"\n")
	}
	if len(g.failed) > 0 {
		var b strings.Builder
		for i, f := range g.failed {
			if s.mark != nil {
				b.WriteString(s.mark(i))
			}
			b.WriteString("Failed: " + f + "\n")
		}
		parts = append(parts, b.String())
	}
	if len(g.changed) > 0 {
		var b strings.Builder
		b.WriteString("Changed since the list of files and runs above:\n")
		for i, f := range g.changed {
			if s.mark != nil {
				b.WriteString(s.mark(i))
			}
			b.WriteString(f + "\n")
		}
		parts = append(parts, b.String())
	}
	if line := g.stale + g.times; line != "" {
		parts = append(parts, line)
	}
	if g.request != "" {
		parts = append(parts, g.request)
	}
	return strings.Join(parts, s.separator)
}
