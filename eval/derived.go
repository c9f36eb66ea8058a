package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// Derived is how much of what is planted into sessions stands in the notes that are derived of them.
type Derived struct {
	Half      Half            `json:"half"`
	Seeds     int             `json:"seeds"`
	Sessions  int             `json:"sessions"`
	Kinds     []DerivedRecall `json:"kinds"`
	Recall    float64         `json:"recall"`
	Rows      int             `json:"rows"`  // of planted records and distractors
	True      int             `json:"true"`  // of these: what was planted
	Stale     int             `json:"stale"` // of the others: what was taken back later
	Precision float64         `json:"precision"`
	Size      float64         `json:"size"` // bytes of all derived files, of the history's
	Lost      []DerivedLost   `json:"lost,omitempty"`
	lost      map[lostKey]bool
}

// DerivedRecall is the recall of one kind of phrases.
type DerivedRecall struct {
	Kind    string `json:"kind"`
	Planted int    `json:"planted"`
	Found   int    `json:"found"`
}

// DerivedLost is a planted statement that was missed, or a row that is wrong.
type DerivedLost struct {
	Half  Half   `json:"half"`
	Kind  string `json:"kind"` // of the phrase
	Wrong bool   `json:"wrong"`
	Text  string `json:"text"` // its turns, or the row
}

// Numbers of a planted session.
const (
	plantedPhrases     = 16  // that should be found
	plantedDistractors = 16  // that should not
	derivedSummary     = 500 // tokens of the summary
)

// RunDerived plants phrases of one half into each session, once for each seed, and looks for them in what is derived.
// A phrase that is lost several times is told once, with the names it had first.
// It returns an error if a note cannot be derived.
func RunDerived(sessions []*Session, half Half, seeds int) (*Derived, error) {
	all, err := phrasesOf(half)
	if err != nil {
		return nil, err
	}
	counter, err := tokens.For("")
	if err != nil {
		return nil, err
	}
	d := &Derived{Half: half, Seeds: seeds, Sessions: len(sessions)}
	kinds := map[string]*DerivedRecall{}
	for i := range all {
		if k := all[i].kind; k != distractorKind && kinds[k] == nil {
			kinds[k] = &DerivedRecall{Kind: k}
		}
	}
	var size, history int
	for _, s := range sessions {
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(uint64(seed), hashOf(string(half))))
			p, err := plant(s, all, rng)
			if err != nil {
				return nil, err
			}
			p.fold()
			p.judge(d, kinds)
			size += p.size(counter.CountCached)
			history += p.bytes
		}
	}
	planted, found := 0, 0
	for _, p := range all {
		if k := kinds[p.kind]; k != nil {
			d.Kinds = append(d.Kinds, *k)
			planted, found = planted+k.Planted, found+k.Found
			delete(kinds, p.kind)
		}
	}
	d.Recall, d.Precision, d.Size = ratio(found, planted), ratio(d.True, d.Rows), ratio(size, history)
	return d, nil
}

