package eval

import (
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// Method makes packs of the beginnings of one session, each of at least as many records as the one before.
type Method interface {
	// Pack is that of the first n records.
	Pack(n int) (Pack, error)
}

// Pack is what a method would send.
type Pack struct {
	Text   string
	Tokens int // exact
	// Only of ctxfs:
	Compactions int
	Journal     int           // tokens of the records that are shown
	Newest      int           // of the newest of them; 0 where it is not shown
	Wrong       []string      // promises that the pack does not keep
	Took        time.Duration // to make it
}

// maker makes a method for one session and budget.
type maker struct {
	Name string
	make func(s *Session, c *tokens.Counter, budget int, r *recipe.Recipe) Method
}

// Ctxfs is the name of the method that is compared with the others.
const Ctxfs = "ctxfs"

// makers are all methods, in the order of the table.
var makers = []maker{
	{"last N", func(s *Session, c *tokens.Counter, budget int, _ *recipe.Recipe) Method {
		return &window{newChooser(s, c, budget), (*chooser).lastN}
	}},
	{"head + tail", func(s *Session, c *tokens.Counter, budget int, _ *recipe.Recipe) Method {
		return &window{newChooser(s, c, budget), (*chooser).headTail}
	}},
	{"first user + last N", func(s *Session, c *tokens.Counter, budget int, _ *recipe.Recipe) Method {
		return &window{newChooser(s, c, budget), (*chooser).firstUser}
	}},
	{"observation masking", func(s *Session, c *tokens.Counter, budget int, _ *recipe.Recipe) Method {
		return &window{newChooser(s, c, budget), (*chooser).masked}
	}},
	{"BM25 half + tail", func(s *Session, c *tokens.Counter, budget int, _ *recipe.Recipe) Method {
		return &window{newChooser(s, c, budget), (*chooser).ranked}
	}},
	{Ctxfs, func(s *Session, c *tokens.Counter, budget int, r *recipe.Recipe) Method {
		return &compiled{s: s, counter: c, budget: budget, recipe: r}
	}},
}

func (o *Options) wants(figures ...Figure) bool {
	return len(o.Only) == 0 || slices.ContainsFunc(figures, func(f Figure) bool { return slices.Contains(o.Only, f) })
}

// makers are the methods that are wanted.
func (o *Options) makers() []maker {
	if o.Alone {
		return slices.DeleteFunc(slices.Clone(makers), func(m maker) bool { return m.Name != Ctxfs })
	}
	return makers
}
