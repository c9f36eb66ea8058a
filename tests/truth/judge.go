package truth

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/nativetest"
)

// Prompt is a rendered prompt: pack.md and the request bodies of providers by their format.
type Prompt struct {
	Marks    ctxabi.Marks // of the session
	Markdown string
	Bodies   map[string]string
}

// Findings returns one line for each required text that a prompt lacks and for each forbidden text
// that it contains. It returns an error if a request body is not JSON.
func (c *Case) Findings(p Prompt) (wrong []string, err error) {
	system, err := p.system()
	if err != nil {
		return nil, err
	}
	spoken, problem := speakers(p.Marks, p.Markdown)
	if problem != "" {
		wrong = append(wrong, "pack.md: "+problem)
	}
	for _, s := range c.Required {
		if !s.found(p, spoken, system) {
			wrong = append(wrong, "missing: "+s.String())
		}
	}
	for _, s := range c.Forbidden {
		if s.found(p, spoken, system) {
			wrong = append(wrong, "forbidden: "+s.String())
		}
	}
	more, err := c.authority(p, spoken, system)
	return append(wrong, more...), err
}

// authority returns a line for each place in which a tool's result has the authority of the system or of
// the user, and for each text of a request body whose marks are wrong.
func (c *Case) authority(p Prompt, spoken map[string]string, system []string) (wrong []string, err error) {
	var hidden []string // lines of results that nobody else says
	others := c.others()
	for _, r := range c.Records {
		if r.Result == nil {
			continue
		}
		for line := range strings.Lines(r.Result.Text) {
			line = fold(line)
			if len(line) >= 12 && !strings.Contains(others, line) && !c.isAnswer(line) {
				hidden = append(hidden, line)
			}
		}
	}

	users, err := p.userWords()
	if err != nil {
		return nil, err
	}
	texts := append(append(users, spoken["user"]), system...)
	for _, text := range texts {
		text = fold(text)
		for _, line := range hidden {
			if strings.Contains(text, line) {
				wrong = append(wrong, fmt.Sprintf("a result speaks as the user or the system: %q", line))
			}
		}
	}

	for format, body := range p.Bodies {
		for _, text := range nativetest.Texts([]byte(body)) {
			if _, problem := p.Marks.Divide(text); problem != "" {
				wrong = append(wrong, format+": "+problem)
			}
		}
	}
	return wrong, nil
}

// isAnswer reports whether a line of a result is an answer of the user, by a statement of the case.
func (c *Case) isAnswer(line string) bool {
	return slices.ContainsFunc(c.Required, func(s Statement) bool { return s.By == "user" && s.in(line) })
}

// others returns what the user and the agent say in the story, with the arguments of calls.
func (c *Case) others() string {
	var all strings.Builder
	for _, r := range c.Records {
		all.WriteString(r.User + "\n" + r.Agent + "\n")
		if r.Call != nil {
			fmt.Fprintln(&all, r.Call.Say, strings.Join(strs(r.Call.Args), "\n"))
		}
	}
	return fold(all.String())
}

// userWords returns the texts under the user's label in each request body.
func (p Prompt) userWords() (texts []string, err error) {
	for _, body := range p.Bodies {
		for _, text := range nativetest.Texts([]byte(body)) {
			parts, _ := p.Marks.Divide(text)
			for _, part := range parts {
				if part.Label == ctxabi.UserWords {
					texts = append(texts, cited.ReplaceAllString(part.Text, ""))
				}
				if part.Label == ctxabi.OldRecords {
					texts = append(texts, byRole(part.Text)["user"])
				}
			}
		}
	}
	return texts, nil
}

func (s Statement) String() string {
	text := fmt.Sprintf("%q", s.Text)
	if s.Changed {
		text += " marked as changed"
	}
	for _, part := range [][2]string{{" by ", s.By}, {" near ", s.Near}, {" in role ", s.Role}} {
		if part[1] != "" {
			text += part[0] + part[1]
		}
	}
	return text
}

// found reports whether a prompt contains the text where the statement looks for it.
func (s Statement) found(p Prompt, spoken map[string]string, system []string) bool {
	texts := []string{p.Markdown}
	switch {
	case s.Role == "system":
		texts = system
	case s.By != "":
		texts = []string{spoken[s.By]}
	}
	return slices.ContainsFunc(texts, s.in)
}

