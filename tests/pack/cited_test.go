package packtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// corpus returns sessions by name: the bundled ones, a made one, and real ones where they are.
func corpus(t *testing.T) map[string][][]byte {
	t.Helper()
	out := map[string][][]byte{"made": agentLoop(60)}
	patterns := []string{"examples/*/messages.jsonl", "examples/*/sample-session.jsonl"}
	for i := range patterns {
		patterns[i] = filepath.Join(harness.Root(), patterns[i])
	}
	if dir := realSessions(); dir != "" {
		patterns = append(patterns, filepath.Join(dir, "*/*.jsonl"))
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no sessions: %s, %v", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".jsonl")
			out[name] = bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
		}
	}
	return out
}

// realSessions is the directory of real sessions, "" where there are none.
func realSessions() string {
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = filepath.Join(harness.Root(), "..", "shared", "data")
	}
	dir = filepath.Join(dir, "sessions")
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

type object = map[string]any

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// agentLoop is a session whose turns think, see images and call tools in parallel; outputs are of all sizes, and come again.
func agentLoop(n int) (records [][]byte) {
	add := func(role string, parts ...object) {
		records = append(records, mustJSON(object{"role": role, "content": parts}))
	}
	for i := 0; len(records) < n; i++ {
		if i%4 == 0 {
			add("user", object{"type": "text", "text": fmt.Sprintf("Look at screen %d and repair what is broken there.", i)},
				object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}})
		}
		a, b := fmt.Sprintf("toolu_%da", i), fmt.Sprintf("toolu_%db", i)
		add("assistant", object{"type": "thinking", "thinking": "I should read both.", "signature": "c2ln"}, object{"type": "text", "text": "Reading both."},
			object{"type": "tool_use", "id": a, "name": "read_file", "input": object{"path": "a.go", "line": i}},
			object{"type": "tool_use", "id": b, "name": "run_tests", "input": object{"path": "b.go"}})
		var log strings.Builder
		for k := range 40 + 60*(i%5) {
			fmt.Fprintf(&log, "--- PASS: TestCase%d (0.0%ds)\n", k, (k+i/3)%10)
		}
		add("user", object{"type": "tool_result", "tool_use_id": b, "content": log.String()},
			object{"type": "tool_result", "tool_use_id": a, "content": []object{{"type": "text", "text": "package a // version " + fmt.Sprint(i/6)}}})
	}
	return records
}

// said returns what a record says in its text, as its file .txt must have it: the parts in their order.
func said(t *testing.T, record []byte) (texts []string) {
	t.Helper()
	var m struct {
		Content any `json:"content"`
		Text    any `json:"text"`
	}
	if err := json.Unmarshal(record, &m); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, part := range v {
				walk(part)
			}
		case object:
			switch v["type"] {
			case "text":
				walk(v["text"])
			case "tool_result":
				walk(v["content"])
			}
		}
	}
	walk(m.Content)
	return texts
}

// cited finds what packs cite: files of records, and nodes for what left the prompt.
var cited = regexp.MustCompile(`context/line/e?[0-9]+(?:\.txt)?|(?:swap/chunk|dedup/blob)/sha256-[0-9a-f]{64}`)

// looker opens what packs of one session cite, each path once.
type looker struct {
	t        *testing.T
	s        *harness.Session
	messages [][]byte
	events   [][]byte
	files    map[string]string // by path from the session, or absolute
	seen     map[string]bool
	stubs    int // citations, again and again
}

// open holds a path that a pack of the first n messages cites against what it stands for.
func (l *looker) open(path, where string) {
	l.stubs++
	if l.seen[path] {
		return
	}
	l.seen[path] = true
	name := path
	if !filepath.IsAbs(path) {
		name = l.s.Path(path)
	}
	got, err := os.ReadFile(name)
	if dir, rest := filepath.Split(path); dir == "context/line/" {
		l.record(path, rest, string(got), err, where)
		return
	}
	if sum, ok := strings.CutPrefix(filepath.Base(path), "sha256-"); ok {
		if err != nil || ctxabi.ContentID(got) != "sha256-"+sum {
			l.t.Errorf("%s, cited by %s: %v, %d bytes of %s", path, where, err, len(got), ctxabi.ContentID(got))
		}
		return
	}
	if filepath.Base(path) == ctxabi.ProjectMemoryFile && strings.Contains(path, "/"+ctxabi.ProjectsDir+"/") { // what the other sessions say goes on
		if err != nil || !strings.Contains(string(got), "# Memory of ") {
			l.t.Errorf("%s, cited by %s: %v\n%.200s", path, where, err, got)
		}
		return
	}
	if path == ctxabi.SummaryPath(1) {
		path = ctxabi.SummaryFile // has the same text
	}
	want, ok := l.files[path]
	if err != nil || !ok || string(got) != want {
		l.t.Errorf("%s, cited by %s: %v, %d bytes, want %d", path, where, err, len(got), len(want))
	}
}

