package search

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Source is what the hit's record is called: "messages:12".
func (h *Hit) Source() string { return short(h.Event) + ":" + strconv.Itoa(h.Line) }

// Path is where it can be read whole, relative to the session.
func (h *Hit) Path() string {
	name := strconv.Itoa(h.Line) + ".txt"
	if h.Event {
		name = "e" + name
	}
	return path.Join(ctxabi.LineDir, name)
}

// Render writes the answer within the query's tokens: headings with the records' addresses, and the best of what each says.
func (e *Engine) Render(r *Result) []byte {
	if r.Query.JSON {
		return e.renderJSON(r)
	}
	title := r.title(len(r.Hits))
	room := r.Query.Tokens - e.c.Count(title)
	var parts []string
	used := 0
	for i := range r.Hits {
		part := e.renderHit(r, i, room-used)
		if part == "" {
			break
		}
		parts = append(parts, part)
		used += e.c.Count(part)
	}
	for {
		out := r.title(len(parts)) + strings.Join(parts, "")
		if len(parts) == 0 || e.c.Count(out) <= r.Query.Tokens {
			return []byte(out)
		}
		parts = parts[:len(parts)-1]
	}
}

// leastRoom is how many tokens an excerpt must have to be worth its heading.
const leastRoom = 8

// renderHit writes hit i into its share of so many tokens; "" when it has no room.
func (e *Engine) renderHit(r *Result, i, room int) string {
	h := &r.Hits[i]
	where := h.Path()
	if r.Many {
		where = path.Join(h.Ref.Path(), where)
	}
	head := "\n## " + h.Source() + " " + h.Who + " · " + where + also(h) + "\n"
	text := e.excerptOf(r, i, room-e.c.Count(head)-1)
	if text == "" && h.doc.said != "" {
		return ""
	}
	return head + text + "\n"
}

// excerptOf is what is shown of hit i where so many tokens are left for it and those behind it.
func (e *Engine) excerptOf(r *Result, i, room int) string {
	share := max(room/(len(r.Hits)-i), min(room, 4*leastRoom))
	if share < leastRoom {
		return ""
	}
	h := &r.Hits[i]
	if h.doc.said == "" {
		return ""
	}
	return excerpt(h.doc.said, &r.Query, r.weight, func(s string) bool {
		return len(s) <= 16*share && e.c.Count(s) <= share
	})
}

// also names the records of a log that say the same.
func also(h *Hit) string {
	if len(h.Also) == 0 {
		return ""
	}
	var lines []string
	for _, line := range h.Also[:min(len(h.Also), maxAlso)] {
		lines = append(lines, strconv.Itoa(line))
	}
	more := ""
	if n := len(h.Also) - maxAlso; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return " · also " + short(h.Event) + ":" + strings.Join(lines, ", ") + more
}

// title is what stands in front of the hits: how many of them there are, and what was looked at.
func (r *Result) title(shown int) string {
	var b strings.Builder
	if behind := r.behind(); behind != "" {
		b.WriteString("# incomplete: " + behind + "\n")
	}
	query := "\"" + compress.Clip(oneLine(r.Query.Text), 120) + "\""
	switch {
	case len(r.Hits) == 0:
		fmt.Fprintf(&b, "# nothing found for %s (%s): %s\n", query, r.lookedAt(), r.Why)
	case r.AtLeast:
		fmt.Fprintf(&b, "# %d of at least %d records for %s (%s)\n", shown, r.Count, query, r.lookedAt())
	default:
		fmt.Fprintf(&b, "# %d of %d records for %s (%s)\n", shown, r.Count, query, r.lookedAt())
	}
	return b.String()
}

