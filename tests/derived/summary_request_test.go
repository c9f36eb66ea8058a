package derivedtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const askHeading = "# Context Block: summary request\n"

const lookTool = `[{"name":"look","description":"Looks.","input_schema":{"type":"object","properties":{}}}]`

// asking returns a new session with a budget in tokens. mode is the summary_request of its recipe;
// if it is empty, the session uses the built-in recipe.
func asking(t *testing.T, m *harness.Mount, budget int, mode string) *harness.Session {
	t.Helper()
	s := m.NewSession(t)
	s.Write(ctxabi.BudgetFile, fmt.Sprintln(budget))
	if mode != "" {
		s.Write(ctxabi.RecipeFile, "summary_request: "+mode+"\n"+m.CLI(t, "recipe", "default").OK())
	}
	return s
}

// chat appends messages to a session.
type chat struct {
	s     *harness.Session
	n     int // messages so far
	words int // words per message
}

func chatOf(s *harness.Session, words int) *chat { return &chat{s: s, words: words} }

// message appends one message. Messages of the user and of the assistant alternate.
func (c *chat) message() {
	role := []string{"user", "assistant"}[c.n%2]
	c.n++
	var b strings.Builder
	fmt.Fprintf(&b, "Message %d about the bridge:", c.n)
	for i := range c.words {
		fmt.Fprintf(&b, " pier%d-%d", c.n, i)
	}
	c.s.Append(ctxabi.MessagesFile, harness.Message(role, b.String()))
}

// until appends pairs of a request and an answer until done returns true. It fails the test after
// 400 pairs.
func (c *chat) until(t *testing.T, done func() bool) {
	t.Helper()
	for range 400 {
		c.message()
		c.message()
		if done() {
			return
		}
	}
	t.Fatalf("nothing happened in %d messages: %s", c.n, c.s.Read(ctxabi.ReportFile))
}

// shown reports whether the prompt shows a request.
func (c *chat) shown() bool { return strings.Contains(c.s.Read(ctxabi.PackFile), askHeading) }

// compactions returns the number of compactions in the report of the session.
func compactions(t *testing.T, s *harness.Session) (n int) {
	t.Helper()
	_, rest, _ := strings.Cut(s.Read(ctxabi.ReportFile), "- epoch: ")
	_, rest, _ = strings.Cut(rest, ", ")
	if _, err := fmt.Sscanf(rest, "%d compactions", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func requestOf(t *testing.T, s *harness.Session) (q ctxabi.SummaryRequest) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.Read(ctxabi.AskFile)), &q); err != nil {
		t.Fatal(err)
	}
	return q
}

