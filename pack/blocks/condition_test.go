package blocks

import (
	"testing"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

func TestConditions(t *testing.T) {
	cond := func(when recipe.Predicate, pattern string, n int) recipe.Condition {
		return recipe.Condition{When: when, Pattern: pattern, Path: pattern, States: []string{pattern}, N: n}
	}
	yes, no := cond(recipe.BudgetAtLeast, "", 10), cond(recipe.BudgetAtLeast, "", 10_000)
	open := cond(recipe.TurnAtLeast, "", 3)
	f := &Facts{Task: "Please write the API\nof it", Turns: 3, State: "running", Exists: map[string]bool{"a": true}, Limit: 1000}
	for _, c := range []struct {
		name            string
		c               recipe.Condition
		holds, possible bool
	}{
		{"task", cond(recipe.TaskContains, "api|endpoint", 0), true, true},
		{"task not", cond(recipe.TaskContains, "^endpoint", 0), false, true},
		{"bad pattern", cond(recipe.TaskContains, "(", 0), false, true},
		{"file", cond(recipe.FileExists, "a", 0), true, true},
		{"file not", cond(recipe.FileExists, "b", 0), false, false},
		{"state", cond(recipe.StateIs, "running", 0), true, true},
		{"state not", cond(recipe.StateIs, "idle", 0), false, true},
		{"turn", open, true, true},
		{"turn not", cond(recipe.TurnAtLeast, "", 4), false, true},
		{"budget", yes, true, true},
		{"budget not", no, false, false},
		{"all", recipe.Condition{All: []recipe.Condition{yes, open}}, true, true},
		{"all not", recipe.Condition{All: []recipe.Condition{open, no}}, false, false},
		{"any", recipe.Condition{Any: []recipe.Condition{no, yes}}, true, true},
		{"any not", recipe.Condition{Any: []recipe.Condition{no, no}}, false, false},
		{"not", recipe.Condition{Not: &no}, true, true},
		{"not not", recipe.Condition{Not: &yes}, false, false},
		{"not open", recipe.Condition{Not: &open}, false, true},
		{"unknown", cond("weather_is", "fine", 0), false, true},
	} {
		if got := f.Holds(&c.c); got != c.holds {
			t.Errorf("%s holds: %v", c.name, got)
		}
		if got := f.Possible(&c.c); got != c.possible {
			t.Errorf("%s is possible: %v", c.name, got)
		}
		if Describe(&c.c) == "" {
			t.Errorf("%s has no description", c.name)
		}
	}
	if !f.Holds(nil) || !(&Facts{}).Holds(&no) || Describe(nil) != "always" {
		t.Error("no condition, or no limit of the budget, does not hold")
	}
	if got := Describe(&recipe.Condition{Any: []recipe.Condition{{Not: &no}, {All: []recipe.Condition{yes}}}}); got != "any(not(budget_at_least 10000), all(budget_at_least 10))" {
		t.Error(got)
	}
}
