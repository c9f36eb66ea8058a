package notes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// State folds the findings of records, in the order of the timeline, into rows. It is bounded,
// whatever comes: each kind of rows has a part of the history's size, and a bound above that.
// The zero value is ready. A State must not be used by several goroutines at once.
type State struct {
	bytes     int // of the records with findings
	adds      int // how many of those
	asked     int // requests of the user
	facts     []factRow
	decisions []decisionRow
	refs      []refRow
	items     []todoRow
	said      []saidRow
	replies   []Replied
	proposals []Finding // of the last record of the assistant
	proposed  Position  // where that stands
	answered  int       // the last of the results that follow it
	called    []undoRef // what the last record of the assistant did to files, to take back what failed
	changes   Changes
}

type factRow struct {
	ctxabi.FactRow
	at       Position
	own      bool // said by the assistant
	specific bool // it names something
}

type decisionRow struct {
	ctxabi.DecisionRow
	at    Position
	said  string // the statement that decided
	order int
}

type todoRow struct {
	text, key, state string
	list             string // the tool whose list it is of; "" of text
	call, number     string // of a numbered item: what made it, and its number in the list that goes on
	named            bool   // it got a number once
	until            int    // the request with which it is over; 0: none
	at               Position
}

type saidRow struct {
	kind  FindingKind
	text  string
	at    Position
	order int // of its record among those with findings
}

// Replies returns the user's replies to question tools, oldest first.
func (n *State) Replies() []Replied { return slices.Clone(n.replies) }

// Changes returns which statements of the user later ones changed.
func (n *State) Changes() []Change { return n.changes.All() }

// Asks returns the statements of the user that ask for a change, oldest first.
func (n *State) Asks() []Statement { return n.changes.Asks() }

// Add takes the findings of the record at a position. Positions come in the order of the timeline;
// of records without findings only results of tools count.
func (n *State) Add(at Position, role string, found []Finding) {
	if role == "tool" && !at.Event && at.Line == n.answered+1 {
		n.answered = at.Line
	}
	if len(found) == 0 {
		return
	}
	n.adds++
	if role == models {
		n.proposals, n.proposed, n.answered, n.called = nil, at, at.Line, nil
	}
	r := adding{at: at, role: role}
	var kinds kindSet
	for i := range found {
		n.bytes += found[i].Of
		kinds.add(found[i].Kind)
		n.addOne(&r, &found[i])
	}
	n.change(&r)
	n.bound(kinds)
}

// adding is the record whose findings are being added.
type adding struct {
	at       Position
	role     string
	ids      [26]int // by letter from a: how many rows of the record have an id with it
	list     string  // the tool whose list the items that follow are of; "" of text
	accepted bool    // it said yes to something
	asked    string  // the proposal that it said yes to
	said     []Statement
	replies  int // replies to a question tool so far
}

// id returns the id of the record's next row of a kind.
func (r *adding) id(letter string) string {
	n := &r.ids[letter[0]-'a']
	*n++
	return r.at.id(letter, *n)
}

func (n *State) addOne(r *adding, f *Finding) {
	switch f.Kind {
	case FoundFact:
		n.addFact(f, r)
	case FoundStatement:
		r.said = append(r.said, Statement{Text: f.Text, Part: f.N})
	case FoundAcceptance:
		r.accepted = n.accept(f, r)
	case FoundDecision:
		if !r.accepted || f.State != saidYes {
			n.decide(decisionRow{DecisionRow: ctxabi.DecisionRow{ID: r.id("d"), Decision: f.Text, Source: cmp.Or(f.Path, r.at.Source()), By: r.role}, at: r.at, said: f.Text})
		}
	case FoundReply:
		n.reply(f, r)
	case FoundProposal:
		n.proposals = append(n.proposals, *f)
	case FoundTodo:
		n.addTodo(f, r)
	case FoundFile:
		n.addFile(f, r.id("r"), r.at)
	case FoundOutput:
		n.addOutput(f, r.id("r"), r.at)
	case FoundRequest:
		n.asked++
		n.items = slices.DeleteFunc(n.items, func(t todoRow) bool { return t.until > 0 && t.until < n.asked && t.state == todoOpen })
		n.said = append(n.said, saidRow{f.Kind, f.Text, r.at, n.adds})
	case FoundConclusion:
		n.said = append(n.said, saidRow{f.Kind, f.Text, r.at, n.adds})
	case FoundFailure:
		n.forgetFailure()
		n.said = append(n.said, saidRow{f.Kind, f.Text, r.at, n.adds})
		n.takeBack(f)
	}
}

// addTodo adds an item, or the head of a list, to the items.
func (n *State) addTodo(f *Finding, r *adding) {
	switch {
	case f.State == todoList:
		r.list = f.Tool
		n.items = slices.DeleteFunc(n.items, func(t todoRow) bool { return t.list == r.list && (r.list != taskList || t.number != "") })
	case r.list == taskList || f.Path != "" || f.Key != "" || f.State == taskMade:
		n.addTask(f, r.list == taskList, r.at)
	default:
		n.addItem(f, r.list, r.at)
	}
}

// addFact adds a fact in the place of one with the same words.
func (n *State) addFact(f *Finding, r *adding) {
	row := factRow{FactRow: ctxabi.FactRow{ID: r.id("f"), Text: f.Text, Source: cmp.Or(f.Path, r.at.Source())}, at: r.at, own: r.role == models, specific: tellsMuch(f.Text)}
	n.facts = slices.DeleteFunc(n.facts, func(old factRow) bool {
		return (old.own || !row.own) && ItemKey(old.Text) == ItemKey(row.Text)
	})
	n.facts = append(n.facts, row)
}