// askLine returns the line of the report about the summary request.
func askLine(s *harness.Session) string {
	_, rest, _ := strings.Cut(s.Read(ctxabi.ReportFile), "- summary request: ")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// report returns a summary that names a word of the newest request.
func report(c *chat) string {
	return fmt.Sprintf("## Goal\n\n- Build the bridge.\n\n## Facts\n\n%s",
		strings.Repeat(fmt.Sprintf("- pier%d-1 stands.\n", c.n-1), 20))
}

func TestAgentAnswersRequest(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for _, budget := range []int{4000, 8000, 200_000} {
		t.Run(fmt.Sprint(budget), func(t *testing.T) {
			s := asking(t, m, budget, "on")
			c := chatOf(s, budget/200)
			c.until(t, c.shown)
			if n := compactions(t, s); n > 0 {
				t.Errorf("the request came after %d compactions", n)
			}
			q := requestOf(t, s)
			path := s.Path(ctxabi.SummaryFile)
			if q.State != ctxabi.RequestOpen || q.N != 1 || q.Upto < 1 || q.Upto > c.n || q.OpenedAt > c.n ||
				q.Path != path || q.Limit > 4000 {
				t.Errorf("the request is %+v", q)
			}
			if line := askLine(s); line != fmt.Sprintf("open since message %d, covers messages up to %d", q.OpenedAt,
				q.Upto) {
				t.Errorf("the report says %q", line)
			}
			pack := s.Read(ctxabi.PackFile)
			_, footer, _ := strings.Cut(pack, askHeading)
			for _, want := range []string{path, fmt.Sprintf("upto: %d", q.Upto), fmt.Sprintf("%d tokens", q.Limit),
				"Goal, Rules, Decisions, State, Facts, Tried, Open, Next"} {
				if !strings.Contains(footer, want) {
					t.Errorf("the request lacks %q: %s", want, footer)
				}
			}
			if strings.Contains(footer, s.Marks().End()) {
				t.Errorf("the request is not the end: %s", footer)
			}

			c.message()
			before, _, _ := strings.Cut(s.Read(ctxabi.PackFile), askHeading)
			s.Write(ctxabi.SummaryFile, report(c)) // without a range of its own
			if after := s.Read(ctxabi.PackFile); compactions(t, s) == 0 && !strings.HasPrefix(after, before) {
				t.Error("the answer changes the prompt before its footer")
			}
			wantFacts(t, s, 1, fmt.Sprintf("%d %d 0 file 0", q.Upto, c.n))
			if c.shown() {
				t.Error("the prompt shows a request that was answered")
			}
			if q := requestOf(t, s); q.State != ctxabi.RequestNone || q.Base != 1 {
				t.Errorf("the request is %+v", q)
			}
		})
	}
}

func TestSmallBudgetAsksNothing(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 2000, "on")
	c := chatOf(s, 10)
	c.until(t, func() bool {
		if c.shown() {
			t.Fatal("it asks")
		}
		return compactions(t, s) > 2
	})
	if q := requestOf(t, s); q.State != ctxabi.RequestNone || !strings.Contains(q.Why, "4000 tokens") {
		t.Errorf("the request is %+v", q)
	}
}

// A request changes only the footer of the prompt.
func TestRequestKeepsPrefix(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	on, off := asking(t, m, 6000, "on"), asking(t, m, 6000, "off")
	a, b := chatOf(on, 40), chatOf(off, 40)
	prefix := func(s *harness.Session) string {
		var p struct {
			Bytes int `json:"prefix_bytes"`
		}
		if err := json.Unmarshal([]byte(s.Read(ctxabi.PackJSONFile)), &p); err != nil {
			t.Fatal(err)
		}
		pack := s.Read(ctxabi.PackFile)
		head, _, found := strings.Cut(pack, askHeading)
		if p.Bytes == 0 || found && p.Bytes > len(head) {
			t.Fatal("the request is part of the prefix")
		}
		return strings.ReplaceAll(strings.ReplaceAll(pack[:p.Bytes], s.Name, "NAME"), s.Agent, "AGENT")
	}

	opened := false
	a.until(t, func() bool {
		b.message()
		b.message()
		if x, y := prefix(on), prefix(off); x != y {
			t.Fatalf("at message %d the prompts differ:\n%s\n%s", a.n, x, y)
		}
		opened = opened || a.shown()
		return opened && compactions(t, on) > 3
	})
}

// A program sends a body of context/summary.request to its provider and delivers the answer as an
// event. The agent's prompt has no request.
func TestProgramAsksProvider(t *testing.T) {
	var bodies []map[string]any
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		data, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(data, &body); err != nil {
			t.Errorf("the body is no JSON: %v", err)
		}
		bodies = append(bodies, body)
		fmt.Fprint(w, "## Goal\n\n- Build the bridge with pier1-1, pier1-2, pier1-3, pier1-4 and all the others "+
			"that were named, one after another, before the winter comes and the river freezes over.\n")
	}))
	defer provider.Close()
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 8000, "off")
	s.Write("../../tools.json", lookTool)
	c := chatOf(s, 30)
	c.until(t, func() bool {
		if c.shown() {
			t.Fatal("the prompt asks the agent, too")
		}
		return requestOf(t, s).State == ctxabi.RequestOpen
	})

	q := requestOf(t, s)
	answer, err := http.Post(provider.URL, "application/json",
		strings.NewReader(s.Read(ctxabi.AskBody(ctxabi.AnthropicFile))))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	s.Append(ctxabi.EventsFile, harness.Record(map[string]any{"type": "summary", "upto": q.Upto, "text": string(text)}))
	if requestOf(t, s).State != ctxabi.RequestNone {
		t.Error("the request is open after its answer")
	}
	wantVersions(t, s, string(text))
	if choice := bodies[0]["tool_choice"]; fmt.Sprint(choice) != "map[type:none]" {
		t.Errorf("the tool choice is %v", choice)
	}
}

