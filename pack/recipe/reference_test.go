package recipe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// withKey returns a recipe in which one key of an object has its example's value, and beside it only what must stand there.
func withKey(t *testing.T, o *object, f *field) string {
	t.Helper()
	tag := ""
	switch {
	case o.Tag == "" || f.For != nil && f.For[0] == "":
	case f.Key == o.Tag:
		tag = examples[o.Name+"."+f.Key]
	case f.For != nil:
		tag = f.For[0]
	default:
		tag = o.Fields[0].Enum[0]
	}
	var keys []string
	add := func(key, value string) { keys = append(keys, key+": "+value) }
	if tag != "" {
		add(o.Tag, tag)
	}
	for i := range o.Fields {
		if g := &o.Fields[i]; g.Key != o.Tag && (g == f || g.Must && g.allows(tag)) {
			add(g.Key, examples[o.Name+"."+g.Key])
		}
	}
	if o.Name == "summarizer" && f.Key == "timeout_ms" {
		add("command", "[x]")
	} else if o.Name == "summarizer" && f.Key != "command" {
		for _, key := range []string{"openai", "model"} {
			if key != f.Key {
				add(key, examples["summarizer."+key])
			}
		}
	}
	if o.Name == "section" && !slices.Contains([]string{"from", "path", "text"}, f.Key) {
		add("text", "x")
	}
	text := "{" + strings.Join(keys, ", ") + "}"
	journal := ", {type: journal}"
	switch o.Name {
	case "recipe":
		if f.Key != "sources" {
			keys = append(keys, "sources: [{type: journal}]")
		}
		return strings.Join(keys, "\n") + "\n"
	case "history":
		return "history: " + text + "\nsources: [{type: journal}]\n"
	case "source":
		if tag == string(TypeJournal) {
			journal = ""
		}
		return "sources: [" + text + journal + "]\n"
	case "generator":
		return "sources: [{type: computed_file, generator: " + text + "}" + journal + "]\n"
	case "summarizer":
		return "summarizer: " + text + "\nsources: [{type: journal}]\n"
	case "stage":
		return "sources: [{type: pipeline, stages: [" + text + "]}" + journal + "]\n"
	case "cache":
		return "sources: [{type: computed_file, generator: [ls], cache: " + text + "}" + journal + "]\n"
	case "condition": // behind the journal, where each may stand
		return "sources: [{type: journal}, {type: file, path: x, condition: " + text + "}]\n"
	case "message":
		return "messages: [" + text + "]\nsources: [{type: journal}]\n"
	case "strategy":
		return "strategies: {mine: " + text + "}\nsources: [{type: journal}]\n"
	case "section":
		return "strategies: {mine: {sections: [" + text + "]}}\nsources: [{type: journal}]\n"
	}
	t.Fatalf("where does a %s stand?", o.Name)
	return ""
}

// Each key has an example, which is right where the key may stand; there are no others.
func TestEachKeyHasAnExampleThatIsRight(t *testing.T) {
	s, seen := compiled(t), map[string]bool{}
	for i := range objects {
		o := &objects[i]
		for j := range o.Fields {
			f := &o.Fields[j]
			name := o.Name + "." + f.Key
			seen[name] = true
			if examples[name] == "" {
				t.Errorf("%s has no example", name)
				continue
			}
			text := withKey(t, o, f)
			h := home{"context.yaml": text, "base.yaml": "sources: [{type: todo}]\n", "packages/@acme/context-base/context.yaml": "sources: [{type: plan}]\n"}
			if _, err := Load("context.yaml", h.read); err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
			if err := valid(t, s, text); err != nil {
				t.Errorf("%s: the schema has something against\n%s%v", name, text, err)
			}
			if !strings.Contains(reference(), fmt.Sprintf("Example: `%s: %s`", f.Key, examples[name])) {
				t.Errorf("the reference has no example of %s", name)
			}
		}
	}
	for name := range examples {
		if !seen[name] {
			t.Errorf("there is an example of %s, which is no key", name)
		}
	}
}

// The reference says of each built-in strategy what it shows, needs and leaves out.
func TestTheReferenceListsTheStrategies(t *testing.T) {
	text := reference()
	for _, row := range []string{
		"| `architect` | Issue (`plan.issue`), Design (`plan.design`), Constraints (`plan.constraints`) |  | `errors`, `todo` |",
		"| `developer` | Task (`plan.task`), Files (`plan.files`), Steps (`plan.steps`) | Task | `children` |",
		"| `reviewer` | Diff (`review.diff`), Task (`plan.task`), Acceptance (`plan.acceptance`) |  | `playbook`, `recall`, `todo` |",
		"| `general` |  |  |  |",
	} {
		if !strings.Contains(text, "\n"+row) {
			t.Errorf("the reference has no row\n%s", row)
		}
	}
}