func (l *looker) record(path, name, got string, err error, where string) {
	records, digits := l.messages, strings.TrimSuffix(name, ".txt")
	if n, ok := strings.CutPrefix(digits, "e"); ok {
		records, digits = l.events, n
	}
	var line int
	if _, scan := fmt.Sscan(digits, &line); err != nil || scan != nil || line < 1 || line > len(records) {
		l.t.Errorf("%s, cited by %s: %v, %v", path, where, err, scan)
		return
	}
	record := records[line-1]
	if digits == strings.TrimPrefix(name, "e") { // not .txt
		if got != string(record)+"\n" {
			l.t.Errorf("%s, cited by %s: %.200q, the record is %.200q", path, where, got, record)
		}
		return
	}
	rest := got
	for _, text := range said(l.t, record) {
		_, after, ok := strings.Cut(rest, strings.TrimSuffix(text, "\n"))
		if !ok {
			l.t.Errorf("%s, cited by %s, does not say %.200q:\n%.400q", path, where, text, got)
			return
		}
		rest = after
	}
}

// look opens all that the packs of now cite, in each of their renderings and in the report.
func (l *looker) look(n int) {
	l.t.Helper()
	b := read(l.t, l.s)
	b.account(l.t, n)
	where := fmt.Sprintf("a pack of %d messages at %d tokens", n, b.Budget)
	texts := []string{b.md, l.s.Read("context/pack.report.md")}
	for _, format := range nativeFormats {
		texts = append(texts, l.s.Read("context/pack."+format+".json"))
	}
	for _, text := range texts {
		for _, path := range cited.FindAllString(text, -1) {
			l.open(path, where)
		}
	}
	var p struct {
		Items, Omitted []struct {
			Kind, Source, Log, Range, Path string
			Cut                            bool
			Files                          []string
		}
	}
	if err := json.Unmarshal([]byte(l.s.Read("context/pack.json")), &p); err != nil {
		l.t.Fatal(err)
	}
	each := func(source, ranges string) { // context/line/<number> of a range that is left out
		span, err := ctxabi.ParseSpan(ranges)
		if err != nil {
			l.t.Errorf("%s: %v", where, err)
			return
		}
		sign := map[string]string{"messages": "", "events": "e"}
		for line := span.From; line <= span.To; line++ {
			l.open(fmt.Sprintf("context/line/%s%d", sign[source], line), where)
			l.open(fmt.Sprintf("context/line/%s%d.txt", sign[source], line), where)
		}
	}
	for _, o := range p.Omitted {
		switch {
		case o.Path == "":
			l.t.Errorf("%s: what is left out has no path: %+v", where, o)
		case o.Path == "context/line":
			each(o.Log, o.Range)
		default:
			l.open(o.Path, where)
		}
	}
	for _, it := range p.Items {
		if it.Path != "" {
			l.open(it.Path, where)
		} else if it.Cut {
			l.t.Errorf("%s: an item without a path to the whole: %+v", where, it)
		}
		for _, file := range it.Files {
			l.open(file, where)
		}
	}
}

// Every path that packs of the corpus cite opens through the mount and gives the bytes that it stands for.
func TestEveryCitedPathOpens(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	sets := corpus(t)
	work := t.TempDir()
	guide, rules := filepath.Join(work, "AGENTS.md"), strings.Repeat("# Rules\n\nRun the tests of the gateway with make test.\n\n", 200)
	if err := os.WriteFile(guide, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	i := 0
	for name, records := range sets {
		i++
		s := m.Session(t, harness.Self(), fmt.Sprintf("corpus%d", i), "s1")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &looker{t: t, s: s, messages: records, files: map[string]string{guide: rules}, seen: map[string]bool{}}
			for path, text := range map[string]string{
				"../../memory/gateway.md":     strings.Repeat("The gateway retries the refresh of a token.\n\n", 100),
				"../../knowledge/http/429.md": strings.Repeat("A client that gets 429 waits. A flight is reserved by its number.\n\n", 100),
				"../../playbooks/failing.md":  strings.Repeat("When tests fail, read the file first.\n\n", 100),
				"context/todo.md":             strings.Repeat("- [ ] one more step of the work\n", 100),
				"context/summary.md":          strings.Repeat("A long summary of the work so far.\n", 200),
			} {
				name := s.Path(path)
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				s.Write(path, text)
				l.files[path] = text
			}
			s.Write("cwd", work)
			for _, e := range []string{
				`{"type":"tool_call","id":"ev1","name":"watch","arguments":"{}"}`,
				`{"type":"tool_result","id":"ev1","content":` + string(mustJSON(strings.Repeat("a line that the watcher saw, 12:03\n", 400))) + `}`,
			} {
				s.Append("events.jsonl", e+"\n")
				l.events = append(l.events, []byte(e))
			}
			cuts, then := min(6, 1+len(records)/30), map[int]string{}
			for n := range records {
				s.Append("messages.jsonl", string(records[n])+"\n")
				if (n+1)*cuts/len(records) == n*cuts/len(records) {
					continue
				}
				for _, budget := range []string{"4000", "8000"} {
					s.Write("context/budget", budget)
					l.look(n + 1)
				}
				then[n+1] = read(t, s).md // of a workspace that answered in time
			}
			for n, md := range then { // the same files, so the same packs
				for _, rendering := range []string{"pack.md", "pack.report.md", "pack.anthropic.json"} {
					got := s.Read(fmt.Sprintf("context/at/%d/%s", n, rendering))
					for _, path := range cited.FindAllString(got, -1) {
						l.open(path, fmt.Sprintf("at/%d/%s", n, rendering))
					}
					if rendering == "pack.md" && got != md {
						t.Errorf("at/%d/pack.md is\n%.3000s\nthe pack of %d messages was\n%.3000s", n, got, n, md)
					}
				}
			}
			t.Logf("%d messages: %d citations of %d paths", len(records), l.stubs, len(l.seen))
		})
	}
}