// sent returns the part of a body that a provider's cache compares. It removes cache marks and, in
// formats that have a field "contents", the configuration before that field.
func sent(body string) string {
	body = strings.ReplaceAll(body, `"cache_control":{"type":"ephemeral"},`, "")
	if _, contents, ok := strings.Cut(body, `"contents":`); ok {
		return contents
	}
	return body
}

// The bodies of a request share their prefix with the native renderings, also inside a tool loop.
func TestRequestBodiesHitCache(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 8000, "on")
	s.Write("../../tools.json", lookTool)
	c := chatOf(s, 30)
	c.until(t, c.shown)
	check := func(where, last string) {
		t.Helper()
		prompt := strings.TrimSpace(s.Read(ctxabi.AskPromptFile))
		for _, file := range ctxabi.RequestFiles {
			pack, body := sent(s.Read(file)), sent(s.Read(ctxabi.AskBody(file)))
			at := strings.Index(pack, last)
			if at < 0 || len(body) < at+len(last) || pack[:at+len(last)] != body[:at+len(last)] {
				t.Errorf("%s: the body of %s does not begin as the prompt", where, file)
			}
			if strings.Contains(body, "Context Block: summary request") ||
				strings.Contains(body, "Context Block: goal") {
				t.Errorf("%s: the body of %s has the footer", where, file)
			}
			if !strings.Contains(strings.ToLower(s.Read(ctxabi.AskBody(file))), `"none"`) {
				t.Errorf("%s: the body of %s lets the model call tools", where, file)
			}
			if quoted, _ := json.Marshal(prompt); !strings.Contains(body, strings.Trim(string(quoted), `"`)) {
				t.Errorf("%s: the body of %s lacks the request", where, file)
			}
			var p, b map[string]any
			if json.Unmarshal([]byte(s.Read(file)), &p) != nil ||
				json.Unmarshal([]byte(s.Read(ctxabi.AskBody(file))), &b) != nil {
				t.Fatalf("%s: %s is no JSON", where, file)
			}
			if fmt.Sprint(p["tools"]) != fmt.Sprint(b["tools"]) {
				t.Errorf("%s: the tools of %s differ", where, file)
			}
		}
	}

	check("after an answer", fmt.Sprintf(" pier%d-29", c.n))
	c.message()
	check("after a message of the user", fmt.Sprintf(" pier%d-29", c.n))
	s.Append(ctxabi.MessagesFile, harness.Called("call1", "look", `{"at":"bank7"}`, "It stands."))
	check("in a tool loop", "bank7")
}

