package pack

import (
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// section is one section of a strategy with its content.
type section struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	Source  string `json:"source"`
}

// strategyMessage is one message as a model is sent it.
type strategyMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// chooseStrategy gives the strategy of a session. has says whether a section
// has content now. note, for the report, says why it is not the one that was asked for.
func chooseStrategy(r *recipe.Recipe, agent string, has func(recipe.Section) bool) (s recipe.Strategy, note string) {
	return recipe.Strategy{Name: "general"}, ""
}

// sectionText gives what a section says and where that is from; "" when there is
// nothing. file is that of a section with a path, nil when it is not there.
func sectionText(s recipe.Section, plan *ctxabi.Plan, diff []byte, file *File) (text, source string) {
	return "", ""
}

// strategyMessages gives the messages that sections make, or override (a recipe's messages).
func strategyMessages(system string, sections []section, override []recipe.Message) []strategyMessage {
	return nil
}
