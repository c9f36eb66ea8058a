package truth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Case is one story with statements about its prompt.
type Case struct {
	Name      string // GROUP/FILE, without .yaml
	About     string
	Budget    int // tokens
	Records   []Step
	Required  []Statement
	Forbidden []Statement
}

// Step is one item of a story; exactly one field is set.
type Step struct {
	Day    string
	User   string
	Agent  string
	Call   *Call
	Result *Result
	Filler string // "KIND TOKENS"
}

// Call is a tool call of the agent. Say is the text of the message that contains it.
type Call struct {
	ID, Tool, Say string
	Args          map[string]any
}

// Result is the result of the call with the same ID.
type Result struct{ ID, Text string }

// Statement is a text that a prompt must contain or must not contain.
type Statement struct {
	Text string
	By   string // user, agent, quoted: the text counts only under the label of this speaker
	Near string // the text counts only in lines that contain this one
	Role string // system: the text counts only in the system role of a provider's request

	// Changed requires that a line of the user's words contains the text and the mark "[changed at N]".
	Changed bool

	pattern *regexp.Regexp // Text, with white space folded
}

// Load reads all cases below dir. It returns an error that names each malformed file.
func Load(dir string) (cases []*Case, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil {
		return nil, err
	}

	var wrong []error
	for _, file := range files {
		c, err := read(file)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", file, err))
			continue
		}
		group := filepath.Base(filepath.Dir(file))
		c.Name = group + "/" + strings.TrimSuffix(filepath.Base(file), ".yaml")
		cases = append(cases, c)
	}
	return cases, errors.Join(wrong...)
}

// read reads one case and checks it.
func read(file string) (*Case, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := new(Case)
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	if c.About == "" || c.Budget < 2000 || len(c.Records) == 0 || len(c.Required)+len(c.Forbidden) == 0 {
		return nil, errors.New("a case needs about, budget, records, and a required or forbidden text")
	}

	for _, list := range [][]Statement{c.Required, c.Forbidden} {
		for i := range list {
			if list[i].Changed && list[i].By != "user" {
				return nil, fmt.Errorf("%q: changed needs by: user", list[i].Text)
			}
			if err := list[i].compile(); err != nil {
				return nil, err
			}
		}
	}
	calls := map[string]bool{}
	for i, s := range c.Records {
		if s.fields() != 1 {
			return nil, fmt.Errorf("record %d: want exactly one key", i+1)
		}
		if s.Call != nil {
			calls[s.Call.ID] = true
		}
		if s.Result != nil && !calls[s.Result.ID] {
			return nil, fmt.Errorf("record %d: no call %s precedes the result", i+1, s.Result.ID)
		}
	}
	return c, nil
}

// fields returns the number of fields that are set.
func (s Step) fields() (n int) {
	set := []bool{s.Day != "", s.User != "", s.Agent != "", s.Call != nil, s.Result != nil, s.Filler != ""}
	for _, is := range set {
		if is {
			n++
		}
	}
	return n
}

// compile prepares the search for a text: a regular expression between slashes, otherwise a
// literal. White space of any length matches white space of any length.
func (s *Statement) compile() (err error) {
	speakers, roles := []string{"", "user", "agent", "quoted"}, []string{"", "system"}
	if !slices.Contains(speakers, s.By) || !slices.Contains(roles, s.Role) {
		return fmt.Errorf("%q: unknown by %q or role %q", s.Text, s.By, s.Role)
	}

	expression := strings.Join(strings.Fields(s.Text), " ")
	if inner, ok := strings.CutPrefix(s.Text, "/"); ok && strings.HasSuffix(inner, "/") {
		expression = strings.TrimSuffix(inner, "/")
	} else {
		expression = regexp.QuoteMeta(expression)
	}
	if expression == "" {
		return errors.New("empty text")
	}
	s.pattern, err = regexp.Compile(expression)
	return err
}

// Change reports whether the case requires that a statement is marked as changed.
func (c *Case) Change() bool {
	return slices.ContainsFunc(c.Required, func(s Statement) bool { return s.Changed })
}

// chunks returns the records of a story as JSON lines, cut after each piece of filler: there the
// agent reads its prompt.
func (c *Case) chunks() (chunks []string, err error) {
	var b strings.Builder
	day, clock := "2026-01-05", 9*60
	names := map[string]string{} // tool of each call
	add := func(record map[string]any) {
		clock++
		record["ts"] = fmt.Sprintf("%sT%02d:%02d:00Z", day, clock/60%24, clock%60)
		line, _ := json.Marshal(record)
		b.Write(append(line, '\n'))
	}

	for i, s := range c.Records {
		switch {
		case s.Day != "":
			day, clock = s.Day, 9*60
		case s.User != "":
			add(map[string]any{"role": "user", "content": s.User})
		case s.Agent != "":
			add(map[string]any{"role": "assistant", "content": s.Agent})
		case s.Call != nil:
			names[s.Call.ID] = s.Call.Tool
			add(call(s.Call.ID, s.Call.Tool, s.Call.Say, s.Call.Args))
		case s.Result != nil:
			add(result(s.Result.ID, names[s.Result.ID], s.Result.Text))
		default:
			records, err := filler(s.Filler, c.Name, i)
			if err != nil {
				return nil, err
			}
			for _, r := range records {
				add(r)
			}
			chunks = append(chunks, b.String())
			b.Reset()
		}
	}
	if b.Len() > 0 {
		chunks = append(chunks, b.String())
	}
	return chunks, nil
}

// call returns the message of an agent that calls a tool.
func call(id, tool, say string, args map[string]any) map[string]any {
	arguments, _ := json.Marshal(args)
	function := map[string]any{"name": tool, "arguments": string(arguments)}
	return map[string]any{"role": "assistant", "content": say,
		"tool_calls": []any{map[string]any{"id": id, "type": "function", "function": function}}}
}

// result returns the message with the result of a call.
func result(id, tool, text string) map[string]any {
	return map[string]any{"role": "tool", "tool_call_id": id, "name": tool, "content": text}
}