// A request contains the records after the version in use if the prompt omits some of them.
func TestRequestShowsOmittedRecords(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 4000, "on")
	c := chatOf(s, 20)
	c.until(t, c.shown)
	first := requestOf(t, s)
	s.Write(ctxabi.SummaryFile, report(c))
	last := func(n int) string { return fmt.Sprintf(" pier%d-19", n) }
	c.until(t, func() bool {
		return first.Upto > 0 && !strings.Contains(s.Read(ctxabi.PackFile), last(first.Upto+1))
	})

	q, prompt := requestOf(t, s), s.Read(ctxabi.AskPromptFile)
	if q.Base != 1 || !strings.Contains(prompt, "\n## Facts\n\n- pier") {
		t.Errorf("the request %+v lacks the summary: %s", q, prompt)
	}
	for n := first.Upto + 1; n <= q.Upto; n++ {
		if !strings.Contains(prompt, last(n)) {
			t.Errorf("the request lacks message %d", n)
		}
	}
	if strings.Contains(prompt, last(first.Upto)) {
		t.Error("the request has a message that the summary covers")
	}
	if n := ctxabi.Weight(prompt); n > 4000 {
		t.Errorf("the request weighs %d tokens", n)
	}
	if _, problem := s.Marks().Divide(prompt); problem != "" {
		t.Errorf("the marks of the request: %s", problem)
	}
	for _, file := range ctxabi.RequestFiles {
		body := s.Read(ctxabi.AskBody(file))
		quoted, _ := json.Marshal(strings.TrimSpace(prompt))
		if !strings.Contains(body, strings.Trim(string(quoted), `"`)) {
			t.Errorf("the body of %s lacks the request", file)
		}
		if strings.Count(body, last(q.Upto)) != 1 {
			t.Errorf("the body of %s has the conversation, too", file)
		}
	}
}

// A body without the conversation stays within the budget, with a system message and tools.
func TestRequestBodyFitsBudget(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 8000, "off")
	var tools []map[string]any
	for i := range 12 {
		tools = append(tools, map[string]any{"name": fmt.Sprint("tool", i),
			"input_schema": map[string]any{"type": "object"},
			"description":  strings.Repeat("This tool measures the load of a span. ", 12)})
	}
	list, err := json.Marshal(tools)
	if err != nil {
		t.Fatal(err)
	}
	s.Write("../../tools.json", string(list))
	s.Append(ctxabi.MessagesFile, harness.Message("system", strings.Repeat("Measure each span of the bridge. ", 200)))
	chatOf(s, 60).until(t, func() bool { return compactions(t, s) > 1 })

	if prompt := s.Read(ctxabi.AskPromptFile); !strings.Contains(prompt, "# Context Block: messages:") {
		t.Fatalf("the request has no records: %s", prompt)
	}
	for _, file := range ctxabi.RequestFiles {
		if n := ctxabi.Weight(s.Read(ctxabi.AskBody(file))); n > 8800 { // JSON counts, too
			t.Errorf("the body of %s weighs %d tokens", file, n)
		}
	}
}

func TestLateSummaryIsAccepted(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 4000, "on")
	c := chatOf(s, 30)
	c.until(t, c.shown)
	q := requestOf(t, s)
	c.until(t, func() bool {
		now := requestOf(t, s)
		return now.State != ctxabi.RequestOpen || now.N != q.N
	})
	if compactions(t, s) == 0 {
		t.Errorf("the request %+v closed without a compaction", q)
	}
	s.Write(ctxabi.SummaryFile, report(c))
	wantFacts(t, s, 1, fmt.Sprintf("%d %d 0 file 0", q.Upto, c.n))
}

func TestUnansweredRequestsStop(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 4000, "on")
	c := chatOf(s, 30)
	seen := map[int]bool{}
	stopped := func() bool {
		q := requestOf(t, s)
		if q.State == ctxabi.RequestOpen && c.shown() {
			seen[q.OpenedAt] = true
		}
		return strings.Contains(q.Why, "were not answered")
	}

	c.until(t, stopped)
	if len(seen) != 3 {
		t.Errorf("%d requests were shown", len(seen))
	}
	m.Restart()
	for range 40 {
		c.message()
		if c.shown() {
			t.Fatal("it asks again")
		}
	}
	s.Write(ctxabi.SummaryFile, report(c))
	c.until(t, c.shown)
	if seen[requestOf(t, s).OpenedAt] {
		t.Error("the request is an old one")
	}
}

