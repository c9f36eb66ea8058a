package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/nativetest"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Every pack of every moment of every session is one that its provider takes, by its rules and by the types of its official SDK.
func TestEveryPackOfEveryReplayIsTaken(t *testing.T) {
	step := suite.Pick(t, 23, 1) // from one moment to the next
	budgets := suite.Pick(t, []int{3000}, []int{1500, 8000})
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	typed := typedBodies{lists: map[string]map[string]bool{}, frames: map[string]map[string]bool{}}
	t.Run("rules", func(t *testing.T) {
		for name, s := range replayed(t, m) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, budget := range budgets {
					s.Write("context/budget", fmt.Sprint(budget))
					all := harness.Lines(t, s.Read("messages.jsonl"))
					for n := len(all); n > 0; n -= step {
						takes(t, s, n, &typed)
					}
				}
			})
		}
	})
	if typed.bodies == 0 {
		t.Fatal("there was no pack")
	}
	t.Logf("%d bodies", typed.bodies)
	if suite.Pick(t, false, true) {
		typed.check(t)
	}
}

// replayed are the sessions that are replayed, by name: bundled ones, imported transcripts, items of Responses and, where they are, real ones.
func replayed(t *testing.T, m *harness.Mount) map[string]*harness.Session {
	sessions := map[string]*harness.Session{}
	add := func(name string, logs map[string]string) {
		s := m.NewSession(t)
		s.Bash(`echo 'You are a careful coding agent.' > ../../system_prompt.md; echo 'Never push to main.' > context/pinned/rules.md
echo '[{"name":"read_file","description":"Read.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}]' > ../../tools.json`).OK()
		for log, file := range logs {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s.Append(log, string(data))
		}
		sessions[name] = s
	}
	bundled := filepath.Join(harness.Root(), "examples")
	add("example", map[string]string{"messages.jsonl": filepath.Join(bundled, "session/messages.jsonl"), "events.jsonl": filepath.Join(bundled, "session/events.jsonl")})
	for _, name := range []string{"memory-folding", "summarizer"} {
		add(name, map[string]string{"messages.jsonl": filepath.Join(bundled, name, "sample-session.jsonl")})
	}
	transcripts := filepath.Join(harness.Root(), "agents/adapter/formats/testdata")
	for _, file := range []string{
		"examples/transcripts/claude-code.jsonl", "examples/transcripts/codex.jsonl",
		"claude-code/parallel-calls.jsonl", "claude-code/compaction.jsonl", "claude-code/sidechains.jsonl", "codex/rollout-2025-11-20T09-00-00-cart.jsonl",
		"codex/rollout-2025-11-20T10-00-00-compacted.jsonl", "openhands/shop.jsonl", "anthropic/messages.json", "mini-swe-agent/calc.traj.json", "native/items.jsonl",
	} {
		name := strings.ReplaceAll(file, "/", "-")
		s := m.NewSession(t)
		path := filepath.Join(transcripts, file)
		if strings.HasPrefix(file, "examples/") {
			path = filepath.Join(harness.Root(), file)
		}
		m.CLI(t, "import", path, s.Dir).OK()
		sessions[name] = s
	}
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = filepath.Join(harness.Root(), "..", "shared", "data")
	}
	real, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "*.jsonl"))
	if err != nil || len(real) == 0 {
		t.Logf("no real sessions: set CTXFS_TESTDATA (%v)", err)
	}
	for i, file := range real {
		if i%suite.Pick(t, 30, 1) == 0 {
			add(filepath.Base(filepath.Dir(file))+"-"+filepath.Base(file), map[string]string{"messages.jsonl": file})
		}
	}
	return sessions
}

// takes holds the packs of a moment to the rules of their providers.
func takes(t *testing.T, s *harness.Session, n int, typed *typedBodies) {
	t.Helper()
	for _, format := range []string{"openai", "responses", "anthropic", "gemini", "genai"} {
		data := s.Read(fmt.Sprintf("context/at/%d/pack.%s.json", n, format))
		if _, violations := nativetest.Check(format, []byte(data), func(string) int { return 0 }); len(violations) > 0 {
			t.Errorf("%s with %d messages: %s", format, n, strings.Join(violations, "\n"))
		}
		typed.add(t, format, data)
	}
}

