package pack

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

// facts are what conditions look at.
type facts struct {
	task   string // as the place of the source sees it
	turns  int    // assistant records so far
	state  string
	exists map[string]bool
	limit  int // tokens of the budget; 0: no limit
}

// holds says whether a condition is true; none always is.
func (f *facts) holds(c *recipe.Condition) bool { return f.verdict(c, false) == yes }

// possible says whether a condition may be true at some moment of this session with these files
// and this budget: what the history, the task and the state say is left open.
func (f *facts) possible(c *recipe.Condition) bool { return f.verdict(c, true) != no }

type verdict int

const (
	no verdict = iota
	open
	yes
)

func is(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// verdict of a condition; with static set, what changes with the history or the state is open.
func (f *facts) verdict(c *recipe.Condition, static bool) verdict {
	switch {
	case c == nil:
		return yes
	case len(c.All) > 0:
		v := yes
		for i := range c.All {
			v = min(v, f.verdict(&c.All[i], static))
		}
		return v
	case len(c.Any) > 0:
		v := no
		for i := range c.Any {
			v = max(v, f.verdict(&c.Any[i], static))
		}
		return v
	case c.Not != nil:
		return yes - f.verdict(c.Not, static)
	}
	switch c.When {
	case recipe.FileExists:
		return is(f.exists[c.Path])
	case recipe.BudgetAtLeast:
		return is(f.limit == 0 || f.limit >= c.N)
	}
	if static {
		return open
	}
	switch c.When {
	case recipe.TaskContains:
		re := pattern(c.Pattern)
		return is(re != nil && re.MatchString(f.task))
	case recipe.StateIs:
		return is(slices.Contains(c.States, f.state))
	case recipe.TurnAtLeast:
		return is(f.turns >= c.N)
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

// DescribeCondition says a condition in words, as the report does.
func DescribeCondition(c *recipe.Condition) string { return describe(c) }

// describe says a condition in words, for the report.
func describe(c *recipe.Condition) string {
	several := func(word string, cs []recipe.Condition) string {
		parts := make([]string, len(cs))
		for i := range cs {
			parts[i] = describe(&cs[i])
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
		return "not(" + describe(c.Not) + ")"
	case c.When == recipe.TaskContains:
		return fmt.Sprintf("task_contains %q", c.Pattern)
	case c.When == recipe.FileExists:
		return "file_exists " + c.Path
	case c.When == recipe.StateIs:
		return "state_is " + strings.Join(c.States, ", ")
	}
	return fmt.Sprintf("%s %d", c.When, c.N)
}

// uses says whether a condition looks at what p is about.
func uses(c *recipe.Condition, p recipe.Predicate) bool {
	if c == nil {
		return false
	}
	for i := range c.All {
		if uses(&c.All[i], p) {
			return true
		}
	}
	for i := range c.Any {
		if uses(&c.Any[i], p) {
			return true
		}
	}
	return c.When == p || uses(c.Not, p)
}

// usesState says whether a condition of the recipe looks at the session's state.
func usesState(r *recipe.Recipe) bool {
	return slices.ContainsFunc(r.Sources, func(s recipe.Source) bool { return uses(s.Condition, recipe.StateIs) })
}