// lookedAt returns what was searched.
func (r *Result) lookedAt() string {
	if !r.Many && len(r.Sessions) == 1 {
		s := r.Sessions[0]
		return span(false, s.Messages) + ", " + span(true, s.Events)
	}
	n := 0
	for _, s := range r.Sessions {
		n += s.Messages + s.Events
	}
	return plural(len(r.Sessions), "session") + ", " + plural(n, "record")
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

func span(event bool, n int) string {
	if n == 0 {
		return "no " + short(event)
	}
	return short(event) + ":" + ctxabi.Span{From: 1, To: n}.String()
}

// behind returns what is not indexed yet; "" when all is.
func (r *Result) behind() string {
	late, failed, why := r.Unread, 0, ""
	for _, s := range r.Sessions {
		if s.Behind() {
			late++
			if s.Failed != "" {
				failed, why = failed+1, s.Failed
			}
		}
	}
	is, later := "is still being made", "; ask again in a moment"
	if failed > 0 && failed == late {
		is, later = "cannot be made ("+why+")", ""
	}
	switch {
	case late == 0:
		return ""
	case r.Many:
		return fmt.Sprintf("the index of %d of %d sessions %s%s", late, len(r.Sessions)+r.Unread, is, later)
	}
	s := r.Sessions[0]
	return fmt.Sprintf("the index %s: %s of %d, %s of %d and the newest were searched%s",
		is, span(false, s.Indexed[0]), s.Messages, span(true, s.Indexed[1]), s.Events, later)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// answerJSON is the answer as JSON. Its keys stand in this order.
type answerJSON struct {
	Query      string    `json:"query"`
	Count      int       `json:"count"`
	AtLeast    bool      `json:"at_least"`
	Messages   int       `json:"messages"`
	Events     int       `json:"events"`
	Sessions   int       `json:"sessions"`
	Incomplete string    `json:"incomplete,omitempty"`
	Nothing    string    `json:"nothing,omitempty"`
	Hits       []hitJSON `json:"hits"`
}

type hitJSON struct {
	Session string   `json:"session"`
	Source  string   `json:"source"`
	Who     string   `json:"who"`
	Path    string   `json:"path"`
	Score   float64  `json:"score"`
	Exact   int      `json:"exact,omitempty"`
	Also    []string `json:"also,omitempty"`
	Text    string   `json:"text"`
}

func (e *Engine) renderJSON(r *Result) []byte {
	a := answerJSON{Query: r.Query.Text, Count: r.Count, AtLeast: r.AtLeast, Sessions: len(r.Sessions), Incomplete: r.behind(), Nothing: r.Why, Hits: []hitJSON{}}
	for _, s := range r.Sessions {
		a.Messages += s.Messages
		a.Events += s.Events
	}
	size := func() int { return e.c.Count(string(mustJSON(a))) }
	for i := range r.Hits {
		h := &r.Hits[i]
		j := hitJSON{Session: h.Ref.Path(), Source: h.Source(), Who: h.Who, Path: h.Path(), Score: h.Score, Exact: h.Exact}
		for _, line := range h.Also {
			j.Also = append(j.Also, short(h.Event)+":"+strconv.Itoa(line))
		}
		a.Hits = append(a.Hits, j)
		if j.Text = e.excerptOf(r, i, r.Query.Tokens-size()); j.Text == "" && h.doc.said != "" {
			a.Hits = a.Hits[:i]
			break
		}
		a.Hits[i] = j
	}
	for len(a.Hits) > 0 && size() >= r.Query.Tokens {
		a.Hits = a.Hits[:len(a.Hits)-1]
	}
	return append(mustJSON(a), '\n')
}

// Highlight puts begin and end around the words of an answer's excerpts that the query asks for.
func Highlight(answer string, q Query, begin, end string) string {
	if q.Prepare() != nil {
		return answer
	}
	wanted := map[uint64]bool{}
	for _, t := range q.terms {
		wanted[t] = true
	}
	var b strings.Builder
	for line := range strings.Lines(answer) {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") {
			b.WriteString(line)
			continue
		}
		at := 0
		eachWord(line, func(from, to int) bool {
			found := false
			compress.Terms(line[from:to], func(t uint64) { found = found || wanted[t] })
			if found {
				b.WriteString(line[at:from] + begin + line[from:to] + end)
				at = to
			}
			return true
		})
		b.WriteString(line[at:])
	}
	return b.String()
}
