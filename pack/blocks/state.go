package blocks

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/pack/record"
)

// PlanText returns the plan's goal, how far it is and what comes next; "" when it says none of these:
//
//	Goal: make the token refresh retry
//	Progress 1/3. Current: Retry (step 2/4). Next: Make it pass
//
// Tasks that nobody will do do not count. Without a current task the first unfinished one is next.
func PlanText(plan *ctxabi.Plan) string {
	if plan == nil {
		return ""
	}
	var b strings.Builder
	goal := plan.Goal
	if goal == "" {
		goal = plan.Issue.Title
	}
	if goal = record.OneLine(goal); goal != "" {
		b.WriteString("Goal: " + goal + "\n")
	}
	done, all := 0, 0
	var first *ctxabi.PlanTask // that is not finished
	for i := range plan.Tasks {
		t := &plan.Tasks[i]
		if t.Dropped() {
			continue
		}
		all++
		if t.Finished() {
			done++
		} else if first == nil {
			first = t
		}
	}
	if all == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "Progress %d/%d.", done, all)
	current := plan.Current()
	if current == nil || current.Finished() || current.Dropped() {
		if first != nil {
			b.WriteString(" Next: " + TaskName(first))
		}
		b.WriteByte('\n')
		return b.String()
	}
	b.WriteString(" Current: " + TaskName(current))
	for i, s := range current.Steps {
		if !s.Done {
			fmt.Fprintf(&b, " (step %d/%d).", i+1, len(current.Steps))
			if text := record.OneLine(s.Description); text != "" {
				b.WriteString(" Next: " + text)
			}
			break
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// TaskName is what a line calls a task.
func TaskName(t *ctxabi.PlanTask) string {
	if name := record.OneLine(t.Title); name != "" {
		return name
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n"); strings.TrimSpace(first) != "" {
		return record.OneLine(first)
	}
	return record.OneLine(t.ID)
}

// ErrorsText lists failures by their addresses, newest last. Those that say the
// same but for times and addresses of memory are one line, at the place of the last:
//
//	events:7: go test: exit status 1
//	events:12: connect: timed out after 31s (3 times since events:4)
//
// The oldest are left out where not all fit.
func ErrorsText(events []ErrorEvent, fits func(string) bool) string {
	type group struct{ first, last, count int }
	at := map[string]int{}
	var groups []group // by their last
	for i, e := range events {
		g := group{first: i, last: i, count: 1}
		key := volatile().ReplaceAllString(record.OneLine(e.Text), "#")
		if k, again := at[key]; again {
			g.first, g.count = groups[k].first, groups[k].count+1
			groups[k].count = 0 // moved on
		}
		at[key] = len(groups)
		groups = append(groups, g)
	}
	var lines []string
	for _, g := range groups {
		if g.count == 0 {
			continue
		}
		line := fmt.Sprintf("events:%d: %s", events[g.last].Line, record.OneLine(events[g.last].Text))
		if g.count > 1 {
			line += fmt.Sprintf(" (%d times since events:%d)", g.count, events[g.first].Line)
		}
		lines = append(lines, line+"\n")
	}
	text := func(n int) string { // the last n
		s := strings.Join(lines[len(lines)-n:], "")
		if n < len(lines) {
			s = fmt.Sprintf("[%d older ones left out, all of them in %s]\n", len(lines)-n, ctxabi.EventsFile) + s
		}
		return s
	}
	if len(lines) == 0 || fits == nil || fits(text(len(lines))) {
		return strings.Join(lines, "")
	}
	if n := mostThat(len(lines)-1, func(n int) bool { return fits(text(n)) }); n > 0 {
		return text(n)
	}
	return ""
}

// volatile is what differs between two failures that are the same: durations, times and addresses.
var volatile = lazy.Regexp(`\b\d+(\.\d+)?(ns|µs|us|ms|s|m|h)\b|\b0x[0-9a-fA-F]+\b|\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?\b|\b\d\d:\d\d:\d\d(\.\d+)?\b`)
