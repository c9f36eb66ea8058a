package search

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/excerpt"
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
	r.tokens = counted(e.c.Count)
	if r.Query.JSON {
		return e.renderJSON(r)
	}
	left := r.Query.Tokens - r.tokens(r.title(len(r.Hits)))
	var parts []string
	for i := range r.Hits {
		part, used := e.renderHit(r, i, left)
		if part == "" {
			break
		}
		parts = append(parts, part)
		left -= used
	}
	for {
		out := r.title(len(parts)) + strings.Join(parts, "")
		if len(parts) == 0 || e.c.Count(out) <= r.Query.Tokens {
			return []byte(out)
		}
		parts = parts[:len(parts)-1]
	}
}

// counted returns count, which remembers what it counted.
func counted(count func(string) int) func(string) int {
	known := map[string]int{}
	return func(text string) int {
		n, ok := known[text]
		if !ok {
			n = count(text)
			known[text] = n
		}
		return n
	}
}

// leastRoom is how many tokens an excerpt must have to be worth its heading.
const leastRoom = 8

// renderHit writes hit i into its share of the tokens that are left, and returns about how many it takes;
// "" when it has no room.
func (e *Engine) renderHit(r *Result, i, left int) (part string, used int) {
	h := &r.Hits[i]
	where := h.Path()
	if r.Many {
		where = path.Join(h.Ref.Path(), where)
	}
	head := "\n## " + h.Source() + " " + h.Who + " · " + where + also(h, left) + "\n"
	used = r.tokens(head) + 1
	text, with := e.excerptOf(r, i, left-used)
	if text == "" && h.doc.Said != "" {
		return "", 0
	}
	var b strings.Builder
	b.WriteString(head + text + "\n")
	used += r.tokens(text)
	for k := range with {
		if w := &with[k]; w.text != "" {
			b.WriteString(w.heading(r, h) + w.text + "\n")
			used += headWith + ctxabi.Weight(w.text)
		}
	}
	return b.String(), used
}

// shownWith is what is shown of a record that belongs to a hit.
type shownWith struct {
	*With
	text string
}

// heading returns the line above what is shown of it.
func (w *With) heading(r *Result, h *Hit) string {
	of := Hit{Ref: h.Ref, Event: h.Event, Line: w.Line}
	where := of.Path()
	if r.Many {
		where = path.Join(h.Ref.Path(), where)
	}
	return "### " + of.Source() + " " + w.Who + ", " + w.What + " · " + where + "\n"
}

// Shares of what belongs to a hit.
const (
	leastWith = 48  // tokens that a hit must have for it
	mostWith  = 96  // tokens, of each
	mostFar   = 40  // likewise, of lines of files, and of what has no word of the query
	headWith  = 24  // tokens that its heading takes, about
	maxFirst  = 400 // tokens that the best line of a hit may take beyond its share

	maxExcerpt = 8 << 20 // bytes of a record, from its beginning, that its lines are looked for in
)

// excerptOf returns what is shown of hit i, and of what belongs to it, where so many tokens are left for it
// and those behind it.
func (e *Engine) excerptOf(r *Result, i, left int) (text string, with []shownWith) {
	share := max(left/(len(r.Hits)-i), min(left, 4*leastRoom))
	h := &r.Hits[i]
	if share < leastRoom || h.doc.Said == "" {
		return "", nil
	}
	used := 0
	if share >= leastWith {
		each := min(share/2/max(1, len(h.With)), mostWith)
		for k := range h.With {
			w := shownWith{With: &h.With[k]}
			if each >= headWith+leastRoom {
				w.text = e.glance(r, w.With, each-headWith)
				used += headWith + ctxabi.Weight(w.text)
			}
			with = append(with, w)
		}
	}
	first := min(left/2, maxFirst)
	of := excerpt.Room{Tokens: share - used, Most: first, Seeds: excerpt.MaxSeeds, Count: r.tokens}
	d := h.doc.Record()
	if text, ok := d.Whole(of); ok {
		return text, with
	}
	s := h.sight
	if s == nil || len(h.doc.Said) > maxLookOne {
		s = excerpt.Look(d, r.view, maxExcerpt)
	}
	return s.Excerpt(of), with
}

// glance returns what is shown of a record that belongs to a hit, within about so many tokens.
func (e *Engine) glance(r *Result, w *With, tokens int) string {
	of := excerpt.Room{Tokens: tokens, Most: tokens, Seeds: excerpt.MaxGlance, Count: func(text string) int { return ctxabi.Weight(text) }}
	d := w.doc.Record()
	if text, ok := d.Whole(of); ok {
		return text
	}
	s := excerpt.Look(d, r.view, maxLookOne)
	if !d.Ends && (d.Result || s.Has == 0) {
		of.Tokens = min(tokens, mostFar)
		of.Most = of.Tokens
	}
	return s.Excerpt(of)
}

// also names the records of a log that say the same, and those that say nearly the same, as far as there are
// tokens for it.
func also(h *Hit, left int) (names string) {
	most := maxAlso
	if left < 8*leastWith {
		most = 2
	}
	if len(h.Also) > 0 {
		names = " · also " + short(h.Event) + ":" + numbers(h.Also, most)
	}
	if n := len(h.Like); n > 0 {
		names += fmt.Sprintf(" · %d more like it: %s:%s", n, short(h.Event), numbers(h.Like, most))
	}
	return names
}

// numbers writes lines, the newest ones of many.
func numbers(list []int, most int) string {
	var lines []string
	for _, line := range list[max(0, len(list)-most):] {
		lines = append(lines, strconv.Itoa(line))
	}
	if n := len(list) - most; n > 0 {
		return strings.Join(lines, ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(lines, ", ")
}

// titleOf returns a query as the title of its answer quotes it.
func titleOf(q *Query) string { return "\"" + compress.Clip(oneLine(q.Text), 120) + "\"" }

// title is what stands in front of the hits: how many of them there are, and what was looked at.
func (r *Result) title(shown int) string {
	var b strings.Builder
	if behind := r.behind(); behind != "" {
		b.WriteString("# incomplete: " + behind + "\n")
	}
	query := titleOf(&r.Query)
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
	Session   string     `json:"session"`
	Source    string     `json:"source"`
	Who       string     `json:"who"`
	Path      string     `json:"path"`
	Score     float64    `json:"score"`
	Exact     int        `json:"exact,omitempty"`
	Also      []string   `json:"also,omitempty"`
	Like      []string   `json:"like,omitempty"`
	LikeCount int        `json:"like_count,omitempty"`
	Text      string     `json:"text"`
	With      []withJSON `json:"with,omitempty"`
}

type withJSON struct {
	Source string `json:"source"`
	Who    string `json:"who"`
	What   string `json:"what"`
	Path   string `json:"path"`
	Text   string `json:"text"`
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
		for _, line := range h.Like[max(0, len(h.Like)-maxAlso):] {
			j.Like = append(j.Like, short(h.Event)+":"+strconv.Itoa(line))
		}
		j.LikeCount = len(h.Like)
		a.Hits = append(a.Hits, j)
		var with []shownWith
		if j.Text, with = e.excerptOf(r, i, r.Query.Tokens-size()); j.Text == "" && h.doc.Said != "" {
			a.Hits = a.Hits[:i]
			break
		}
		for _, w := range with {
			of := Hit{Event: h.Event, Line: w.Line}
			if w.text != "" {
				j.With = append(j.With, withJSON{of.Source(), w.Who, w.What, of.Path(), w.text})
			}
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
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ") {
			b.WriteString(line)
			continue
		}
		at := 0
		excerpt.EachWord(line, func(from, to int) bool {
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