func TestRestartKeepsRequest(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 4000, "")
	c := chatOf(s, 30)
	s.Read(ctxabi.AskFile)
	c.until(t, c.shown)
	pack, request, line := s.Read(ctxabi.PackFile), s.Read(ctxabi.AskFile), askLine(s)
	m.Restart()
	if got := s.Read(ctxabi.PackFile); got != pack {
		t.Errorf("the pack is %s, it was %s", got, pack)
	}

	if got := s.Read(ctxabi.AskFile); got != request || askLine(s) != line {
		t.Errorf("the request is %s, it was %s", got, request)
	}
	c.message()
	s.Write(ctxabi.SummaryFile, report(c))
	m.Restart()
	if c.shown() {
		t.Error("an answered request is shown")
	}
}

// The mode auto asks an agent in all its sessions after one of them has delivered a summary or has
// read context/summary.request. The mode on always asks, and off never does.
func TestModesOfRequests(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	opened := func(s *harness.Session) *chat {
		c := chatOf(s, 30)
		c.until(t, func() bool { return c.shown() || compactions(t, s) > 0 })
		return c
	}
	if opened(asking(t, m, 4000, "off")).shown() {
		t.Error("off asks")
	}
	if opened(asking(t, m, 4000, "")).shown() {
		t.Error("auto asks an agent that does not know of it")
	}
	if !opened(asking(t, m, 4000, "on")).shown() {
		t.Error("on does not ask")
	}

	fresh := func(agent string) *harness.Session {
		s := m.Session(t, harness.Self(), agent, "s1")
		s.Write(ctxabi.BudgetFile, "4000\n")
		return s
	}
	reader := fresh("reader")
	reader.Read(ctxabi.AskPromptFile)
	if !opened(reader).shown() {
		t.Error("auto does not ask an agent that has read the request")
	}
	next := m.Session(t, harness.Self(), reader.Agent, "s2")
	next.Write(ctxabi.BudgetFile, "4000\n")
	if !opened(next).shown() {
		t.Error("auto does not ask in the agent's next session")
	}
	writer := fresh("writer")
	talk(writer, 2)
	writer.Write(ctxabi.SummaryFile, "Two lines.\n")
	if !opened(writer).shown() {
		t.Error("auto does not ask an agent that has delivered a summary")
	}
	listed := fresh("listed")
	m.CLI(t, "snippet", listed.Dir).OK()
	if !opened(listed).shown() {
		t.Error("auto does not ask an agent that has the snippet")
	}
}

// The range of a request ends before an unfinished tool loop.
func TestRequestSplitsNoToolLoop(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 4000, "on")
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Look at each pier."))
	for i := range 60 {
		s.Append(ctxabi.MessagesFile, harness.Called(fmt.Sprint("c", i), "look", "{}",
			strings.Repeat(fmt.Sprintf("pier%d stands. ", i), 30)))
		if strings.Contains(s.Read(ctxabi.PackFile), askHeading) {
			q := requestOf(t, s)
			lines := harness.Lines(t, s.Read(ctxabi.MessagesFile))
			if q.OpenedAt-q.Upto < 1 || q.OpenedAt-q.Upto > 2 ||
				!strings.Contains(lines[q.Upto-1], `"tool"`) && q.Upto > 1 {
				t.Errorf("the request %+v ends with %s", q, lines[q.Upto-1])
			}
			return
		}
	}
	t.Error("it does not ask")
}

// The directory of a request lists all its files, and two reads of a file return the same bytes.
func TestRequestFilesAreListed(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := asking(t, m, 4000, "")
	talk(s, 2)
	entries, err := os.ReadDir(s.Path(ctxabi.AskDir))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2+len(ctxabi.RequestFiles) {
		t.Errorf("it lists %v", entries)
	}

	for _, e := range entries {
		name := ctxabi.AskDir + "/" + e.Name()
		if a, b := s.Read(name), s.Read(name); a == "" || !bytes.Equal([]byte(a), []byte(b)) {
			t.Errorf("%s is %q", name, a)
		}
	}
	if q := requestOf(t, s); q.State != ctxabi.RequestNone || q.Upto != 2 {
		t.Errorf("the request is %+v", q)
	}
}