// in reports whether a text contains the statement's text, in a line with Near if Near is set.
func (s Statement) in(text string) bool {
	if s.Changed {
		return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
			return changedMark.MatchString(line) && s.pattern.MatchString(fold(line))
		})
	}
	if s.Near == "" {
		return s.pattern.MatchString(fold(text))
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, s.Near) && s.pattern.MatchString(fold(line)) {
			return true
		}
	}
	return false
}

// changedMark is the mark behind a statement that a later message changed.
var changedMark = regexp.MustCompile(`\[changed at e?\d+\]`)

func fold(text string) string { return strings.Join(strings.Fields(text), " ") }

var (
	// heading matches the heading of a record, with its role.
	heading = regexp.MustCompile(`^## e?\d+ (user|assistant|tool|tool_call|system|developer)\b`)
	// block matches the heading of a block.
	block = regexp.MustCompile(`^# Context Block: `)
	// cited matches the sentence of the agent that a message of the user answers.
	cited = regexp.MustCompile(`(?m) \(answering the assistant: "(.*)"\)( · \S+)?$`)
	// fence matches a line that opens or closes quoted content.
	fence = regexp.MustCompile("^(?:`{3,}|~{3,})")
)

// rolesOf has the speakers of records by their roles.
var rolesOf = map[string]string{"user": "user", "assistant": "agent", "tool_call": "agent", "tool": "quoted"}

// labelsOf has the speakers of labels.
var labelsOf = map[ctxabi.Label]string{ctxabi.UserWords: "user", ctxabi.Notes: "agent", ctxabi.QuotedData: "quoted"}

// speakers divides pack.md by the speaker: by its marks, and outside of them, and inside of folded
// records, by the roles of records. Results of tools count as quoted. Other lines have no speaker.
func speakers(m ctxabi.Marks, markdown string) (spoken map[string]string, problem string) {
	spoken = map[string]string{}
	parts, problem := m.Divide(markdown)
	for _, p := range parts {
		if speaker := labelsOf[p.Label]; speaker != "" {
			spoken[speaker] += p.Text
			continue
		}
		for role, text := range byRole(p.Text) {
			spoken[role] += text
		}
	}
	for _, answer := range cited.FindAllStringSubmatch(spoken["user"], -1) {
		spoken["agent"] += answer[1] + "\n"
	}
	spoken["user"] = cited.ReplaceAllString(spoken["user"], "")
	return spoken, problem
}

// byRole divides records by the speaker of their headings.
func byRole(text string) map[string]string {
	by := map[string]string{}
	speaker, closing := "", ""
	for line := range strings.Lines(text) {
		switch marker := fence.FindString(line); {
		case closing != "":
			if strings.TrimSpace(line) == closing {
				closing = ""
			}
		case marker != "":
			closing = marker
		case block.MatchString(line):
			speaker = ""
		default:
			if m := heading.FindStringSubmatch(line); m != nil {
				speaker = rolesOf[m[1]]
			}
		}
		if speaker != "" {
			by[speaker] += line
		}
	}
	return by
}

// system returns the texts with the authority of the system in each request body.
func (p Prompt) system() (texts []string, err error) {
	for format, body := range p.Bodies {
		var root map[string]any
		if err := json.Unmarshal([]byte(body), &root); err != nil {
			return nil, fmt.Errorf("%s: %w", format, err)
		}
		for _, key := range []string{"system", "systemInstruction", "system_instruction", "instructions"} {
			texts = append(texts, strings.Join(strs(root[key]), "\n"))
		}

		for _, list := range []string{"messages", "input"} {
			items, _ := root[list].([]any)
			for _, item := range items {
				if m, ok := item.(map[string]any); ok && (m["role"] == "system" || m["role"] == "developer") {
					texts = append(texts, strings.Join(strs(m["content"]), "\n"))
				}
			}
		}
	}
	return texts, nil
}

// strs returns all strings in a JSON value, including the strings in the fields of objects.
func strs(v any) (all []string) {
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case []any:
		for _, x := range v {
			all = append(all, strs(x)...)
		}
	case map[string]any:
		for _, x := range v {
			all = append(all, strs(x)...)
		}
	}
	return all
}
