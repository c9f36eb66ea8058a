package compress

import (
	"slices"
	"strings"
	"testing"
)

// foundTexts gives the texts of what was found of some kinds.
func foundTexts(found []Finding, of ...FindingKind) (out []string) {
	for _, f := range found {
		if slices.Contains(of, f.Kind) {
			out = append(out, f.Text)
		}
	}
	return out
}

func TestFactsAreWhatIsStated(t *testing.T) {
	for _, c := range []struct {
		role, text string
		want       []string
	}{
		{"user", "Never push to main.", []string{"Never push to main."}},
		{"user", "Thanks! please don't touch the files in gen/, and have a look at the rest", []string{"please don't touch the files in gen/, and have a look at the rest"}},
		{"user", "no new dependencies", []string{"no new dependencies"}},
		{"user", "no console logs! return an error", []string{"no console logs!"}},
		{"user", "The parser must not allocate.\nIt has to work offline.", []string{"The parser must not allocate.", "It has to work offline."}},
		{"user", "Only Ana may merge.", []string{"Only Ana may merge."}},
		{"user", "- always run `make lint`\n- keep answers short\n", []string{"always run `make lint`", "keep answers short"}},
		{"user", "I prefer small commits", []string{"I prefer small commits"}},
		{"user", "use tabs, not spaces", []string{"use tabs, not spaces"}},
		{"user", "we use pgx for the database", []string{"we use pgx for the database"}},
		{"user", "the port is 8443", []string{"the port is 8443"}},
		{"user", "API base URL: https://api.example.org/v2", []string{"API base URL: https://api.example.org/v2"}},
		{"user", "my name is Ada", []string{"my name is Ada"}},
		{"user", "Change the timeout to 30s please", []string{"Change the timeout to 30s please"}},
		{"system", "Refunds above 50 euros require a supervisor.", []string{"Refunds above 50 euros require a supervisor."}},
		{"system", "A line that is wrapped in the middle of what it says must never\nbe read as two sentences.", []string{"A line that is wrapped in the middle of what it says must never be read as two sentences."}},
		{"assistant", "The service listens on port 8443.", []string{"The service listens on port 8443."}},
		{"assistant", "The root cause is that the token never expires.", []string{"The root cause is that the token never expires."}},
		{"user", "Bitte niemals direkt auf main pushen.", []string{"Bitte niemals direkt auf main pushen."}},

		{"user", "Should we never push to main?", nil},
		{"user", "should we use pgx or sqlx", nil},
		{"user", "if the port is 8443, what happens", nil},
		{"user", "if we used pgx we would not need it", nil},
		{"user", "we used to deploy by hand", nil},
		{"user", "maybe the port is 8443", nil},
		{"user", "never mind", nil},
		{"user", "don't worry about that", nil},
		{"user", "I never said that", nil},
		{"user", "it must be the cache", nil},
		{"user", "he said the port is 8443", nil},
		{"user", "> The port is 8443 and must not change.\nreally?", nil},
		{"user", "```\nnever call this\nport: 8443\n```", nil},
		{"user", "<system-reminder>\nNever mention this.\n</system-reminder>", nil},
		{"user", "2024-05-18 12:00:01 INFO the port is 8443", nil},
		{"user", "+    the port is 8443", nil},
		{"user", "create a file named main.go", nil},
		{"assistant", "Never push to main.", nil},
		{"assistant", "We must look at the caller.", nil},
		{"assistant", "Let me check whether the port is 8443.", nil},
		{"user", "请不要修改这个文件。 ポートは8443です。", nil},
		{"user", "Ne touchez pas à ce fichier.", nil},
	} {
		if got := foundTexts(Find(Said{Role: c.role, Text: c.text}), FoundFact); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q: %q, want %q", c.role, c.text, got, c.want)
		}
	}
}

