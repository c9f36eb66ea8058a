package blocks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

// Facts are what conditions look at.
type Facts struct {
	Task   string // as the place of the source sees it
	Turns  int    // assistant records so far
	State  string
	Exists map[string]bool
	Limit  int // tokens of the budget; 0: no limit
}

// Holds reports whether a condition is true; none always is.
func (f *Facts) Holds(c *recipe.Condition) bool { return f.Verdict(c, false) == Yes }

// Possible reports whether a condition may be true at some moment of this session with these files
// and this budget: what the history, the task and the state say is left open.
func (f *Facts) Possible(c *recipe.Condition) bool { return f.Verdict(c, true) != no }

type Verdict int

const (
	no Verdict = iota
	open
	Yes
)

func is(b bool) Verdict {
	if b {
		return Yes
	}
	return no
}

// Verdict of a condition; with static set, what changes with the history or the state is open.
func (f *Facts) Verdict(c *recipe.Condition, static bool) Verdict {
	switch {
	case c == nil:
		return Yes
	case len(c.All) > 0:
		v := Yes
		for i := range c.All {
			v = min(v, f.Verdict(&c.All[i], static))
		}
		return v
	case len(c.Any) > 0:
		v := no
		for i := range c.Any {
			v = max(v, f.Verdict(&c.Any[i], static))
		}
		return v
	case c.Not != nil:
		return Yes - f.Verdict(c.Not, static)
	}
	switch c.When {
	case recipe.FileExists:
		return is(f.Exists[c.Path])
	case recipe.BudgetAtLeast:
		return is(f.Limit == 0 || f.Limit >= c.N)
	}
	if static {
		return open
	}
	switch c.When {
	case recipe.TaskContains:
		re := pattern(c.Pattern)
		return is(re != nil && re.MatchString(f.Task))
	case recipe.StateIs:
		return is(slices.Contains(c.States, f.State))
	case recipe.TurnAtLeast:
		return is(f.Turns >= c.N)
	}
	return no
}

// patterns are the compiled ones: recipes are few, packs are many.
var patterns sync.Map // string → *regexp.Regexp

// pattern compiles one of task_contains; nil when it does not compile, which a recipe that was checked rules out.
func pattern(expr string) *regexp.Regexp {
	if re, ok := patterns.Load(expr); ok {
		return re.(*regexp.Regexp)
	}
	re, err := regexp.Compile("(?i)" + expr)
	if err != nil {
		return nil
	}
	patterns.Store(expr, re)
	return re
}

// Describe returns a condition in words, for the report.
func Describe(c *recipe.Condition) string {
	several := func(word string, cs []recipe.Condition) string {
		parts := make([]string, len(cs))
		for i := range cs {
			parts[i] = Describe(&cs[i])
		}
		return word + "(" + strings.Join(parts, ", ") + ")"
	}
	switch {
	case c == nil:
		return "always"
	case len(c.All) > 0:
		return several("all", c.All)
	case len(c.Any) > 0:
		return several("any", c.Any)
	case c.Not != nil:
		return "not(" + Describe(c.Not) + ")"
	case c.When == recipe.TaskContains:
		return fmt.Sprintf("task_contains %q", c.Pattern)
	case c.When == recipe.FileExists:
		return "file_exists " + c.Path
	case c.When == recipe.StateIs:
		return "state_is " + strings.Join(c.States, ", ")
	}
	return fmt.Sprintf("%s %d", c.When, c.N)
}

// Uses reports whether a condition looks at what p is about.
func Uses(c *recipe.Condition, p recipe.Predicate) bool {
	if c == nil {
		return false
	}
	for i := range c.All {
		if Uses(&c.All[i], p) {
			return true
		}
	}
	for i := range c.Any {
		if Uses(&c.Any[i], p) {
			return true
		}
	}
	return c.When == p || Uses(c.Not, p)
}

// UsesState reports whether a condition of the recipe looks at the session's state.
func UsesState(r *recipe.Recipe) bool {
	return slices.ContainsFunc(r.Sources, func(s recipe.Source) bool { return Uses(s.Condition, recipe.StateIs) })
}
