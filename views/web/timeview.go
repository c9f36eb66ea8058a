package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/figures"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

// Steps of the picture of calls: of a short history all calls are looked at, of a long one few at first.
var callSteps = []int{8, 48}

const (
	fewRecords = 1500 // up to here all calls are looked at
	maxRows    = 3000 // lines of a comparison
	chartW     = 1000.0
	chartH     = 260.0
)

// callsView is the tokens of each call over time.
type callsView struct {
	Ref                  string
	Stats                *inspect.Stats
	Read                 bool   // a program has read a pack of the session
	Kept, Written, Fresh string // outlines of the areas
	Marks                []mark
	Peak                 int
	Axis                 []tickOf
	Refine               int // calls to look at next; 0: that was all
	W, H                 float64
	Written_, Fresh_     float64 // shares
}

// mark is a compaction, or another beginning of an epoch.
type mark struct {
	X, Y       float64
	Said       string
	Before, At int
	From, To   int // tokens
	Compaction bool
	N          int
}

type tickOf struct {
	Y    float64
	Said string
}

// calls shows what a provider with a prompt cache reads, writes and sees afresh at each call.
func (s *Server) calls(ctx context.Context, dir string, r *http.Request) (string, any, error) {
	step, _ := strconv.Atoi(r.URL.Query().Get("step"))
	v := callsView{Ref: r.PathValue("ref"), W: chartW, H: chartH, Read: overview.Read(dir)}
	err := s.looks.replayed(ctx, dir, func(ctx context.Context, l *Look) (err error) {
		n := 0
		if l.Len() > fewRecords {
			step = max(0, min(step, len(callSteps)-1))
			n = callSteps[step]
			if step+1 < len(callSteps) {
				v.Refine = step + 1
			}
		}
		v.Stats, err = l.Stats(ctx, inspect.StatsOptions{Points: 1, Calls: n})
		return err
	})
	if err != nil {
		return "", nil, err
	}
	if !v.Stats.Cache.Sampled {
		v.Refine = 0
	}
	v.draw()
	return "calls", v, nil
}

// draw makes the outlines of what Stats has.
func (v *callsView) draw() {
	calls := v.Stats.Calls
	for _, c := range calls {
		v.Peak = max(v.Peak, c.Tokens)
	}
	if v.Stats.Cache.Tokens > 0 {
		v.Written_ = float64(v.Stats.Cache.Written) / float64(v.Stats.Cache.Tokens)
		v.Fresh_ = float64(v.Stats.Cache.Fresh) / float64(v.Stats.Cache.Tokens)
	}
	if len(calls) == 0 {
		return
	}
	x := func(n int) float64 {
		if len(calls) == 1 {
			return chartW / 2
		}
		first, last := calls[0].Messages, calls[len(calls)-1].Messages
		return float64(n-first) / float64(max(1, last-first)) * chartW
	}
	y := func(tokens int) float64 { return chartH - float64(tokens)/float64(max(1, v.Peak))*(chartH-8) }
	area := func(low, high func(inspect.Call) int) string {
		var b strings.Builder
		for i, c := range calls {
			fmt.Fprintf(&b, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[i == 0], x(c.Messages), y(high(c)))
		}
		for i := len(calls) - 1; i >= 0; i-- {
			fmt.Fprintf(&b, "L%.1f %.1f", x(calls[i].Messages), y(low(calls[i])))
		}
		return b.String() + "Z"
	}
	v.Kept = area(func(inspect.Call) int { return 0 }, func(c inspect.Call) int { return c.Cached })
	v.Written = area(func(c inspect.Call) int { return c.Cached }, func(c inspect.Call) int { return c.Cached + c.Written })
	v.Fresh = area(func(c inspect.Call) int { return c.Cached + c.Written }, func(c inspect.Call) int { return c.Tokens })
	if !v.Stats.Predicts() {
		v.Written = area(func(inspect.Call) int { return 0 }, func(c inspect.Call) int { return c.Tokens })
	}
	for i, e := range v.Stats.Compactions {
		m := mark{X: x(e.Messages), Y: 0, At: e.Messages, From: e.Before, To: e.Tokens, Compaction: strings.Contains(e.Reason, "compaction"), N: i + 1}
		m.Before = max(0, e.Messages-1)
		for _, c := range calls {
			if c.Messages < e.Messages {
				m.Before = c.Messages
			}
		}
		m.Said = fmt.Sprintf("%s: %s to %s tokens", e.Reason, figures.Thousands(e.Before), figures.Thousands(e.Tokens))
		v.Marks = append(v.Marks, m)
	}
	step := niceStep(v.Peak)
	for n := step; n <= v.Peak; n += step {
		v.Axis = append(v.Axis, tickOf{y(n), overview.Short(n) + " tokens"})
	}
}