func TestToolOutputsGiveNoFacts(t *testing.T) {
	text := "You must never run this.\nThe port is 8443.\n- [ ] an item\nTODO: fix it\nlet's use pgx\n"
	if found := Find(Said{Role: "tool", Tool: "read", Result: true, Text: text}); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

// talk folds records, users and assistants in turn: "user: …".
func talk(turns ...string) *Notes {
	n := &Notes{}
	for i, turn := range turns {
		role, text, _ := strings.Cut(turn, ": ")
		s := Said{Role: role, Text: text}
		if role == "call" {
			name, args, _ := strings.Cut(text, " ")
			role, s = "assistant", Said{Role: "assistant", Calls: []SaidCall{{Name: name, Arguments: args}}}
		}
		if role == "failed" {
			tool, text, _ := strings.Cut(text, " ")
			role, s = "tool", Said{Role: "tool", Result: true, Failed: true, Tool: tool, Text: text}
		}
		n.Add(Place{Line: i + 1}, role, Find(s))
	}
	return n
}

func TestDecisionsAreWhatIsAccepted(t *testing.T) {
	options := "assistant: Option A: keep it in memory\nOption B: write it to disk\nWhich one?"
	for _, c := range []struct {
		name  string
		turns []string
		want  []string // "by source text"
	}{
		{"a choice", []string{"user: let's use zap for logging"}, []string{"user messages:1 let's use zap for logging"}},
		{"a proposal and a yes", []string{"assistant: I suggest we split the reader. Shall I do that?", "user: yes, do that"}, []string{"user messages:1-2 I suggest we split the reader."}},
		{"a question and a yes", []string{"assistant: Should I replace zap by slog?", "user: sure"}, []string{"user messages:1-2 Should I replace zap by slog?"}},
		{"a way and a yes behind a result", []string{"assistant: Let's use zap instead of slog.", "tool: ok", "user: Yes, go ahead."}, []string{"user messages:1-3 Let's use zap instead of slog."}},
		{"an option by its letter", []string{options, "user: go with B"}, []string{"user messages:1-2 write it to disk"}},
		{"an option by its place", []string{options, "user: B please"}, []string{"user messages:1-2 write it to disk"}},
		{"by itself", []string{"assistant: I'll use a heap instead of a sort because it is bounded."}, []string{"assistant messages:1 I'll use a heap instead of a sort because it is bounded."}},
		{"said by name", []string{"user: Decision: retries are done by the client"}, []string{"user messages:1 Decision: retries are done by the client"}},

		{"a no", []string{"assistant: Should I replace zap by slog?", "user: no, leave it"}, nil},
		{"a yes with a but", []string{"assistant: Should I replace zap by slog?", "user: yes, but wait for the release"}, nil},
		{"a yes to nothing", []string{"assistant: The tests pass.", "user: yes"}, nil},
		{"a yes too late", []string{"assistant: Should I replace zap by slog?", "user: what is slog?", "assistant: A logger.", "user: ok"}, nil},
		{"a question", []string{"user: should we go with zap?"}, nil},
		{"the next step", []string{"assistant: Let me use grep instead of reading it."}, nil},
		{"a step", []string{"assistant: Let's go on with the tests.", "user: ok"}, nil},
		{"nothing but a reference", []string{"assistant: I decided for that; tell me if you disagree."}, nil},
		{"a bare question", []string{"assistant: The build is green. May I go on?", "user: yes"}, nil},
		{"a bare question of another", []string{"assistant: Shall I proceed?", "user: yes"}, nil},
	} {
		var got []string
		for _, d := range talk(c.turns...).Decisions() {
			got = append(got, d.By+" "+d.Source+" "+d.Decision)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestItemsHaveTheirLastState(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []string
		want  string
	}{
		{"a checklist", []string{"assistant: Left:\n- [ ] write the test\n- [x] read the code"}, "- [ ] write the test (messages:1)\n- [x] read the code (messages:1)\n"},
		{"ticked later", []string{"user: - [ ] write the test", "assistant: - [x] Write the test"}, "- [x] Write the test (messages:2)\n"},
		{"a list of features", []string{"user: - [x] fast\n- [x] small"}, ""},
		{"a call", []string{`call: TodoWrite {"todos":[{"content":"Retry","status":"in_progress"},{"content":"Test","status":"pending"}]}`}, "- [ ] Retry (in progress, messages:1)\n- [ ] Test (messages:1)\n"},
		{"the list again", []string{`call: TodoWrite {"todos":[{"content":"Retry","status":"pending"},{"content":"Drop","status":"pending"}]}`, `call: TodoWrite {"todos":[{"content":"Retry","status":"completed"}]}`}, "- [x] Retry (messages:2)\n"},
		{"a plan", []string{`call: update_plan {"plan":[{"step":"Port it","status":"pending"}]}`}, "- [ ] Port it (messages:1)\n"},
		{"a part of a list", []string{`call: todo_write {"merge":true,"todos":[{"content":"A b","status":"pending"}]}`, `call: todo_write {"merge":true,"todos":[{"content":"C d","status":"pending"}]}`}, "- [ ] A b (messages:1)\n- [ ] C d (messages:2)\n"},
		{"cancelled", []string{`call: todo_write {"merge":true,"todos":[{"content":"A b","status":"pending"}]}`, `call: todo_write {"merge":true,"todos":[{"content":"A b","status":"cancelled"}]}`}, ""},
		{"words", []string{"user: TODO: bump the version", "user: don't forget to close the ticket"}, "- [ ] bump the version (messages:1)\n- [ ] don't forget to close the ticket (messages:2)\n"},
		{"no items", []string{"user: todo lists are boring", "user: did you remember to close the ticket?", "assistant: ```\n- [ ] port\n```"}, ""},
	} {
		if got := talk(c.turns...).Todo(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What is said in words is ticked by nobody: it does not stay open for the whole of a long session.
func TestASpokenItemIsOverSomeRequestsLater(t *testing.T) {
	turns := []string{"user: we still need to port over user-message-selector.ts", "user: - [ ] close the ticket"}
	for range spokenLasts {
		turns = append(turns, "user: Have a look at the colours, too.", "assistant: I did.")
	}
	if got := talk(turns[:len(turns)-3]...).Todo(); !strings.Contains(got, "port over") {
		t.Errorf("soon after: %q", got)
	}
	if got, want := talk(turns...).Todo(), "- [ ] close the ticket (messages:2)\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAPlanEventIsAList(t *testing.T) {
	var n Notes
	n.Add(Place{Event: true, Line: 7}, "event", Find(Said{Role: "event", Type: "plan", Text: `{"type":"plan","items":[{"text":"Measure","done":true},"Warm up"]}`}))
	if got, want := n.Todo(), "- [ ] Warm up (events:7)\n- [x] Measure (events:7)\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRefsAreFilesAndLargeOutputs(t *testing.T) {
	for _, c := range []struct {
		name, tool, args string
		want             []string
	}{
		{"read", "Read", `{"file_path":"/a/b.go"}`, []string{"read /a/b.go"}},
		{"edit", "str_replace_editor", `{"command":"str_replace","path":"a.py"}`, []string{"changed a.py"}},
		{"an editor's view", "str_replace_editor", `{"command":"view","path":"a.py"}`, []string{"read a.py"}},
		{"write", "write_file", `{"path":"./out/x.md","content":"x"}`, []string{"written out/x.md"}},
		{"no file", "grep", `{"path":"src","pattern":"x"}`, nil},
		{"a patch", "apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n@@\n*** Add File: b.go\n*** End Patch"}`, []string{"changed a.go", "written b.go"}},
		{"a shell", "bash", `{"command":"cd /w && cat a.go | head -5; sed -i 's/x y/z/' b.go && echo hi > c.txt"}`, []string{"read /w/a.go", "changed /w/b.go", "written /w/c.txt"}},
		{"a here document", "bash", `{"command":"cat > t.sh <<'EOF'\nrm -rf /tmp/x.y\nEOF\nrm old.sh"}`, []string{"written t.sh", "removed old.sh"}},
		{"no names", "bash", `{"command":"cat $F *.go 2>/dev/null; ls -la x.go"}`, nil},
		{"argv", "shell", `{"command":["bash","-lc","sed -n 1,5p main.go"]}`, []string{"read main.go"}},
		{"not JSON", "Read", `file_path=x`, nil},
	} {
		var got []string
		for _, f := range fileCall(SaidCall{Name: c.tool, Arguments: c.args}) {
			got = append(got, f.State+" "+f.Path)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	n := talk(`call: read {"path":"a.go"}`, `call: edit {"path":"a.go"}`, `call: edit {"path":"a.go"}`, `call: read {"path":"a.go"}`, `call: read {"path":"gone.go"}`, "failed: read no such file")
	n.Add(Place{Line: 9}, "tool", Find(Said{Role: "tool", Result: true, Tool: "bash", Text: "x", Bytes: 10 << 10}))
	n.Add(Place{Event: true, Line: 3}, "event", Find(Said{Role: "event", Result: true, Text: "x", Bytes: 5000}))
	n.Add(Place{Event: true, Line: 4}, "event", Find(Said{Role: "event", Type: "artifact", Text: `{"type":"artifact","path":"report.pdf"}`}))
	var got []string
	for _, r := range n.Refs() {
		got = append(got, r.ID+" "+r.Kind+" "+r.Path+" "+r.Summary+" "+r.Source)
	}
	want := []string{
		"r1 file a.go changed 2 times, last read messages:4",
		"r9 tool_output context/line/9.txt 10 KiB of bash messages:9",
		"re3 tool_output context/line/e3.txt 5 KiB events:3",
		"re4 artifact report.pdf written events:4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("refs: %q, want %q", got, want)
	}
}

func TestLaterFactsSupersede(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []string
		want  []string // ids
	}{
		{"a value", []string{"user: the port is 8443", "user: sorry, the port is 9443"}, []string{"f2"}},
		{"two values", []string{"user: the port is 8443", "user: the staging port is 9443"}, []string{"f1", "f2"}},
		{"a number", []string{"user: the total must never exceed 500 dollars", "user: the total must never exceed 800 dollars"}, []string{"f2"}},
		{"the same again", []string{"user: never push to main", "user: NEVER push to main!"}, []string{"f2"}},
		{"other constraints", []string{"user: never push to main", "user: never push to release"}, []string{"f1", "f2"}},
		{"a permission", []string{"user: never push to main", "user: you can push to main again"}, []string{"f2"}},
		{"a preference turned round", []string{"user: use tabs, not spaces", "user: use spaces, not tabs"}, []string{"f2"}},
		{"no longer used", []string{"user: we use zap for logging", "user: we no longer use zap"}, []string{"f2"}},
		{"the assistant does not overrule", []string{"user: the port is 8443", "assistant: The port is 9443."}, []string{"f1", "f2"}},
		{"several of a record", []string{"user: never push to main\nthe port is 8443"}, []string{"f1", "f1.2"}},
	} {
		var got []string
		for _, f := range talk(c.turns...).Facts() {
			got = append(got, f.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSummaryKeepsTheFirstRequestAndTheNewest(t *testing.T) {
	turns := []string{"user: Make the token refresh retry."}
	for range 50 {
		turns = append(turns, "user: Look at another thing now.", "assistant: The issue is in another place "+strings.Repeat("x", len(turns))+".")
	}
	turns = append(turns, "user: let's use zap for logging", "failed: bash FAIL: TestRefresh exit status 1")
	n := talk(turns...)
	count := func(s string) int { return (len(s) + 3) / 4 }
	got := n.Summary(120, count)
	if count(got) > 120 {
		t.Errorf("%d tokens, more than 120", count(got))
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if lines[0] != "- Asked: Make the token refresh retry. (messages:1)" {
		t.Errorf("first line: %q", lines[0])
	}
	for _, want := range []string{"- Decided: let's use zap for logging (messages:102)\n", "- Failed: FAIL: TestRefresh exit status 1 (messages:103)\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if n.Summary(3, count) != "" {
		t.Error("a summary without room")
	}
}

func TestAnEventStatesWhatItsTypeSays(t *testing.T) {
	var n Notes
	for line, e := range []struct{ kind, record string }{
		{"decision", `{"type":"decision","text":"retry inside  auth.Source","source":"messages:29"}`},
		{"agent.decision", `{"type":"agent.decision","data":{"summary":"no environment variable"}}`},
		{"constraint", `{"type":"constraint","text":"never retry invalid_grant"}`},
		{"decision", `{"type":"decision","text":""}`},
		{"decision", `{"type":"decision"`},
		{"indecision", `{"type":"indecision","text":"left or right"}`},
		{"usage", `{"type":"usage","text":"10 tokens"}`},
	} {
		n.Add(Place{Event: true, Line: line + 1}, "", Find(Said{Role: "event", Type: e.kind, Text: e.record}))
	}
	var got []string
	for _, d := range n.Decisions() {
		got = append(got, d.ID+" "+d.Decision+" "+d.Source+d.By)
	}
	for _, f := range n.Facts() {
		got = append(got, f.ID+" "+f.Text+" "+f.Source)
	}
	want := []string{"de1 retry inside auth.Source events:1", "de2 no environment variable events:2", "fe3 never retry invalid_grant events:3"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