// RunHalves is [RunDerived] of both halves of the phrases, the tuned ones first. What is lost stands apart.
// It returns an error if a note cannot be derived.
func RunHalves(sessions []*Session, seeds int) (halves []*Derived, lost []DerivedLost, err error) {
	for _, half := range []Half{Tuned, HeldOut} {
		d, err := RunDerived(sessions, half, seeds)
		if err != nil {
			return nil, nil, err
		}
		lost = append(lost, d.Lost...)
		d.Lost = nil
		halves = append(halves, d)
	}
	return halves, lost, nil
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// planting is a session with phrases in it.
type planting struct {
	phrases []phrase
	records []plantedRecord
	bytes   int
	notes   notes.State
	of      map[string]int // the phrase of a place, by its source
}

type plantedRecord struct {
	said   notes.Record
	phrase int // -1: of the session itself
}

// plant chooses phrases and puts them before messages of the user, and at the end; each at a place of its own.
func plant(s *Session, all []phrase, rng *rand.Rand) (*planting, error) {
	p := &planting{of: map[string]int{}}
	wanted, others := plantedPhrases, plantedDistractors
	for _, i := range rng.Perm(len(all)) {
		left := &wanted
		if all[i].kind == distractorKind {
			left = &others
		}
		if *left > 0 {
			*left--
			one := all[i].fill(rng)
			one.around(rng)
			p.phrases = append(p.phrases, one)
		}
	}
	n := s.Messages.Len()
	var gaps []int // a phrase may stand before these messages
	for line := 2; line <= n; line++ {
		m, before := &s.said[line-1], &s.said[line-2]
		if m.Role == ctxabi.User && len(m.Results) == 0 || before.Role == ctxabi.Assistant && len(before.Calls) == 0 || m.Role == ctxabi.Assistant && (before.Role == ctxabi.Tool || len(before.Results) > 0) {
			gaps = append(gaps, line)
		}
	}
	gaps = append(gaps, n+1)
	at := map[int][]int{}
	for i := range p.phrases {
		gap := gaps[rng.IntN(len(gaps))]
		at[gap] = append(at[gap], i)
	}
	for line := 1; line <= n+1; line++ {
		for _, i := range at[line] {
			for k := range p.phrases[i].turns {
				p.records = append(p.records, plantedRecord{p.phrases[i].turns[k].said(), i})
				p.bytes += len(p.phrases[i].turns[k].text) + 40
			}
		}
		if line > n {
			break
		}
		raw, err := s.Messages.Record(line)
		if err != nil {
			return nil, err
		}
		p.bytes += len(raw) + 1
		p.records = append(p.records, plantedRecord{saidOf(&s.said[line-1]), -1})
	}
	return p, nil
}

// saidOf is a message as the finders see it.
func saidOf(m *ctxabi.Message) notes.Record {
	s := notes.Record{Role: m.Role.String(), Text: m.Text, Bytes: len(m.Text)}
	if m.Role == ctxabi.Tool {
		s.Result, s.Tool = true, m.Name
	}
	for _, r := range m.Results {
		s.Result, s.Failed = true, s.Failed || r.IsError
		s.Text += "\n" + r.Text
	}
	for _, c := range m.Calls {
		s.Calls = append(s.Calls, notes.Call{Name: c.Name, Arguments: c.Arguments})
	}
	return s
}

// fold derives the notes.
func (p *planting) fold() {
	messages, events := 0, 0
	for _, r := range p.records {
		at := notes.Position{Event: r.said.Role == "event"}
		if at.Event {
			events++
			at.Line = events
		} else {
			messages++
			at.Line = messages
		}
		if r.phrase >= 0 {
			p.of[at.Source()] = r.phrase
		}
		p.notes.Add(at, r.said.Role, notes.Find(r.said))
	}
}

// size is how many bytes the derived files have.
func (p *planting) size(count func(string) int) int {
	n := len(p.notes.Todo()) + len(p.notes.Summary(derivedSummary, count))
	add := func(row any) {
		raw, err := json.Marshal(row)
		if err != nil {
			panic(err) // a row of strings
		}
		n += len(raw) + 1
	}
	for _, r := range p.notes.Facts() {
		add(r)
	}
	for _, r := range p.notes.Decisions() {
		add(r)
	}
	for _, r := range p.notes.Refs() {
		add(r)
	}
	return n
}

// derivedRow is a row of any of the files that say something.
type derivedRow struct {
	text, source string
	todo         bool
}

func (p *planting) rows() (out []derivedRow) {
	for _, r := range p.notes.Facts() {
		out = append(out, derivedRow{r.Text, r.Source, false})
	}
	for _, r := range p.notes.Decisions() {
		out = append(out, derivedRow{r.Decision, r.Source, false})
	}
	for line := range strings.Lines(p.notes.Todo()) {
		text, source, _ := cutLast(strings.TrimSuffix(line, ")\n"), "(")
		if i := strings.LastIndexByte(source, ' '); i >= 0 {
			source = source[i+1:]
		}
		out = append(out, derivedRow{strings.TrimSpace(text), source, true})
	}
	return out
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// judge counts what was found of the phrases, and which rows of their records say what was planted.
func (p *planting) judge(d *Derived, kinds map[string]*DerivedRecall) {
	found := make([]bool, len(p.phrases))
	for _, row := range p.rows() {
		i, planted := p.phraseOf(row.source)
		if !planted {
			continue
		}
		ph := &p.phrases[i]
		right, stale := ph.judge(row)
		if row.todo && ph.isList() && !right && !stale {
			continue // other items of a planted list
		}
		d.Rows++
		switch {
		case right && row.todo == (ph.kind == "todo"):
			d.True++
			found[i] = true
		case right:
			d.True++
		case stale:
			d.Stale++
			fallthrough
		default:
			d.lose(ph, true, row.text)
		}
	}
	for i := range p.phrases {
		ph := &p.phrases[i]
		k := kinds[ph.kind]
		if k == nil || !ph.wanted() {
			continue
		}
		k.Planted++
		if found[i] {
			k.Found++
		} else {
			d.lose(ph, false, ph.text())
		}
	}
}

// judge reports whether a row has what the phrase wants, and whether it has what the phrase takes back.
func (p *phrase) judge(row derivedRow) (right, stale bool) {
	done := row.todo && strings.HasPrefix(row.text, "- [x]")
	for _, t := range p.turns {
		for _, want := range t.wants {
			right = right || holds(row.text, want)
		}
		for _, gone := range t.gone {
			stale = stale || holds(row.text, gone) && !done
		}
	}
	return right, stale
}

// isList reports whether the phrase is a list of items.
func (p *phrase) isList() bool {
	return slices.ContainsFunc(p.turns, func(t turn) bool {
		return t.who == "call" || t.who == "event" || strings.Contains(t.text, "- [") || strings.Contains(t.text, "[x]")
	})
}

// lose notes a phrase once.
func (d *Derived) lose(p *phrase, wrong bool, text string) {
	key := lostKey{p.id, wrong}
	if d.lost == nil {
		d.lost = map[lostKey]bool{}
	}
	if !d.lost[key] {
		d.lost[key] = true
		d.Lost = append(d.Lost, DerivedLost{Half: d.Half, Kind: p.kind, Wrong: wrong, Text: text})
	}
}

type lostKey struct {
	phrase uint64
	wrong  bool
}

// phraseOf returns the phrase of a source: of the last record of a range.
func (p *planting) phraseOf(source string) (int, bool) {
	scheme, span, _ := strings.Cut(source, ":")
	if _, to, ok := strings.Cut(span, "-"); ok {
		span = to
	}
	i, ok := p.of[scheme+":"+span]
	return i, ok
}

// holds reports whether a row has what was planted, blanks and case aside, and not much else.
func holds(row, want string) bool {
	a, b := strings.ToLower(strings.Join(strings.Fields(row), " ")), strings.ToLower(strings.Join(strings.Fields(want), " "))
	return strings.Contains(a, b) && len(a) < len(b)+240
}

// wanted reports whether some row should say what was planted: not where all of it is taken back.
func (p *phrase) wanted() bool {
	return slices.ContainsFunc(p.turns, func(t turn) bool { return len(t.wants) > 0 })
}

func (p *phrase) text() string {
	var out []string
	for _, t := range p.turns {
		out = append(out, t.who+": "+t.text)
	}
	return strings.Join(out, " | ")
}

// WriteDerived writes the table. It returns the error of w.
func WriteDerived(w io.Writer, halves []*Derived) error {
	p := &printer{w: w}
	p.f("Planted into %s, %d times each: %d statements and %d distractors at a time.\n\n", plural(halves[0].Sessions, "session"), halves[0].Seeds, plantedPhrases, plantedDistractors)
	p.f("| phrases |")
	for _, k := range halves[0].Kinds {
		p.f(" %s |", k.Kind)
	}
	p.f(" recall | rows | precision | stale | size |\n| --- |%s\n", strings.Repeat(" ---: |", len(halves[0].Kinds)+5))
	for _, d := range halves {
		p.f("| %s |", d.Half)
		for _, k := range d.Kinds {
			p.f(" %s |", fmt.Sprintf("%.3f", ratio(k.Found, k.Planted)))
		}
		p.f(" %.3f | %d | %.3f | %d | %.4f |\n", d.Recall, d.Rows, d.Precision, d.Stale, d.Size)
	}
	return p.err
}
