package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// summarize runs the generator of examples/memory-folding on a log.
func summarize(t *testing.T, log string, args ...string) string {
	t.Helper()
	harness.Need(t, "python3")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "messages.jsonl"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(harness.Root(), "examples/memory-folding/tools/summarize.py")
	cmd := exec.Command("python3", append([]string{"-I", tool}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C", "CTX_SESSION=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// A user's generator meets whatever harnesses write: none of it may end the fold.
func TestSummarizeNeverFailsOnOddRecords(t *testing.T) {
	odd := []string{
		`{"role":"user","content":null}`,
		`{"role":"user","content":[{"type":"text","text":"Keep the port."},{"type":"image_url"},7,null,"and the host"]}`,
		`{"role":"user","content":{"a":1}}`,
		`{"role":"assistant","content":"Decision: stay.\nDecision:   also \ud800 this"}`,
		`{"role":"assistant","tool_calls":"none"}`,
		`{"role":"assistant","tool_calls":[null,3,{"function":7},{"name":"write","arguments":{"path":["x"]}},{"function":{"name":null,"arguments":"{"}},{"name":"edit_file","arguments":{"path":"a.go"}}]}`,
		`{"role":["x"],"content":"odd role"}`,
		`{"role":"tool","content":["boom: ValueError: x"]}`,
		`{"role":"tool","content":17}`,
		"not JSON", "[1]", `"a string"`, "", "\xff\xfe",
		strings.Repeat("[", 100_000),
		`{"n":` + strings.Repeat("9", 10_000) + `}`,
		`{"role":"assistant"}`,
	}
	log := strings.Join(odd, "\n") + "\n"
	out := summarize(t, log, "--keep", "0")
	for _, want := range []string{"- Keep the port. and the host (2)", "- stay. (4)", "- a.go (6)", "- boom: ValueError: x (8)"} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, record := range odd {
		summarize(t, record, "--keep", "0")
	}
	if again := summarize(t, log, "--keep", "0"); again != out {
		t.Errorf("another run gives another page:\n%s", again)
	}
}

// What the journal shows is not folded as well, and nothing falls between the two.
func TestSummarizeLeavesTheLastIterationsToTheJournal(t *testing.T) {
	log := ""
	for _, r := range []string{"user one", "assistant a", "tool b", "user two", "assistant c", "tool d", "tool e", "user three", "user four", "assistant f", "user five"} {
		role, content, _ := strings.Cut(r, " ")
		log += harness.Message(role, content)
	}
	for keep, want := range map[string]string{"0": "1 to 11", "1": "1 to 10", "2": "1 to 7", "3": "1 to 3", "4": "long ago", "9": "long ago"} {
		if out := summarize(t, log, "--keep", keep); !strings.Contains(out, want) {
			t.Errorf("--keep %s: no %q in\n%s", keep, want, out)
		}
	}
	if out := summarize(t, ""); out != "Nothing is long ago yet.\n" {
		t.Errorf("of an empty log: %q", out)
	}
}