// typedBodies are the different things that stand in bodies, with their texts cut: which text it is matters to no type. An SDK's type of a
// list allows in it what its type of an element allows, so that each element is checked once, however many packs have it.
type typedBodies struct {
	mu     sync.Mutex
	bodies int
	frames map[string]map[string]bool // of a format: bodies with one element in each list
	lists  map[string]map[string]bool // of a format and the name of a list, with a dot between them: elements
}

func (b *typedBodies) add(t *testing.T, format, data string) {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(data), &body); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bodies++
	if sdkTypes[format] == "" {
		return
	}
	note := func(set map[string]map[string]bool, of string, v any) {
		if set[of] == nil {
			set[of] = map[string]bool{}
		}
		text, err := json.Marshal(cutTexts(v))
		if err != nil {
			t.Fatal(err)
		}
		set[of][string(text)] = true
	}
	for key, v := range body {
		list, is := v.([]any)
		if !is {
			continue
		}
		for _, element := range list {
			note(b.lists, format+"."+key, element)
		}
		body[key] = list[:1]
	}
	note(b.frames, format, body)
}

// cutTexts is v with all texts cut that are longer than any that is the name of something.
func cutTexts(v any) any {
	const most = 48
	switch v := v.(type) {
	case string:
		if len(v) <= most {
			return v
		}
		cut := most
		for !utf8.RuneStart(v[cut]) {
			cut--
		}
		return v[:cut]
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cutTexts(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key := range v {
			out[key] = cutTexts(v[key])
		}
		return out
	}
	return v
}

// elementTypes are the types of the elements of lists of which a body may have several.
var elementTypes = map[string]string{"genai.contents": `import("@google/genai").Content`}

// brokenElements are elements that no type allows; each must be an error.
var brokenElements = map[string]string{
	"openai.messages":    `{"role":"assistant","content":5}`,
	"openai.tools":       `{"type":"function","function":{"description":"no name"}}`,
	"responses.input":    `{"type":"reasoning","id":"rs_1","summary":[],"content":null}`,
	"responses.tools":    `{"type":"function","name":"f"}`,
	"anthropic.messages": `{"role":"tool","content":"x"}`,
	"anthropic.system":   `{"type":"text"}`,
	"anthropic.tools":    `{"name":"f"}`,
	"genai.contents":     `{"role":"user","parts":[{"texts":"x"}]}`,
}

// check has the compiler of TypeScript look at all of it, with the types of the official SDKs.
func (b *typedBodies) check(t *testing.T) {
	harness.Need(t, "node")
	harness.Need(t, "npm")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("sdk")); err != nil {
		t.Fatal(err)
	}
	inDir(t, dir, "npm", "ci", "--prefer-offline", "--loglevel=error")
	argv := []string{"node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "--types", ""}
	const head = "type Body = %s;\ntype Element<T> = T extends readonly (infer E)[] ? E : never;\n"
	elements := 0
	for of, set := range b.lists {
		format, key, _ := strings.Cut(of, ".")
		typ := elementTypes[of]
		if typ == "" {
			typ = fmt.Sprintf("Element<NonNullable<Body[%q]>>", key)
		}
		var text strings.Builder
		fmt.Fprintf(&text, head, sdkTypes[format])
		for i, some := range slices.Collect(slices.Chunk(slices.Sorted(maps.Keys(set)), 100)) {
			fmt.Fprintf(&text, "export const some%d: (%s)[] = [\n%s\n];\n", i, typ, strings.Join(some, ",\n"))
		}
		if brokenElements[of] == "" {
			t.Errorf("there is no broken element of %s", of)
		}
		fmt.Fprintf(&text, "// @ts-expect-error\nexport const broken: (%s) = %s;\n", typ, brokenElements[of])
		file := filepath.Join(dir, of+".ts")
		write(t, file, text.String())
		argv, elements = append(argv, file), elements+len(set)
	}
	for format, set := range b.frames {
		var text strings.Builder
		fmt.Fprintf(&text, head, sdkTypes[format])
		for i, frame := range slices.Sorted(maps.Keys(set)) {
			fmt.Fprintf(&text, "export const frame%d: Body = %s;\n", i, frame)
		}
		file := filepath.Join(dir, format+".ts")
		write(t, file, text.String())
		argv, elements = append(argv, file), elements+len(set)
	}
	inDir(t, dir, argv...)
	t.Logf("%d different elements have the types of the SDKs", elements)
}
