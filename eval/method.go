package eval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/internal/tokens"
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
	slug string // as a flag takes it
	make func(s *Session, c *tokens.Counter, budget int, o *Options) Method
}

// Ctxfs is the name of the method that is compared with the others.
const Ctxfs = "ctxfs"

// makers are all methods, in the order of the table.
var makers = []maker{
	{"last N", "last", func(s *Session, c *tokens.Counter, budget int, _ *Options) Method {
		return &window{newChooser(s, c, budget), (*chooser).lastN}
	}},
	{"head + tail", "head-tail", func(s *Session, c *tokens.Counter, budget int, _ *Options) Method {
		return &window{newChooser(s, c, budget), (*chooser).headTail}
	}},
	{"first user + last N", "first-user", func(s *Session, c *tokens.Counter, budget int, _ *Options) Method {
		return &window{newChooser(s, c, budget), (*chooser).firstUser}
	}},
	{"observation masking", "masked", func(s *Session, c *tokens.Counter, budget int, _ *Options) Method {
		return &window{newChooser(s, c, budget), (*chooser).masked}
	}},
	{"BM25 half + tail", "bm25", func(s *Session, c *tokens.Counter, budget int, _ *Options) Method {
		return &window{newChooser(s, c, budget), (*chooser).ranked}
	}},
	{Ctxfs, Ctxfs, func(s *Session, c *tokens.Counter, budget int, o *Options) Method {
		return &compiled{s: s, counter: c, budget: budget, recipe: o.Recipe, without: o.Without}
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

// MethodSlugs returns the names by which [PackBy] knows the methods.
func MethodSlugs() (names []string) {
	for _, m := range makers {
		names = append(names, m.slug)
	}
	return names
}

// PackBy returns the pack that a method makes of a whole session, with the tokens of an encoding or a model. It
// returns an error if there is no such method or encoding, or if the pack cannot be made.
func PackBy(s *Session, slug string, budget int, encoding string) (Pack, error) {
	counter, err := tokens.For(encoding)
	if err != nil {
		return Pack{}, err
	}
	for _, m := range makers {
		if m.slug == slug {
			return m.make(s, counter, budget, &Options{}).Pack(s.Messages.Len())
		}
	}
	return Pack{}, fmt.Errorf("%q is no method; the methods are %s", slug, strings.Join(MethodSlugs(), ", "))
}
