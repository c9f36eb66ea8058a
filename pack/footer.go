package pack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// goal is what the last block of a pack says.
type goal struct {
	done, all int    // todos, or tasks of the plan
	next      string // the first open one
	failed    []string
	changed   []string // of the files and runs that stand above, what is otherwise now
	stale     string   // which sources do not stand as they are now
	times     string   // that were taken out of what stands before the journal
	request   string   // of the user, where it stands far above
}

// makeGoal returns the last block of a pack: how far the open todos or the plan's tasks are and what comes next, failed attempts that
// are out of sight, and the last request of the user when it stands far above. "" when there is nothing to say.
func (d *draft) makeGoal() (text string, tokens int, err error) {
	mm, m, f, l := d.memo, d.history, d.clock, d.limits
	l.footer -= d.askBlock.tokens
	var changed []string
	if d.journal.Present && l.limit > 0 { // first: the state of all records continues the state of the compacted ones
		if changed, err = mm.ChangedSince(m, f, d.counter, min(changedTokens, l.footer/4)); err != nil {
			return "", 0, err
		}
	}
	g := d.progressOfGoal()
	g.changed = changed
	if g.request, err = mm.lastRequest(m, f, l, d.journal.Present); err != nil {
		return "", 0, err
	}
	if all := mm.Notes(m, m.Len()).Replies(); g.request != "" && len(all) > 0 {
		last := all[len(all)-1]
		at, reply := record.Address{Line: last.At.Line, Event: last.At.Event}, last.Text
		if at.Line > record.AddressOf(m, f.Last.Line).Line {
			short, _ := compress.Head(reply, quoteWeight-20, at.Path())
			g.request += fmt.Sprintf("The user replied in message %s:\n> %s\n", at, quotation(short))
		}
	}
	room := failedTokens
	if l.limit > 0 {
		room = min(room, l.footer/4)
	}
	_, told := d.openErrors()
	lessons, _ := mm.Lessons(m, f, told) // without them if a record cannot be read; the next build tries again
	for _, line := range lessons {
		if room -= d.counter.CountCached(line) + 4; room < 0 {
			break
		}
		g.failed = append(g.failed, line)
	}
	g.stale, g.times = d.staleNote(), d.timesNote()
	var s style
	if d.recipe.Variation {
		s = styleOf(m.Len())
	}
	for {
		if text = g.text(s); text == "" {
			return "", 0, nil
		}
		text = record.Frame("goal", ctxabi.Escape(text))
		tokens = d.counter.CountCached(text)
		if l.limit == 0 || tokens+d.markTokens([]ctxabi.Label{record.LabelOf("goal")}) <= l.footer {
			return text, tokens, nil
		}
		if !g.shorten() {
			return "", 0, nil
		}
	}
}

// progressOfGoal returns a goal that has how far the work is.
func (d *draft) progressOfGoal() (g goal) {
	if g.done, g.all, g.next = progress(d.todo); g.all == 0 && !slices.ContainsFunc(d.blocks, func(b block) bool { return b.kind == string(recipe.TypePlan) && b.text != "" }) {
		g.done, g.all, g.next = planProgress(d.plan)
	}
	if d.todo == "" && d.plan == nil {
		g.done, g.all, g.next = derivedProgress(d.memo.Notes(d.history, d.history.Len()).Items())
	}
	return g
}

// shorten takes out what matters least. It reports whether there is anything left then; what was taken out of a block stays in any case.
func (g *goal) shorten() bool {
	switch {
	case len(g.changed) > 0:
		g.changed = g.changed[:len(g.changed)-1]
	case len(g.failed) > 0:
		g.failed = g.failed[:len(g.failed)-1]
	case g.times != "" && g.request != "":
		g.request = ""
	case g.times != "" && g.stale != "":
		g.stale = ""
	case g.times != "" && g.all > 0:
		g.all = 0
	default:
		return false
	}
	return true
}

// changedTokens is the most that the goal takes for what changed since the last compaction.
const changedTokens = 200

// staleTokens is the most that the note of stale sources takes of the goal.
const staleTokens = 80

