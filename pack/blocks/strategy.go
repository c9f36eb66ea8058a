package blocks

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// general is the strategy of whoever has no other.
const general = "general"

// Section is one section of a strategy with its content.
type Section struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	Source  string `json:"source"`
}

// ChooseStrategy returns the strategy of a session: the one that the recipe names, else the one whose
// name is in the agent's ([byAgent]), else general. Where a section that it
// requires has no content (lacks says why), general is used, and wrong, for the report, says so.
func ChooseStrategy(r *recipe.Recipe, agent string, lacks func(recipe.Section) string) (s recipe.Strategy, wrong string) {
	if r == nil {
		r = recipe.Default()
	}
	name := r.Strategy
	if name == "" {
		name = byAgent(r.Strategies, agent)
	}
	s, ok := strategyNamed(r.Strategies, name)
	switch {
	case ok:
		for _, sec := range s.Sections {
			if !sec.Required {
				continue
			}
			if why := lacks(sec); why != "" {
				wrong = fmt.Sprintf("the strategy %s needs its section %s, but %s; %s is used", s.Name, sec.Name, why, general)
				break
			}
		}
	case name != general:
		wrong = fmt.Sprintf("there is no strategy %q; %s is used", name, general)
	}
	if !ok || wrong != "" {
		s, _ = strategyNamed(r.Strategies, general)
		s.Name = general
	}
	return s, wrong
}

func strategyNamed(all []recipe.Strategy, name string) (recipe.Strategy, bool) {
	i := slices.IndexFunc(all, func(s recipe.Strategy) bool { return s.Name == name })
	if i < 0 {
		return recipe.Strategy{}, false
	}
	return all[i], true
}

// byAgent returns the name of the strategy that stands in an agent's name as whole words, whatever
// their case: developer-2, senior.developer and team_developer are developers, developers is not. The longest name
// wins, then the one furthest behind, for a code-architect-reviewer reviews. Without one it is general.
func byAgent(all []recipe.Strategy, agent string) string {
	best, length, at := general, 0, -1
	words := nameWords(agent)
	for _, s := range all {
		name := nameWords(s.Name)
		if len(name) == 0 {
			continue
		}
		for i := len(words) - len(name); i >= 0; i-- {
			if !slices.Equal(words[i:i+len(name)], name) {
				continue
			}
			if len(name) > length || len(name) == length && i > at {
				best, length, at = s.Name, len(name), i
			}
			break
		}
	}
	return best
}

func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// SectionText returns what a section says and where that is from; "" when there is
// nothing. file is that of a section with a path, nil when it is not there.
func SectionText(s recipe.Section, plan *ctxabi.Plan, diff []byte, file *File) (text, source string) {
	switch {
	case s.Text != "":
		text = s.Text
	case s.Path != "":
		if file != nil && file.Reason == "" && !file.Pending {
			text = string(file.Data)
		}
	case s.From == "review.diff":
		if strings.TrimSpace(string(diff)) != "" {
			text = fenced("diff", strings.TrimRight(string(diff), "\n"))
		}
	default:
		text = planSection(s.From, plan)
	}
	source = sectionSource(s)
	if s.Path != "" && file != nil {
		source = file.Path
	}
	if strings.TrimSpace(text) == "" {
		return "", source
	}
	return strings.TrimRight(text, "\r\n"), source
}

// sectionSource returns where a section's content is from.
func sectionSource(s recipe.Section) string {
	switch {
	case s.Text != "":
		return "recipe"
	case s.Path != "":
		return s.Path
	case s.From == "review.diff":
		return ctxabi.DiffFile
	}
	part := strings.TrimPrefix(s.From, "plan.")
	switch part {
	case "task":
		part = "tasks[current]"
	case "files", "steps", "acceptance":
		part = "tasks[current]." + part
	}
	return ctxabi.PlanFile + " " + part
}

// WhyEmpty returns what is to be done about a section without content.
func WhyEmpty(s recipe.Section, plan *ctxabi.Plan) string {
	part, ofPlan := strings.CutPrefix(s.From, "plan.")
	switch {
	case s.From == "review.diff":
		return ctxabi.DiffFile + " is not there"
	case !ofPlan:
		return cmp.Or(s.Path, "its text") + " has no content"
	case plan == nil:
		return "there is no " + ctxabi.PlanFile
	case part == "issue" || part == "design" || part == "constraints":
		return ctxabi.PlanFile + " has no " + part
	case plan.Current() == nil:
		return ctxabi.PlanFile + " has no current task: set its current_task_id"
	case part == "task":
		return "the current task of " + ctxabi.PlanFile + " has no title and no description"
	}
	return "the current task of " + ctxabi.PlanFile + " has no " + part
}

