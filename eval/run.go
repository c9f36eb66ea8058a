package eval

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/section"
)

// Options say what is measured.
type Options struct {
	Budgets   []int
	Cuts      int // at most so many a session; 0: all
	Encoding  string
	Recipe    *recipe.Recipe // nil: the default one
	Without   section.Set    // sections that packs of ctxfs do not have
	Only      []Figure       // none: all
	Stretches Stretches      // the half that is measured
	Alone     bool           // ctxfs without the methods that it is compared with
	Lost      bool           // note what is lost
	Jobs      int
	Progress  func(done, of int) // called by one goroutine at a time; nil: not
}

// SessionResult is what one session gave.
type SessionResult struct {
	Set      string    `json:"set"`
	Name     string    `json:"name"`
	Messages int       `json:"messages"`
	Tokens   int       `json:"tokens"` // of all its records in full
	Rows     []Row     `json:"rows"`   // for each budget all methods; with no cuts where the history fits
	Outputs  []Outputs `json:"outputs,omitempty"`

	lost []Lost
}

// Result is all that was measured.
type Result struct {
	Encoding  string          `json:"encoding"`
	Budgets   []int           `json:"budgets"`
	Cuts      int             `json:"cuts_at_most"`
	Stretches Stretches       `json:"stretches,omitempty"`
	Rows      []Row           `json:"rows"` // means over sessions
	Outputs   []Outputs       `json:"outputs,omitempty"`
	Sessions  []SessionResult `json:"sessions"`
	Lost      []Lost          `json:"lost,omitempty"`
	Builds    []Builds        `json:"-"` // times differ from run to run
}

// Builds is how long ctxfs took for its packs at one budget.
type Builds struct {
	Budget   int
	Packs    int
	P50, P99 time.Duration
}

// Run replays all sessions. It returns the first error of a method, or ctx.Err().
func Run(ctx context.Context, sessions []*Session, o Options) (*Result, error) {
	counter, err := tokens.For(o.Encoding)
	if err != nil {
		return nil, err
	}
	out := &Result{Encoding: counter.Encoding(), Budgets: o.Budgets, Cuts: o.Cuts, Stretches: o.Stretches, Sessions: make([]SessionResult, len(sessions))}
	replays := make([]*replay, 0, len(sessions)*len(o.Budgets))
	// The longest first, so that none of them is left over at the end.
	order := make([]int, len(sessions))
	for i, s := range sessions {
		order[i] = i
		out.Sessions[i] = SessionResult{Set: s.Set, Name: s.Name, Messages: s.Messages.Len(), Tokens: sum(s.tokens)}
		for _, budget := range o.Budgets {
			replays = append(replays, &replay{s: s, budget: budget, options: &o, counter: counter})
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return out.Sessions[b].Tokens - out.Sessions[a].Tokens })
	done := make(chan struct{})
	told := make(chan struct{})
	go func() {
		defer close(told)
		n := 0
		for range done {
			if n++; o.Progress != nil {
				o.Progress(n, len(replays))
			}
		}
	}()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, o.Jobs))
	for _, i := range order {
		for k := range o.Budgets {
			r := replays[i*len(o.Budgets)+k]
			g.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				err := r.run()
				r.past = nil // it is large
				done <- struct{}{}
				return err
			})
		}
		if o.wants(ToolOutputs) {
			g.Go(func() (err error) {
				out.Sessions[i].Outputs, err = sessions[i].outputs(newReader(), o.Stretches)
				return err
			})
		}
	}
	err = g.Wait()
	close(done)
	<-told
	if err != nil {
		return nil, err
	}
	for i, r := range replays {
		s := &out.Sessions[i/len(o.Budgets)]
		for _, state := range r.states {
			s.Rows = append(s.Rows, state.Row)
		}
		s.lost = append(s.lost, r.lost...)
	}
	for _, s := range out.Sessions {
		out.Lost = append(out.Lost, s.lost...)
	}
	out.Rows, out.Builds = means(out.Sessions, o.Budgets)
	out.Outputs = meanOutputs(out.Sessions)
	return out, nil
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

// means returns the means over sessions, a row for each budget and method.
func means(sessions []SessionResult, budgets []int) (rows []Row, builds []Builds) {
	methods := len(sessions[0].Rows) / len(budgets)
	for b, budget := range budgets {
		var times []time.Duration
		for m := range methods {
			all := Row{Method: sessions[0].Rows[m].Method, Budget: budget, Figures: map[Figure]Mean{}}
			for _, s := range sessions {
				row := &s.Rows[b*methods+m]
				for f, v := range row.Figures {
					if v.N > 0 {
						mean := all.Figures[f]
						mean.add(v.Mean)
						all.Figures[f] = mean
					}
				}
				if row.Compactions > 0 && (all.Compactions == 0 || row.LeastGain < all.LeastGain) {
					all.LeastGain = row.LeastGain
				}
				all.Cuts += row.Cuts
				all.Questions += row.Questions
				all.Packs += row.Packs
				all.Calls += row.Calls
				all.Over += row.Over
				all.WrongPacks += row.WrongPacks
				all.Compactions += row.Compactions
				if len(all.Wrong) < 3 {
					all.Wrong = append(all.Wrong, row.Wrong...)
				}
				times = append(times, row.times...)
			}
			rows = append(rows, all)
		}
		if slices.Sort(times); len(times) > 0 {
			builds = append(builds, Builds{budget, len(times), times[len(times)/2], times[(len(times)-1)*99/100]})
		}
	}
	return rows, builds
}

func meanOutputs(sessions []SessionResult) (out []Outputs) {
	for _, s := range sessions {
		for i, o := range s.Outputs {
			if i == len(out) {
				out = append(out, Outputs{Method: o.Method, Cap: o.Cap})
			}
			into := &out[i]
			into.Outputs += o.Outputs
			for _, pair := range []struct{ from, to *Mean }{{&o.Needles, &into.Needles}, {&o.Names, &into.Names}, {&o.Messages, &into.Messages}} {
				if pair.from.N > 0 {
					pair.to.add(pair.from.Mean)
				}
			}
		}
	}
	return out
}