// staleNote returns a line that names the sources which show an earlier output or are left out because none has come
// yet; "" when all stand as they are now.
func (d *draft) staleNote() string {
	var old, none []string
	for i := range d.in.Files {
		f := &d.in.Files[i]
		name := cmp.Or(f.ID, f.Path)
		switch {
		case f.At >= 0 && !d.Wanted[f.At]:
		case f.Pending:
			none = append(none, name)
		case f.Stale:
			old = append(old, name)
		}
	}
	var says []string
	if len(old) > 0 {
		says = append(says, strings.Join(old, ", ")+" shown with earlier content")
	}
	if len(none) > 0 {
		says = append(says, strings.Join(none, ", ")+" omitted, no content yet")
	}
	if len(says) == 0 {
		return ""
	}
	line, _ := compress.ClipTokens(record.OneLine("Out of date: "+strings.Join(says, "; ")), staleTokens)
	return record.OneLine(line) + "\n"
}

// failedTokens is the most that failed attempts take of the goal.
const failedTokens = 150

// planProgress is how far the tasks of a plan are; those that nobody will do do not count.
func planProgress(plan *ctxabi.Plan) (done, all int, next string) {
	if plan == nil {
		return 0, 0, ""
	}
	current := plan.Current()
	if current != nil && (current.Finished() || current.Dropped()) {
		current = nil
	}
	for i := range plan.Tasks {
		t := &plan.Tasks[i]
		switch {
		case t.Dropped():
			continue
		case t.Finished():
			done++
		case current == nil:
			current = t
		}
		all++
	}
	if current != nil {
		next = compress.ClipWords(blocks.TaskName(current), 40)
	}
	return done, all, record.OneLine(next)
}

// progress reads the check boxes of a todo list.
func progress(todo string) (done, all int, next string) {
	for line := range strings.Lines(todo) {
		finished, text, ok := derived.Checkbox(line)
		switch {
		case !ok:
			continue
		case finished:
			done++
		case next == "":
			next = compress.ClipWords(record.OneLine(text), 40)
		}
		all++
	}
	return done, all, next
}

// derivedProgress is progress of a list that nobody wrote: of what agents and people keep as a list. One without an open item says nothing of what
// comes next.
func derivedProgress(items []derived.Item) (done, all int, next string) {
	active := false
	for _, t := range items {
		if t.Spoken {
			continue
		}
		all++
		if t.Done {
			done++
		} else if next == "" || t.Active && !active {
			next, active = t.Text, t.Active
		}
	}
	if done == all {
		return 0, 0, ""
	}
	return done, all, compress.ClipWords(record.OneLine(next), 40)
}

// quoteWeight is how many tokens of the last request the footer repeats.
const quoteWeight = 80

// lastRequest quotes the last user record that says something, with the question that it answers if
// it says nothing without it. It returns "" if the pack has a journal and less than an eighth of the
// limit follows the record there.
func (mm *Memo) lastRequest(m record.Records, f *journal.Fold, l limits, hasJournal bool) (string, error) {
	far := l.limit / 8
	if l.limit == 0 {
		far = capScale / 8
	}
	if f.Last.Line == 0 || l.limit > 0 && l.footer < quoteWeight {
		return "", nil
	}
	a, err := mm.Asked(m, f.Last.Line, f.Requests)
	if err != nil {
		return "", err
	}
	since := f.Total.Weight - f.Last.Before.Weight - int64(f.Last.Weight)
	for at := a.Line + 1; at <= f.Last.Line && since < int64(far); at++ {
		since += int64(m.At(at).Weight)
	}
	if hasJournal && since < int64(far) {
		return "", nil
	}
	text := strings.TrimSpace(a.Text)
	if text != "" {
		at := record.AddressOf(m, a.Line)
		text, _ = compress.Head(text, quoteWeight-20, at.Path())
		text = fmt.Sprintf("Last request of the user, message %s:\n> %s\n", at, quotation(text))
		room := journal.AnsweredBytes
		if l.limit > 0 {
			room = min(room, 2*(l.footer-quoteWeight)-64)
		}
		if a.Answers != "" && room >= 64 {
			text += fmt.Sprintf("The assistant had asked in message %s:\n> %s\n", record.AddressOf(m, a.To), quotation(derived.Question(a.Answers, room)))
		}
	}
	return text, nil
}

// quotation is text whose lines, but for the first, have the mark of a quotation.
func quotation(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r", "\n"), "\n", "\n> ")
}