// niceStep returns a round number, about a third of most.
func niceStep(most int) int {
	step := 1
	for {
		for _, k := range []int{1, 2, 5} {
			if k*step*4 >= most {
				return k * step
			}
		}
		step *= 10
	}
}

// moment shows the pack of the first n messages.
func (s *Server) moment(ctx context.Context, dir string, r *http.Request) (string, any, error) {
	n, err := strconv.Atoi(r.URL.Query().Get("n"))
	if err != nil {
		return "", nil, ctxabi.E("read", "", ctxabi.ErrMalformed, "%.40q is not a number of messages", r.URL.Query().Get("n"))
	}
	v := packPart{Ref: r.PathValue("ref"), Format: "md", Preview: true}
	err = s.looks.previewed(ctx, dir, 0, func(ctx context.Context, l *Look) error {
		p, err := l.At(ctx, n)
		if err == nil {
			v.fill(p)
		}
		return err
	})
	return "moment", v, err
}

// line is a line of two packs side by side.
type line struct {
	Left, Right           string
	LeftClass, RightClass string
	Gap                   bool // lines that both have are left out here
}

// diffView is what changed from one pack to another.
type diffView struct {
	*inspect.Diff
	A, B  int
	Lines []line
	Cut   bool
}

// diff compares the packs of two moments.
func (s *Server) diff(ctx context.Context, dir string, r *http.Request) (string, any, error) {
	a, errA := strconv.Atoi(r.URL.Query().Get("a"))
	b, errB := strconv.Atoi(r.URL.Query().Get("b"))
	if errA != nil || errB != nil {
		return "", nil, ctxabi.E("read", "", ctxabi.ErrMalformed, "a comparison has two numbers of messages")
	}
	v := diffView{A: a, B: b}
	err := s.looks.previewed(ctx, dir, 0, func(ctx context.Context, l *Look) error {
		from, err := l.At(ctx, a)
		if err != nil {
			return err
		}
		to, err := l.At(ctx, b)
		if err != nil {
			return err
		}
		v.Diff = inspect.Compare(from, to, fmt.Sprint(a), fmt.Sprint(b), true)
		v.Lines, v.Cut = sideBySide(string(inspect.Text(from, to, "a", "b")))
		return nil
	})
	return "diff", v, err
}

// sideBySide turns a unified diff into pairs of lines; cut is true if there are more than a page shows.
func sideBySide(text string) (lines []line, cut bool) {
	var gone, come []string
	flush := func() {
		for i := range max(len(gone), len(come)) {
			var l line
			if i < len(gone) {
				l.Left, l.LeftClass = gone[i], "gone"
			}
			if i < len(come) {
				l.Right, l.RightClass = come[i], "come"
			}
			lines = append(lines, l)
		}
		gone, come = nil, nil
	}
	started := false
	for row := range strings.Lines(text) {
		row = overview.Visible(strings.TrimSuffix(row, "\n"))
		switch {
		case strings.HasPrefix(row, "@@"):
			flush()
			lines = append(lines, line{Gap: true})
			started = true
		case !started:
		case strings.HasPrefix(row, "-"):
			gone = append(gone, row[1:])
		case strings.HasPrefix(row, "+"):
			come = append(come, row[1:])
		case strings.HasPrefix(row, " "):
			flush()
			lines = append(lines, line{Left: row[1:], Right: row[1:]})
		}
		if len(lines)+len(gone)+len(come) > maxRows {
			cut = true
			break
		}
	}
	flush()
	return lines, cut
}
