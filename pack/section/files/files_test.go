package files

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/pack/prefix"
)

// one is a call with its result; an empty tool stands for a shell.
type one struct{ tool, arguments, output, exit string }

// shownAfter returns the lines after calls whose results are at positions 2, 4, ….
func shownAfter(calls ...one) string {
	s := &State{}
	for i, c := range calls {
		d := toolcall.Done{At: 2*i + 2, Tool: c.tool, Arguments: c.arguments, Result: toolcall.Result{Text: c.output, Exit: c.exit}}
		if c.tool == "" {
			raw, _ := json.Marshal(map[string]string{"command": c.arguments})
			d.Tool, d.Arguments = "bash", string(raw)
		}
		s.Apply(&prefix.Record{At: d.At, Calls: []toolcall.Done{d}})
	}
	var out []string
	for _, l := range s.Lines(prefix.LineInput{Where: strconv.Itoa}) {
		out = append(out, l.Full)
	}
	return strings.Join(out, "\n")
}

func TestStructuredTools(t *testing.T) {
	for _, c := range []struct {
		calls []one
		want  string
	}{
		{[]one{{"write_file", `{"path":"a.go","content":"package a\n"}`, "ok", ""}}, "a.go: written at 2, 10 bytes"},
		{[]one{{"Write", `{"file_path":"/w/a.go","content":"x"}`, "", ""}, {"Edit", `{"file_path":"/w/a.go","old_string":"x","new_string":"y"}`, "", ""}}, "/w/a.go: written at 2, 1 bytes; edited at 4"},
		{[]one{{"MultiEdit", `{"file_path":"a.go","edits":[{},{}]}`, "", ""}, {"edit_file", `{"path":"a.go"}`, "", ""}}, "a.go: edited 2 times, last at 4"},
		{[]one{{"NotebookEdit", `{"notebook_path":"n.ipynb","new_source":"x"}`, "", ""}}, "n.ipynb: edited at 2"},
		{[]one{{"str_replace_editor", `{"command":"create","path":"/w/b.py","file_text":"xyz"}`, "", ""}, {"str_replace_editor", `{"command":"view","path":"/w/c.py"}`, "", ""}}, "/w/b.py: written at 2, 3 bytes"},
		{[]one{{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Delete File: b.go\n*** Update File: c.go\n*** Move to: d.go\n*** End Patch"}`, "Done!", ""}}, "c.go: moved to d.go at 2\nb.go: deleted at 2\na.go: edited at 2"},
		{[]one{{"move_file", `{"source":"a/x.txt","destination":"b/x.txt"}`, "", ""}}, "a/x.txt: moved to b/x.txt at 2"},
		{[]one{{"delete_file", `{"path":"a.go"}`, "", ""}}, "a.go: deleted at 2"},
		{[]one{{"read_file", `{"path":"a.go"}`, "x", ""}, {"grep_search", `{"path":"a.go","query":"x"}`, "x", ""}}, ""},
	} {
		if got := shownAfter(c.calls...); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.calls, got, c.want)
		}
	}
}

// A failed call changes nothing.
func TestFailedEditChangesNothing(t *testing.T) {
	for _, output := range []string{"error: the text to replace does not occur in a.go; read the file again", "String to replace not found in file.", "No replacement was performed, old_str did not appear verbatim", "Your proposed edit has introduced new syntax error(s)."} {
		if got := shownAfter(one{"edit_file", `{"path":"a.go"}`, output, ""}); got != "" {
			t.Errorf("%q: %s", output, got)
		}
	}
	if got := shownAfter(one{arguments: "sed -i s/a/b/ gone.go", output: "sed: can't read gone.go", exit: "2"}); got != "" {
		t.Errorf("%s", got)
	}
	if got := shownAfter(one{"write_file", `{"path":"a.go","content":"x"}`, "", ""}, one{arguments: "rm a.go && false", exit: "1"}); got != "a.go: written at 2, 1 bytes; last command at 4, failed: rm a.go" {
		t.Errorf("%s", got)
	}
}

// Commands are shown as written, without a statement about what they did.
func TestLastCommandVerbatim(t *testing.T) {
	for script, want := range map[string]string{
		"cat > a.py <<'EOF'\nimport os\nprint(1)\nEOF":      "a.py: last command at 2: cat > a.py <<'EOF' import os …",
		"mv old/a.txt new/b.txt":                            "new/b.txt: last command at 2: mv old/a.txt new/b.txt\nold/a.txt: last command at 2: mv old/a.txt new/b.txt",
		"cd /w && rm tmp.csv":                               "tmp.csv: last command at 2: cd /w && rm tmp.csv",
		"./report --month 5 > out/may.csv 2> err.log":       "out/may.csv: last command at 2: ./report --month 5 > out/may.csv 2> err.log",
		"sed -i 's/a.b/c.d/' src/a.go; go test ./src/...":   "src/a.go: last command at 2: sed -i 's/a.b/c.d/' src/a.go",
		"python3 - <<'EOF'\nopen('split.py','w')\nEOF":      "",
		"cat a.go | grep -n x; ls src/; python a.py":        "",
		"pip install x==1.2.3 > /dev/null":                  "",
		"rm *.log $TMP/x.txt https://x/y.txt 1.5 v1/ -rf.x": "",
	} {
		if got := shownAfter(one{arguments: script}); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", script, got, want)
		}
	}
}

// A file was listed twice, with its relative and its absolute path.
func TestOneFileOneLine(t *testing.T) {
	for _, calls := range [][]one{
		{{"write_file", `{"path":"/w/e.csv","content":"x"}`, "", ""}, {arguments: "cd /w && rm e.csv"}},
		{{arguments: "cd /w; touch e.csv"}, {arguments: "rm -f /w/e.csv"}},
		{{arguments: "touch e.csv", output: "\n[Current working directory: /w]"}, {arguments: "touch e.csv"}, {arguments: "rm /w/e.csv"}},
	} {
		if got := shownAfter(calls...); strings.Count(got, "\n") > 0 {
			t.Errorf("%v:\n%s", calls, got)
		}
	}
	if got := shownAfter(one{arguments: "touch a/x.go"}, one{arguments: "touch b/x.go"}, one{arguments: "cd b && touch x.go"}); strings.Count(got, "\n") != 2 {
		t.Errorf("different files are one:\n%s", got)
	}
}

func TestStateIsBounded(t *testing.T) {
	var calls []one
	for i := range 2 * maxFiles {
		calls = append(calls, one{"write_file", fmt.Sprintf(`{"path":"f%d.go","content":"x"}`, i), "", ""})
	}
	if n := strings.Count(shownAfter(calls...), "\n") + 1; n != maxFiles {
		t.Errorf("%d lines", n)
	}
}
