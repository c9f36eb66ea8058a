package truth

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Prompt is a rendered prompt: pack.md and the request bodies of providers by their format.
type Prompt struct {
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
	spoken := speakers(p.Markdown)
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
	return wrong, nil
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

// heading matches the heading of a record, with its role, or of a block, with its name, in pack.md.
var heading = regexp.MustCompile(`^(?:## e?\d+ (user|assistant|tool|system|developer)\b|# Context Block: (.*))`)

// blockSpeakers has the speaker of blocks by the beginning of their names.
var blockSpeakers = []struct{ name, speaker string }{
	{"user's words", "user"},
	{"summary", "agent"}, {"files and runs", "agent"}, {"facts", "agent"}, {"decisions", "agent"},
	{"open items", "agent"},
	{"key lines", "quoted"}, {"recall", "quoted"},
}

// fence matches a line that opens or closes quoted content.
var fence = regexp.MustCompile("^(?:`{3,}|~{3,})")

// speakers divides pack.md by the speaker of records and blocks. Results of tools count as quoted.
// Lines of other blocks belong to no speaker.
func speakers(markdown string) map[string]string {
	by := map[string]*strings.Builder{"user": {}, "agent": {}, "quoted": {}}
	roles := map[string]string{"user": "user", "assistant": "agent", "tool": "quoted"}

	speaker, closing := "", ""
	for line := range strings.Lines(markdown) {
		switch marker := fence.FindString(line); {
		case closing != "":
			if strings.TrimSpace(line) == closing {
				closing = ""
			}
		case marker != "":
			closing = marker
		default:
			if m := heading.FindStringSubmatch(line); m != nil {
				speaker = roles[m[1]]
				for _, b := range blockSpeakers {
					if strings.HasPrefix(m[2], b.name) {
						speaker = b.speaker
					}
				}
			}
		}
		if b := by[speaker]; b != nil {
			b.WriteString(line)
		}
	}

	texts := map[string]string{}
	for name, b := range by {
		texts[name] = b.String()
	}
	return texts
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
