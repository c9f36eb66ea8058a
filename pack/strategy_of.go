package pack

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// StrategyOf gives the name of the strategy that a session of agent has now, and,
// where that is not the one that was asked for, why. planFile and diff are
// context/plan.json and context/review.diff, empty when they are not there; the
// files that sections name are taken to be there.
func StrategyOf(r *recipe.Recipe, agent string, planFile, diff []byte) (name, note string) {
	plan, err := ctxabi.ParsePlan(planFile)
	if err != nil {
		plan = &ctxabi.Plan{}
	}
	s, note := chooseStrategy(r, agent, func(s recipe.Section) bool {
		if s.From == "" {
			return true
		}
		text, _ := sectionText(s, plan, diff, nil)
		return text != ""
	})
	return s.Name, note
}
