package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A transcript that has grown adds what is new; half a line waits for its end.
func TestAGrowingTranscript(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for _, s := range some(t, 1) {
		data, err := os.ReadFile(s.file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(data), "\n")
		if s.hostile || !strings.HasSuffix(s.file, ".jsonl") || len(lines) < 4 {
			continue
		}
		t.Run(s.name(), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), filepath.Base(s.file))
			p, once := at(m, "growing", s.session()), at(m, "once", s.session())
			half := strings.Join(lines[:len(lines)/2], "")
			for _, part := range []string{half, half + lines[len(lines)/2][:len(lines[len(lines)/2])/2], string(data)} {
				if err := os.WriteFile(file, []byte(part), 0o600); err != nil {
					t.Fatal(err)
				}
				if r := m.CLI(t, "import", "--format", s.format, file, p.path); r.Code != 0 && !strings.Contains(r.Stderr, "nothing was imported") {
					t.Fatal(r.Stderr)
				}
			}
			m.CLI(t, "import", s.file, once.path).OK()
			out, _ := p.export(t, s.format)
			if diff := adaptertest.CanonicalEqual(data, []byte(out)); diff != "" {
				t.Errorf("it is not what it grew to: %s", diff)
			}
			if got := m.CLI(t, "import", file, p.path); !strings.Contains(got.Stderr, nothingNew) {
				t.Errorf("imported once more it says: %s", got.Stderr)
			}
		})
	}
}

// Standard input is read like a file, also when its last line is torn.
func TestStandardInput(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	data, err := os.ReadFile(filepath.Join(harness.Root(), "agents/adapter/formats/testdata/native/with-children.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	p := at(m, "stdin", "s1")
	r := m.Run(t, harness.Client{UID: harness.Self(), Argv: []string{harness.Binary(t), "import", "-", p.path}, Stdin: strings.NewReader(string(data) + `{"type":"no`)})
	if r.OK(); !strings.Contains(r.Stderr, "is cut off") || p.lines(t, "messages.jsonl") != 4 {
		t.Errorf("%s", r.Stderr)
	}
	if out, _ := p.export(t, "native"); out != string(data) {
		t.Errorf("exported as %s", out)
	}
}

// An import that is killed, or interrupted while it waits, is finished by the
// next one: nothing is missing, nothing is there twice.
func TestAnImportThatIsCutShort(t *testing.T) {
	for name, signal := range map[string]os.Signal{"killed": os.Kill, "interrupted": os.Interrupt} {
		t.Run(name, func(t *testing.T) { testCutShort(t, signal) })
	}
}

func testCutShort(t *testing.T, signal os.Signal) {
	m := harness.Start(t, harness.Options{})
	var lines []string
	for i := range 40000 {
		lines = append(lines, harness.Message([]string{"user", "assistant"}[i%2], fmt.Sprintf("Turn %d. %s", i, strings.Repeat("It retries with backoff. ", 8))))
	}
	data := `{"ctxfs":"messages","version":1}` + "\n" + strings.Join(lines, "")
	p := at(m, "killed", "s1")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := m.Command(context.Background(), harness.Client{UID: harness.Self(), Argv: []string{harness.Binary(t), "import", "-", p.path}, Stdin: read})
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func(signal os.Signal) {
		if !ended {
			ended = true
			cmd.Process.Signal(signal)
			cmd.Wait()
		}
	}
	defer end(os.Kill)
	read.Close()
	fed := make(chan struct{})
	go func() { // the pipe stays open, so that the import never comes to the end
		defer close(fed)
		write.WriteString(data[:len(data)*3/4])
	}()
	harness.Eventually(t, "the first records arrive", func() bool {
		fi, err := os.Stat(filepath.Join(p.path, "messages.jsonl"))
		return err == nil && fi.Size() > 1<<20
	})
	second := m.CLI(t, "import", filepath.Join(harness.Root(), "agents/adapter/formats/testdata/native/exact-bytes.jsonl"), p.path)
	if second.Code != 3 || !strings.Contains(second.Stderr, "another import into") {
		t.Errorf("a second import meanwhile: exit %d, %s", second.Code, second.Stderr)
	}
	end(signal)
	<-fed
	write.Close()
	if code := cmd.ProcessState.ExitCode(); signal == os.Interrupt && (code != 1 || !strings.Contains(said.String(), "import again for the rest")) {
		t.Errorf("interrupted, it ends with %d: %s", code, said.String())
	}
	before := p.lines(t, "messages.jsonl")
	r := m.Run(t, harness.Client{UID: harness.Self(), Argv: []string{harness.Binary(t), "import", "-", p.path}, Stdin: strings.NewReader(data)})
	if r.OK(); !strings.Contains(strings.ReplaceAll(r.Stderr, ",", ""), fmt.Sprintf("added %d messages; there already: %d records", len(lines)-before, before)) {
		t.Errorf("killed behind %d messages; then: %s", before, r.Stderr)
	}
	if p.read(t, "messages.jsonl") != strings.Join(lines, "") {
		t.Error("the session is not the transcript")
	}
}

// A transcript of 40 MB comes in, can be searched and packed, and comes out.
func TestALargeTranscript(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	data := largeSession(suite.Pick(t, 10<<20, 40<<20))
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	p := at(m, "large", "s1")
	t.Log(m.CLI(t, "import", file, p.path).OK())
	usable(t, p)
	if found := m.CLI(t, "search", p.path, "needle4712").OK(); !strings.Contains(found, "needle4712") {
		t.Errorf("search finds %s", found)
	}
	if again := m.CLI(t, "import", file, p.path); !strings.Contains(again.Stderr, nothingNew) {
		t.Errorf("imported again it says: %s", again.Stderr)
	}
	if out, _ := p.export(t, "claude-code"); adaptertest.CanonicalEqual([]byte(data), []byte(out)) != "" {
		t.Error("it is another transcript")
	}
}

// largeSession is a session of Claude Code of about that many bytes.
func largeSession(bytes int) string {
	var b strings.Builder
	parent := "null"
	for n := 0; b.Len() < bytes; n += 2 {
		id := func(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }
		line := func(kind, parent, id, message string) {
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/src/app","sessionId":"5f1c2d7e-0000-4000-8000-000000000000","version":"2.0.14","gitBranch":"main","type":%q,"message":%s,"uuid":%q,"timestamp":"2026-03-02T09:14:01.%03dZ"}`+"\n",
				parent, kind, message, id, n%1000)
		}
		question, _ := json.Marshal(fmt.Sprintf("Question %d about needle%d: %s", n, n, strings.Repeat("what of the token refresh? ", 40)))
		line("user", parent, id(n), fmt.Sprintf(`{"role":"user","content":%s}`, question))
		answer, _ := json.Marshal(fmt.Sprintf("Answer %d. %s", n, strings.Repeat("It retries with backoff <é>.\n", 50)))
		line("assistant", fmt.Sprintf("%q", id(n)), id(n+1), fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%s}],"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":20}}`, n, answer, n))
		parent = fmt.Sprintf("%q", id(n+1))
	}
	return b.String()
}
