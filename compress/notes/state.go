package notes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// State folds the findings of records, in the order of the timeline, into rows. Rows of each kind
// have a bounded size. The zero value is ready. A State must not be used by several goroutines at
// once.
type State struct {
	adds  int // records with findings
	asked int // requests of the user

	rows    map[FindingKind][]row // facts, decisions, requests, conclusions
	items   []todoRow
	refs    []refRow
	replies []Replied
	changes Changes

	proposals []Finding // of the last record of the assistant
	proposed  Position  // of that record
	answered  int       // the last of the results that follow it
	called    Position  // of the last record with calls that name files
}

// row is one sentence: a row of facts.jsonl or decisions.jsonl, or a line of the summary.
type row struct {
	id, text   string
	key        string // its words; see ItemKey
	source, by string
	at         Position
	said       string // the words of the user that it rests on
	order      int    // of its record among those with findings
	rule       bool
}

// Replies returns the user's replies to question tools, oldest first.
func (n *State) Replies() []Replied { return slices.Clone(n.replies) }

// Changes returns which statements of the user later ones changed.
func (n *State) Changes() []Change { return n.changes.All() }

// Asks returns the statements of the user that ask for a change, oldest first.
func (n *State) Asks() []Statement { return n.changes.Asks() }

// Facts returns the rows of facts.jsonl, oldest first.
func (n *State) Facts() (out []ctxabi.FactRow) {
	for _, r := range n.rows[FoundFact] {
		out = append(out, ctxabi.FactRow{ID: r.id, Text: r.text, Source: r.source})
	}
	return out
}

// Decisions returns the rows of decisions.jsonl, oldest first.
func (n *State) Decisions() (out []ctxabi.DecisionRow) {
	for _, r := range n.rows[FoundDecision] {
		out = append(out, ctxabi.DecisionRow{ID: r.id, Decision: r.text, Source: r.source, By: r.by})
	}
	return out
}

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
		n.proposals, n.proposed, n.answered, n.called = nil, at, at.Line, Position{}
	}
	r := adding{at: at, role: role}
	for i := range found {
		n.addOne(&r, &found[i])
	}
	n.change(&r)
	n.bound()
}

// adding is the record whose findings are being added.
type adding struct {
	at       Position
	role     string
	ids      [26]int // by letter from a: how many rows of the record have an id with it
	list     string  // the tool whose list the items that follow belong to; "" of text
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
	case FoundFact, FoundConclusion:
		n.addRow(r, f, "")
	case FoundDecision:
		if !r.accepted || f.State != saidYes {
			n.addRow(r, f, "")
		}
	case FoundRequest:
		n.asked++
		n.items = slices.DeleteFunc(n.items, func(t todoRow) bool { return t.until > 0 && t.until < n.asked && t.state == todoOpen })
		n.addRow(r, f, "")
	case FoundStatement:
		r.said = append(r.said, Statement{Text: f.Text, Part: f.N})
	case FoundAcceptance:
		r.accepted = n.accept(f, r)
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
	case FoundFailure:
		n.takeBack(f)
	}
}

// addRow adds a sentence in the place of one of the same kind with the same words. The assistant
// replaces no decision of the user. said is the user's sentence, if it differs.
func (n *State) addRow(r *adding, f *Finding, said string) {
	if n.rows == nil {
		n.rows = map[FindingKind][]row{}
	}
	key := ItemKey(f.Text)
	new := row{id: r.id(string(f.Kind)), text: f.Text, key: key, source: cmp.Or(f.Path, r.at.Source()), by: r.role, at: r.at,
		said: cmp.Or(said, f.Text), order: n.adds, rule: f.State == factRule}
	rows := slices.DeleteFunc(n.rows[f.Kind], func(old row) bool {
		return old.key == key && (new.by != models || old.by != people)
	})
	n.rows[f.Kind] = append(rows, new)
}

// change removes the rows of statements that the record changes, and decisions of the assistant
// that state the same.
func (n *State) change(r *adding) {
	if len(r.said) == 0 {
		return
	}
	r.said[0].Asked = r.asked
	changed, ends := n.changes.Add(r.at, r.said)
	if len(changed)+len(ends) == 0 {
		return
	}
	gone := func(at Position, text string) bool {
		return slices.ContainsFunc(changed, func(c Change) bool { return c.At == at && sameStatement(c.Text, text) })
	}
	for kind, rows := range n.rows {
		n.rows[kind] = slices.DeleteFunc(rows, func(old row) bool {
			ended := kind == FoundDecision && old.by == models && slices.ContainsFunc(ends, func(ends func(string) bool) bool { return ends(old.text) })
			return ended || kind != FoundConclusion && gone(old.at, old.said)
		})
	}
	n.items = slices.DeleteFunc(n.items, func(t todoRow) bool { return gone(t.at, t.text) })
}

