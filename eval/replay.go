package eval

import (
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/internal/tokens"
)

// Mean is a mean of some values.
type Mean struct {
	Mean float64 `json:"mean"`
	N    int     `json:"n"` // how many; of 0 there is none
}

func (m *Mean) add(v float64) {
	m.Mean = (m.Mean*float64(m.N) + v) / float64(m.N+1)
	m.N++
}

// addShare adds a share of something; one of nothing says nothing.
func (m *Mean) addShare(s Share) {
	if s.Of > 0 {
		m.add(float64(s.Kept) / float64(s.Of))
	}
}

// Figure names one column of the table.
type Figure string

// The figures of a method at a budget; docs/eval.md says what they mean.
const (
	FRC    Figure = "frc"
	FRCctx Figure = "frcctx"
	FarCtx Figure = "farctx"
	FWC    Figure = "fwc"
	F5G    Figure = "f5g"
	Prefix Figure = "prefix"
	Cost   Figure = "cost"
	// Effective is what a call of the model costs, in tokens at the list price.
	Effective Figure = "effective_tokens"
	// Compacting is how many compactions come to a call of the model. Only ctxfs has it.
	Compacting Figure = "compactions_per_call"
	Fill       Figure = "fill"
	EvR        Figure = "evr"
	AnsIn      Figure = "ansin"
	// ToolOutputs stands for the table of shortened outputs.
	ToolOutputs Figure = "outputs"
)

// Row is what one method reached at one budget.
type Row struct {
	Method    string          `json:"method"`
	Budget    int             `json:"budget"`
	Cuts      int             `json:"cuts"`
	Questions int             `json:"questions,omitempty"` // that were asked
	Figures   map[Figure]Mean `json:"figures"`
	Packs     int             `json:"packs"`
	Calls     int             `json:"calls"`       // of the model, whose packs are compared with the one before
	Over      int             `json:"over_budget"` // packs that exceed it
	// Only of ctxfs:
	Wrong       []string `json:"broken_promises,omitempty"` // the first few
	WrongPacks  int      `json:"packs_with_broken_promises"`
	Compactions int      `json:"compactions"`
	// LeastGain is the least share of the budget that a compaction freed; 0 without one.
	LeastGain float64 `json:"least_gain"`

	times []time.Duration
}

func (r *Row) add(f Figure, s Share) {
	m := r.Figures[f]
	m.addShare(s)
	r.Figures[f] = m
}

// Lost is an identifier that the agent used after a cut, and that the pack of ctxfs did not have in its context.
type Lost struct {
	Session    string `json:"session"`
	Budget     int    `json:"budget"`
	Cut        int    `json:"cut"` // records before it
	Identifier string `json:"identifier"`
	Record     int    `json:"record"` // the last one before the cut that had it
	Role       string `json:"role"`   // of that record
	Tool       string `json:"tool,omitempty"`
	Back       int    `json:"back"`    // how many messages ago it was
	Present    bool   `json:"present"` // it stands in the pack, but not in its line
}

// replay is one session at one budget.
type replay struct {
	s       *Session
	budget  int
	options *Options
	counter *tokens.Counter

	first  int   // the least number of records that exceed the budget; 0: they never do
	calls  []int // for each record, how many calls of the model came before the next one
	past   *past
	states []*state
	lost   []Lost
}

// ahead is how many of the agent's next messages say what it needed.
const ahead = 5

func (r *replay) run() error {
	total := r.counter.Count(conversation)
	for i, n := range r.s.tokens {
		if total += n; total > r.budget {
			r.first = i + 1
			break
		}
	}
	for _, m := range r.options.makers() {
		r.states = append(r.states, &state{Row: Row{Method: m.Name, Budget: r.budget, Figures: map[Figure]Mean{}}, method: m.make(r.s, r.counter, r.budget, r.options)})
	}
	if r.first == 0 {
		return nil
	}
	r.past = newPast(newReader())
	r.calls = r.s.callsBefore()
	cuts := r.cuts()
	if r.options.wants(perCall...) {
		for n := r.begin(); n <= r.s.Messages.Len(); n++ {
			if !r.inStretch(n) && !r.beforeStretch(n) {
				continue
			}
			if err := r.at(n, slices.Contains(cuts, n)); err != nil {
				return err
			}
		}
		for _, s := range r.states {
			s.finish()
		}
	} else if r.options.wants(FRC, FRCctx, FarCtx, FWC, F5G) {
		for _, n := range cuts {
			if err := r.at(n, true); err != nil {
				return err
			}
		}
	}
	if r.options.wants(EvR, AnsIn) {
		return r.questions()
	}
	return nil
}

// begin is where packs are compared from: the last call of the model whose history fits, or the record before the first that does not.
func (r *replay) begin() int {
	for n := r.first - 1; n > 0; n-- {
		if r.s.isAgent(n + 1) {
			return n
		}
	}
	return max(1, r.first-1)
}

// cuts chooses where to look: evenly among the places where the agent speaks next and the history exceeds the budget.
func (r *replay) cuts() []int {
	var all []int
	for n := r.first; n < r.s.Messages.Len(); n++ {
		if r.s.isAgent(n+1) && r.inStretch(n) {
			all = append(all, n)
		}
	}
	most := r.options.Cuts
	if most == 0 || len(all) <= most {
		return all
	}
	out := make([]int, most)
	for i := range out {
		out[i] = all[(2*i+1)*len(all)/(2*most)]
	}
	return out
}

// at takes the pack of each method when n records are there.
func (r *replay) at(n int, cut bool) error {
	var asked need
	if cut {
		for r.past.n < n {
			r.past.add(r.s.texts[r.past.n])
		}
		asked = r.past.needs(r.next(n))
	}
	for _, s := range r.states {
		p, err := s.method.Pack(n)
		if err != nil {
			return err
		}
		s.step(r, p, n)
		if !cut {
			continue
		}
		s.Cuts++
		q := r.past.judge(asked, p.Text)
		s.add(FRC, q.FRC)
		s.add(FRCctx, q.FRCctx)
		s.add(FarCtx, q.FarCtx)
		s.add(FWC, q.FWC)
		s.add(F5G, q.F5G)
		if s.Method == Ctxfs && r.options.Lost {
			r.note(asked, p.Text)
		}
	}
	return nil
}

// next returns what the agent's next messages after record n say.
func (r *replay) next(n int) (texts []string) {
	for line := n + 1; line <= r.s.Messages.Len() && len(texts) < ahead; line++ {
		if r.s.isAgent(line) {
			texts = append(texts, r.s.spoken(line))
		}
	}
	return texts
}

// note keeps what was lost.
func (r *replay) note(asked need, text string) {
	present, inContext := r.past.kept(asked.ids, r.past.r.read(text))
	for _, id := range asked.ids {
		if inContext[id] {
			continue
		}
		line := r.past.seen[id]
		m := &r.s.said[line-1]
		r.lost = append(r.lost, Lost{
			Session: r.s.Set + "/" + r.s.Name, Budget: r.budget, Cut: r.past.n, Identifier: r.past.r.name(id),
			Record: line, Role: m.Role.String(), Tool: m.Name, Back: r.past.n - line + 1, Present: present[id],
		})
	}
}
