package eval

import "fmt"

// state is where the replay of one method stands.
type state struct {
	Row
	method         Method
	last           Pack
	sent           string // the pack of the call of the model before
	shared, tokens int    // of the calls
}

// perCall are the figures that need the pack of each call of the model.
var perCall = []Figure{Prefix, Cost, Effective, Compacting}

// step compares a pack with the one before it.
func (s *state) step(r *replay, p Pack, n int) {
	counts := n >= r.first && r.inStretch(n)
	s.promises(r, p, n)
	if s.Method == Ctxfs {
		s.times = append(s.times, p.Took)
	}
	if counts {
		fill := s.Figures[Fill]
		fill.add(float64(p.Tokens) / float64(r.budget))
		s.Figures[Fill] = fill
	}
	if r.options.wants(perCall...) {
		if n < r.s.Messages.Len() && r.s.isAgent(n+1) {
			s.call(r, p, counts)
		}
		if s.last.Text != "" && counts && p.Compactions > s.last.Compactions {
			gain := float64(s.last.Journal-(p.Journal-p.Newest)) / float64(r.budget)
			if s.Compactions == 0 || gain < s.LeastGain {
				s.LeastGain = gain
			}
			s.Compactions += p.Compactions - s.last.Compactions
		}
	}
	s.last = p
}

// promises counts a pack of n records, and what it breaks.
func (s *state) promises(r *replay, p Pack, n int) {
	s.Packs++
	if p.Tokens > r.budget {
		s.Over++
	}
	if len(p.Wrong) > 0 {
		s.WrongPacks++
		if len(s.Wrong) < 3 {
			s.Wrong = append(s.Wrong, fmt.Sprintf("%s, %d records: %s", r.s.Name, n, p.Wrong[0]))
		}
	}
}

// call compares the pack that the model is asked with and the one that it was asked with before, if the call counts.
func (s *state) call(r *replay, p Pack, counts bool) {
	if s.sent != "" && counts {
		shared := r.counter.CountParts(p.Text[:commonPrefix(s.sent, p.Text)])
		s.Calls++
		s.shared += shared
		s.tokens += p.Tokens
		share := float64(s.shared) / float64(s.tokens)
		s.Figures[Prefix] = Mean{share, 1}
		s.Figures[Cost] = Mean{cached*share + written*(1-share), 1}
		effective := s.Figures[Effective]
		effective.add(cached*float64(shared) + written*float64(p.Tokens-shared))
		s.Figures[Effective] = effective
	}
	s.sent = p.Text
}

// finish adds what is known when all packs were seen.
func (s *state) finish() {
	if s.Method == Ctxfs && s.Calls > 0 {
		s.Figures[Compacting] = Mean{float64(s.Compactions) / float64(s.Calls), s.Calls}
	}
}

// What a token costs that a provider has in its cache, and one that it has not, in tokens at the list price.
const (
	cached  = 0.1
	written = 1.25
)

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