// tellsMuch reports whether a text has an identifier.
func tellsMuch(text string) (much bool) {
	compress.EachWord(text, func(_ string, kind compress.WordKind) { much = much || kind == compress.IdentifierWord })
	return much
}

// change removes the rows of statements that the record changes, and rows of the assistant that
// state the same.
func (n *State) change(r *adding) {
	if len(r.said) == 0 {
		return
	}
	r.said[0].Asked = r.asked
	changed, ends := n.changes.Add(r.at, r.said)
	gone := func(at Position, text string) bool {
		return slices.ContainsFunc(changed, func(c Change) bool { return c.At == at && sameStatement(c.Text, text) })
	}
	ended := func(text string) bool {
		return slices.ContainsFunc(ends, func(ends func(string) bool) bool { return ends(text) })
	}
	n.facts = slices.DeleteFunc(n.facts, func(f factRow) bool { return gone(f.at, f.Text) || f.own && ended(f.Text) })
	n.decisions = slices.DeleteFunc(n.decisions, func(d decisionRow) bool {
		return gone(d.at, d.said) || d.By == models && ended(d.Decision)
	})
	n.items = slices.DeleteFunc(n.items, func(t todoRow) bool { return gone(t.at, t.text) })
	n.said = slices.DeleteFunc(n.said, func(s saidRow) bool { return s.kind == FoundRequest && gone(s.at, s.text) })
}

// sameStatement reports whether one of two texts of a message contains the other.
func sameStatement(a, b string) bool {
	a, b = ItemKey(a), ItemKey(b)
	return strings.Contains(a, b) || strings.Contains(b, a)
}

// accept makes a decision of what was proposed in the record before, results of tools aside. It
// reports whether there was such a thing.
func (n *State) accept(f *Finding, r *adding) bool {
	at := r.at
	if at.Event || n.proposed.Event || n.answered+1 != at.Line {
		return false
	}
	var chosen *Finding
	labels := 0
	for i := range n.proposals {
		p := &n.proposals[i]
		if p.Key != "" {
			labels++
		}
		if f.Key == p.Key && (chosen == nil || f.Key == "" && p.State != proposedBare || chosen.State == proposedBare) {
			chosen = p
		}
	}
	if chosen != nil {
		r.asked = chosen.Text
	}
	if chosen == nil || chosen.State == proposedBare || chosen.State == proposedAct || f.Key == "" && labels > 1 && chosen.Key == "" && !strings.HasSuffix(chosen.Text, "?") {
		return false
	}
	span := ctxabi.Span{From: n.proposed.Line, To: at.Line}
	n.decide(decisionRow{DecisionRow: ctxabi.DecisionRow{ID: r.id("d"), Decision: answered(f, chosen), Source: "messages:" + span.String(), By: people}, at: at, said: f.Text})
	n.proposals = nil
	return true
}

// answered returns what a yes is to, "yes: Shall I use zap?", "option 2: write it to disk", and
// what it adds to that.
func answered(yes, to *Finding) string {
	text := "yes: " + to.Text
	if yes.Key != "" {
		text = "option " + strings.ToUpper(yes.Key) + ": " + to.Text
	}
	if adds(yes.Text, to.Text) {
		text += " (" + yes.Text + ")"
	}
	return text
}

// adds reports whether a yes adds to the question: a scope, a deadline, or another request.
func adds(yes, asked string) bool {
	w := splitWords(yes, nil)
	if limits.has(w) || onces.has(w) {
		return true
	}
	known := content(splitWords(asked, nil), true)
	for i := 0; i < len(w); i++ {
		if n := max(yeses.at(w, i), choosing.at(w, i)); n > 0 {
			i += n - 1
			continue
		}
		if word := content(w[i:i+1], true); word != "" && !replyWords.has(w[i].text) && !idleWords.has(w[i].text) && !hasWord(known, word) {
			return true
		}
	}
	return false
}

// decide adds a decision in the place of one with the same words.
func (n *State) decide(row decisionRow) {
	n.decisions = slices.DeleteFunc(n.decisions, func(old decisionRow) bool {
		return ItemKey(old.Decision) == ItemKey(row.Decision) && (row.By != models || old.By != people)
	})
	row.order = n.adds
	n.decisions = append(n.decisions, row)
}

// addItem notes the newest state of an item.
func (n *State) addItem(f *Finding, list string, at Position) {
	row := todoRow{text: f.Text, key: ItemKey(f.Text), state: f.State, list: list, at: at}
	if f.N > 0 {
		row.until = n.asked + f.N
	}
	i := slices.IndexFunc(n.items, func(t todoRow) bool { return t.key == row.key })
	if row.state == todoTicked {
		if row.state = todoDone; i < 0 {
			return
		}
	}
	if i >= 0 {
		if old := &n.items[i]; row.list == "" || old.list == taskList {
			row.list, row.call, row.number, row.named = old.list, old.call, old.number, old.named
		}
		n.items[i] = row
	} else {
		n.items = append(n.items, row)
	}
	if row.state == todoGone {
		n.items = slices.DeleteFunc(n.items, func(t todoRow) bool { return t.key == row.key })
	}
}
