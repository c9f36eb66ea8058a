package top

import (
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/views/overview"
)

// column is a column of the list.
type column struct {
	title       string
	least, most int // cells
	right       bool
	text        func(l *lister, x *item, r *overview.Row, cells int) (string, style) // r is nil before the row is there
}

// The columns in their order, as the page of ctxfs ui has them.
var columns = []*column{sessionColumn, agentColumn, stateColumn, wordsColumn, messagesColumn, tokensColumn, cacheColumn, packsColumn, ageColumn}

// wanted are the columns in the order in which a window that grows takes them in.
var wanted = []*column{sessionColumn, ageColumn, tokensColumn, messagesColumn, agentColumn, wordsColumn, stateColumn, cacheColumn, packsColumn}

// growing are those that take what room is left, in their order, up to their most; the words of a session take the rest.
var growing = []*column{sessionColumn, agentColumn, wordsColumn, packsColumn}

var (
	sessionColumn = &column{"SESSION", 12, 32, false, func(_ *lister, x *item, _ *overview.Row, _ int) (string, style) {
		return x.name, strong
	}}
	agentColumn = &column{"AGENT", 9, 24, false, func(_ *lister, x *item, _ *overview.Row, _ int) (string, style) {
		return x.whose(), plain
	}}
	stateColumn = &column{"STATE", 9, 9, false, func(_ *lister, _ *item, r *overview.Row, _ int) (string, style) {
		switch {
		case r == nil:
			return "", plain
		case r.State == "active":
			return r.State, green
		}
		return harmless(r.State), plain
	}}
	wordsColumn = &column{"LAST WORDS", 16, 60, false, func(_ *lister, _ *item, r *overview.Row, _ int) (string, style) {
		switch {
		case r == nil:
			return "", plain
		case r.Last == "":
			return "nothing yet", faint
		}
		return harmless(r.LastRole + ": " + r.Last), plain
	}}
	messagesColumn = &column{"MSGS", 6, 6, true, func(_ *lister, _ *item, r *overview.Row, _ int) (string, style) {
		if r == nil {
			return "", plain
		}
		return overview.Short(r.Messages), plain
	}}
	tokensColumn = &column{"TOKENS", 9, 9, true, func(l *lister, _ *item, r *overview.Row, _ int) (string, style) {
		switch {
		case r == nil:
			return "", plain
		case !r.Packs.Any:
			return "not read", faint
		}
		return of(r.Packs.Tokens, l.budget(r)), plain
	}}
	cacheColumn = &column{"CACHE", 5, 5, true, func(_ *lister, _ *item, r *overview.Row, _ int) (string, style) {
		if r == nil || !r.Packs.Cached {
			return "", plain
		}
		return overview.Percent(r.Packs.Share), plain
	}}
	packsColumn = &column{"LAST PROMPTS", 12, 50, false, func(_ *lister, _ *item, r *overview.Row, cells int) (string, style) {
		if r == nil {
			return "", plain
		}
		return spark(r.Packs, cells), cyan
	}}
	ageColumn = &column{"CHANGED", 8, 8, true, func(l *lister, x *item, _ *overview.Row, _ int) (string, style) {
		return strings.TrimSuffix(overview.Ago(l.now, x.Updated), " ago"), plain
	}}
)

// lister writes rows of the list.
type lister struct {
	painter
	now    time.Time
	usual  int    // the budget of sessions that set none; 0: none, or not known
	widest [2]int // cells of names and of agents that are listed
	widths map[*column]int
}

// budget returns the tokens that a prompt of a session may have; 0: there is no limit, or it is not known.
func (l *lister) budget(r *overview.Row) int {
	if r.Budget != 0 {
		return r.Budget
	}
	return l.usual
}

// Each row begins with a mark of the chosen one, and its columns have a blank between them.
const markWidth = 2

// layOut chooses the columns for so many cells, and how wide they are.
func (l *lister) layOut(cells int) {
	l.widths = map[*column]int{}
	room := cells - markWidth
	for _, c := range wanted {
		if room < c.least {
			break
		}
		l.widths[c] = c.least
		room -= c.least + 1
	}
	room++ // there is no blank behind the last one
	for _, c := range growing {
		if n := l.widths[c]; n > 0 && room > 0 {
			most := c.most
			switch c {
			case sessionColumn:
				most = max(n, min(most, l.widest[0]))
			case agentColumn:
				most = max(n, min(most, l.widest[1]))
			}
			more := min(room, most-n)
			l.widths[c], room = n+more, room-more
		}
	}
	if l.widths[wordsColumn] > 0 {
		l.widths[wordsColumn] += max(0, room)
	} else {
		l.widths[sessionColumn] += max(0, room)
	}
}

// heading is the line above the rows.
func (l *lister) heading() string {
	return "  " + l.line(func(c *column, _ int) (string, style) { return c.title, plain })
}

// row is the line of a session.
func (l *lister) row(x *item, r *overview.Row) string {
	return l.line(func(c *column, cells int) (string, style) { return c.text(l, x, r, cells) })
}

func (l *lister) line(of func(c *column, cells int) (string, style)) string {
	var cells []string
	for _, c := range columns {
		n := l.widths[c]
		if n == 0 {
			continue
		}
		text, s := of(c, n)
		if c.right {
			text = fitRight(text, n)
		} else {
			text = fit(text, n)
		}
		cells = append(cells, l.paint(s, text))
	}
	return strings.Join(cells, " ")
}