// planSection returns one part of a plan as a prompt shows it.
func planSection(from string, plan *ctxabi.Plan) string {
	if plan == nil {
		return ""
	}
	switch from {
	case "plan.issue":
		return titled(plan.Issue.Title, plan.Issue.Description)
	case "plan.design":
		return plan.Design
	case "plan.constraints":
		return bullets(plan.Constraints)
	}
	task := plan.Current()
	if task == nil {
		return ""
	}
	switch from {
	case "plan.task":
		return titled(task.Title, task.Description)
	case "plan.files":
		var lines []string
		for _, f := range task.Files {
			lines = append(lines, "- "+record.OneLine(f.Operation)+": "+codeSpan(f.Path))
		}
		return strings.Join(lines, "\n")
	case "plan.steps":
		return stepsText(task.Steps)
	case "plan.acceptance":
		return bullets(task.Acceptance)
	}
	return ""
}

// titled is a title and, below a blank line, a description; one alone where there is no other.
func titled(title, description string) string {
	title, description = strings.TrimSpace(title), strings.TrimRight(description, "\r\n")
	if title == "" || strings.TrimSpace(description) == "" {
		return title + description
	}
	return title + "\n\n" + description
}

// bullets is a list; lines of an item behind its first are indented.
func bullets(items []string) string {
	var lines []string
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			lines = append(lines, "- "+strings.ReplaceAll(item, "\n", "\n  "))
		}
	}
	return strings.Join(lines, "\n")
}

// stepsText numbers steps. Of one that is done the description alone is left.
func stepsText(steps []ctxabi.PlanStep) string {
	var parts []string
	for i, s := range steps {
		text := fmt.Sprintf("### Step %d: %s", i+1, record.OneLine(s.Description))
		if s.Done {
			parts = append(parts, text+" (done)")
			continue
		}
		if s.Code != "" {
			text += "\n" + fenced("", s.Code)
		}
		if s.Command != "" {
			text += "\nRun:" + commandText(s.Command)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

// commandText is a command of one line as a code span, a longer one in a fence below; it follows "Run:".
func commandText(command string) string {
	if command = strings.TrimSpace(command); strings.Contains(command, "\n") {
		return "\n" + fenced("", command)
	}
	return " " + codeSpan(command)
}

// fenced is text between fences longer than any run of backticks in it.
func fenced(language, text string) string {
	fence := strings.Repeat("`", max(3, record.LongestRun(text, '`')+1))
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

// codeSpan is text in one line between more backticks than it has side by side.
func codeSpan(text string) string {
	text = record.OneLine(text)
	n := record.LongestRun(text, '`')
	if n == 0 {
		return "`" + text + "`"
	}
	mark := strings.Repeat("`", n+1)
	return mark + " " + text + " " + mark
}

// StrategyMessages returns the messages that a strategy makes: override, which a recipe may
// hold, as it stands; else the system prompt, where there is one, and a user message of the sections that
// have content, each below "## <name>".
func StrategyMessages(system string, sections []Section, override []recipe.Message) (messages []native.Message) {
	for _, m := range override {
		messages = append(messages, native.Message(m))
	}
	if len(override) > 0 {
		return messages
	}
	if system = strings.TrimRight(system, "\r\n"); strings.TrimSpace(system) != "" {
		messages = append(messages, native.Message{Role: "system", Content: system})
	}
	var parts []string
	for _, s := range sections {
		if s.Content != "" {
			parts = append(parts, "## "+record.OneLine(s.Name)+"\n"+strings.TrimRight(s.Content, "\r\n"))
		}
	}
	if len(parts) > 0 {
		messages = append(messages, native.Message{Role: "user", Content: strings.Join(parts, "\n\n")})
	}
	return messages
}

// StrategyOf returns the name of the strategy that a session of agent has now, and,
// where that is not the one that was asked for, why. planFile and diff are
// context/plan.json and context/review.diff, empty when they are not there; the
// files that sections name are taken to be there.
func StrategyOf(r *recipe.Recipe, agent string, planFile, diff []byte) (name, wrong string) {
	var plan *ctxabi.Plan
	if len(bytes.TrimSpace(planFile)) > 0 {
		plan, _ = ctxabi.ParsePlan(planFile)
	}
	s, wrong := ChooseStrategy(r, agent, func(s recipe.Section) string {
		if text, _ := SectionText(s, plan, diff, nil); text != "" || s.Path != "" {
			return ""
		}
		return WhyEmpty(s, plan)
	})
	return s.Name, wrong
}
