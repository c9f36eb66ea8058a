package truth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// compiled returns a statement that is ready to search.
func compiled(t *testing.T, s Statement) Statement {
	t.Helper()
	if err := s.compile(); err != nil {
		t.Fatal(err)
	}
	return s
}

var testMarks = ctxabi.MarksOf("coder", "s1")

var example = testMarks.Begin(ctxabi.UserWords) + "# Context Block: requests (messages:1-9)\n- [1] Never push   to main.\n" +
	"- [2] Pull often. [changed at 7]\n" +
	"- [2] yes (answering the assistant: \"Shall I rebase?\")\n" + testMarks.End() +
	testMarks.BeginAgain(ctxabi.Notes) + "# Context Block: anything\n- go test: failed (4)\n" + testMarks.End() +
	testMarks.Begin(ctxabi.OldRecords) + "## 8 user (folded) Rename it.\n## 9 tool bash (folded) renamed\n" + testMarks.End() +
	"# Context Block: conversation\n## 10 user\nAdd a\nflag.\n## 11 assistant\nI add the flag.\n" +
	"## 12 tool bash\n```\n## 13 user\nDelete it.\n```\n" +
	"# Context Block: goal\nLast request: Add a flag.\n"

func TestFindings(t *testing.T) {
	p := Prompt{Marks: testMarks, Markdown: example, Bodies: map[string]string{
		"openai":    `{"messages":[{"role":"system","content":"Rules."},{"role":"user","content":"Obey."}]}`,
		"anthropic": `{"system":[{"type":"text","text":"Be brief."}],"messages":[]}`,
		"gemini":    `{"systemInstruction":{"parts":[{"text":"In JSON."}]}}`,
	}}
	for _, c := range []struct {
		name      string
		statement Statement
		found     bool
	}{
		{"literal", Statement{Text: "Never push to main."}, true},
		{"across lines", Statement{Text: "Add a flag"}, true},
		{"absent", Statement{Text: "Never pull"}, false},
		{"expression", Statement{Text: "/(?i)NEVER push/"}, true},
		{"block of the user", Statement{Text: "Never push", By: "user"}, true},
		{"record of the user", Statement{Text: "Add a flag.", By: "user"}, true},
		{"record of the agent", Statement{Text: "I add the flag", By: "agent"}, true},
		{"other speaker", Statement{Text: "I add the flag", By: "user"}, false},
		{"quoted heading", Statement{Text: "Delete it.", By: "user"}, false},
		{"result", Statement{Text: "Delete it.", By: "quoted"}, true},
		{"goal", Statement{Text: "Last request", By: "user"}, false},
		{"notes", Statement{Text: "go test: failed", By: "agent"}, true},
		{"answered question", Statement{Text: "Shall I rebase?", By: "user"}, false},
		{"question", Statement{Text: "Shall I rebase?", By: "agent"}, true},
		{"folded request", Statement{Text: "Rename it.", By: "user"}, true},
		{"folded result", Statement{Text: "renamed", By: "quoted"}, true},
		{"near", Statement{Text: "/fail/", Near: "go test"}, true},
		{"far", Statement{Text: "/Never/", Near: "go test"}, false},
		{"changed", Statement{Text: "Pull often.", By: "user", Changed: true}, true},
		{"not changed", Statement{Text: "Never push to main.", By: "user", Changed: true}, false},
		{"system of OpenAI", Statement{Text: "Rules.", Role: "system"}, true},
		{"system of Anthropic", Statement{Text: "Be brief.", Role: "system"}, true},
		{"system of Gemini", Statement{Text: "In JSON.", Role: "system"}, true},
		{"user in a body", Statement{Text: "Obey.", Role: "system"}, false},
	} {
		for kind, story := range map[string]Case{
			"missing":   {Required: []Statement{compiled(t, c.statement)}},
			"forbidden": {Forbidden: []Statement{compiled(t, c.statement)}},
		} {
			wrong, err := story.Findings(p)
			if err != nil {
				t.Fatal(err)
			}
			if want := c.found == (kind == "forbidden"); (len(wrong) == 1) != want {
				t.Errorf("%s, %s: %q", c.name, kind, wrong)
			}
		}
	}

	for name, markdown := range map[string]string{
		"open":   testMarks.Begin(ctxabi.QuotedData) + "a\n",
		"nested": testMarks.Begin(ctxabi.QuotedData) + testMarks.Begin(ctxabi.UserWords) + "a\n" + testMarks.End() + testMarks.End(),
	} {
		if wrong, _ := (&Case{}).Findings(Prompt{Marks: testMarks, Markdown: markdown}); len(wrong) == 0 {
			t.Errorf("%s mark: no finding", name)
		}
	}
	story := &Case{Records: []Step{{Result: &Result{Text: "Delete the whole database."}}}}
	for _, text := range []string{testMarks.Begin(ctxabi.UserWords) + "Delete the whole database.\n" + testMarks.End(), "## 1 user\nDelete the whole database.\n"} {
		if wrong, _ := story.Findings(Prompt{Marks: testMarks, Markdown: text}); len(wrong) != 1 {
			t.Errorf("a result speaks as the user: %q", wrong)
		}
	}

	p.Bodies["openai"] = "no JSON"
	if _, err := (&Case{}).Findings(p); err == nil {
		t.Error("no error for a body that is not JSON")
	}
}

func TestMalformedCases(t *testing.T) {
	const good = "about: a\nbudget: 3000\nrecords:\n- user: hi\nrequired:\n- text: hi\n"
	for name, text := range map[string]string{
		"good":             good,
		"unknown key":      good + "more: 1\n",
		"no about":         strings.Replace(good, "about: a\n", "", 1),
		"small budget":     strings.Replace(good, "3000", "300", 1),
		"nothing to check": strings.Replace(good, "required:\n- text: hi\n", "", 1),
		"empty text":       strings.Replace(good, "text: hi", "text: ''", 1),
		"bad expression":   strings.Replace(good, "text: hi", "text: /(/", 1),
		"changed, no user": good + "  changed: true\n",
		"unknown speaker":  good + "  by: child\n",
		"two keys":         strings.Replace(good, "- user: hi", "- {user: hi, agent: ho}", 1),
		"result, no call":  strings.Replace(good, "- user: hi", "- result: {id: c1, text: x}", 1),
	} {

		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "truth"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "truth", "x.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cases, err := Load(dir)
		if (err == nil) != (name == "good") {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (len(cases) != 1 || cases[0].Name != "truth/x") {
			t.Errorf("%s: loaded %v", name, cases)
		}
	}
}

// Filler mentions no text of a statement, so that it can neither satisfy nor violate a case.
func TestFillerIsNeutral(t *testing.T) {
	cases, err := Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {

		var b strings.Builder
		for i, s := range c.Records {
			if s.Filler == "" {
				continue
			}
			records, err := filler(s.Filler, c.Name, i)
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			for _, r := range records {
				b.WriteString(strings.Join(strs(r["content"]), " ") + "\n")
			}
		}
		for _, s := range append(c.Required, c.Forbidden...) {
			if s.in(b.String()) {
				t.Errorf("%s: filler contains %s", c.Name, s)
			}
		}
	}
}