// sameStatement reports whether one of two texts of a message contains the other.
func sameStatement(a, b string) bool {
	a, b = ItemKey(a), ItemKey(b)
	return strings.Contains(a, b) || strings.Contains(b, a)
}

// accept makes a decision of what was proposed in the record before, results of tools aside. It
// reports whether it did.
func (n *State) accept(f *Finding, r *adding) bool {
	if r.at.Event || n.proposed.Event || n.answered+1 != r.at.Line {
		return false
	}
	var chosen *Finding
	options := false
	for i := range n.proposals {
		p := &n.proposals[i]
		options = options || p.Key != ""
		if f.Key == p.Key {
			chosen = p
		}
	}
	if chosen == nil {
		return false
	}
	r.asked = chosen.Text
	if chosen.State == proposedAct || options && f.Key == "" && !isQuestion(chosen.Text) {
		return false
	}
	row := Finding{Kind: FoundDecision, Text: "yes: " + chosen.Text,
		Path: "messages:" + ctxabi.Span{From: n.proposed.Line, To: r.at.Line}.String()}
	if f.Key != "" {
		row.Text = "option " + strings.ToUpper(f.Key) + ": " + chosen.Text
	}
	if w := splitWords(f.Text, nil); limits.has(w) || onces.has(w) || SenseOf(f.Text) == Request { // it adds a scope, a deadline, or another request
		row.Text += " (" + f.Text + ")"
	}
	n.addRow(r, &row, f.Text)
	n.proposals = nil
	return true
}

// newestRows is the number of newest rows that the summary has before older ones.
const newestRows = 8

// Summary returns what was asked, concluded, and decided, in Markdown, a line each with its
// source, in at most so many tokens by count: the first request, the newest rows, and an even
// selection of the others. It returns "" if there is nothing.
func (n *State) Summary(tokens int, count func(string) int) string {
	type line struct {
		text  string
		order int
	}
	var lines []line
	for _, kind := range []FindingKind{FoundRequest, FoundConclusion, FoundDecision} {
		for _, r := range n.rows[kind] {
			if kind == FoundConclusion && slices.ContainsFunc(n.rows[FoundDecision], func(d row) bool { return d.at == r.at && d.text == r.text }) {
				continue
			}
			lines = append(lines, line{"- " + summaryNames[kind] + ": " + r.text + " (" + r.at.Source() + ")\n", r.order})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.order - b.order })
	first := slices.IndexFunc(lines, func(l line) bool { return strings.HasPrefix(l.text, "- "+summaryNames[FoundRequest]) })
	kept := make([]bool, len(lines))
	take := func(i int) bool {
		if cost := count(lines[i].text); !kept[i] && cost <= tokens {
			tokens -= cost
			kept[i] = true
		}
		return kept[i]
	}
	if first >= 0 {
		take(first)
	}
	for i := len(lines) - 1; i >= max(0, len(lines)-newestRows) && take(i); i-- {
	}
	for step := 1 << 10; step > 0; step /= 2 { // evenly over the rest
		for i := len(lines) - 1; i >= 0; i -= step {
			take(i)
		}
	}
	text := ""
	for i := range lines {
		if kept[i] {
			text += lines[i].text
		}
	}
	return text
}

var summaryNames = map[FindingKind]string{FoundRequest: "Asked", FoundConclusion: "Concluded", FoundDecision: "Decided"}

// Rows of each kind that stay.
const (
	maxRows  = 256
	maxSaid  = 128 // decisions, requests, and conclusions, of each
	maxTasks = 128
)

// bound removes rows beyond the limits. Facts that are rules, decisions of the user, the first
// request, open items, and changed files outlast others.
func (n *State) bound() {
	for kind, rows := range n.rows {
		if len(rows) == 0 {
			continue
		}
		limit, first := maxSaid, rows[0].id
		if kind == FoundFact {
			limit = maxRows
		}
		n.rows[kind] = newest(rows, limit, func(r *row) bool {
			return r.rule || kind == FoundRequest && r.id == first || kind == FoundDecision && r.by != models
		})
	}
	n.refs = newest(n.refs, maxRows, func(r *refRow) bool { return r.Kind == ctxabi.RefArtifact || r.changed() })
	n.items = newest(n.items, maxTasks, func(t *todoRow) bool { return t.state != todoDone })
}

// newest removes the oldest rows until there are at most limit, those that outlast others last. It
// returns the others, in the memory of rows.
func newest[T any](rows []T, limit int, outlasts func(*T) bool) []T {
	for len(rows) > limit {
		i := slices.IndexFunc(rows, func(r T) bool { return !outlasts(&r) })
		rows = slices.Delete(rows, max(0, i), max(0, i)+1)
	}
	return rows
}
