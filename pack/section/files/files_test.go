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
		{[]one{{"MultiEdit", `{"file_path":"a.go","edits":[{},{}]}`, "", ""}, {"edit_file", `{"path":"a.go"}`, "", ""}}, "a.go: edited at 4"},
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
	for _, output := range []string{
		"<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
		"The user doesn't want to proceed with this tool use. The tool use was rejected.",
		"EACCES: permission denied, open 'a.go'",
		"[Errno 28] No space left on device",
		"Traceback (most recent call last):\nOSError: x",
		"File already exists at: a.go. Cannot overwrite files using command `create`.",
		`{"success":false,"message":"locked"}`,
		`{"error":{"code":5}}`,
		"Replaced 0 occurrences",
		"error: the text to replace does not occur in a.go; read the file again",
		"String to replace not found in file.",
		"No replacement was performed, old_str did not appear verbatim",
		"Your proposed edit has introduced new syntax error(s).",
	} {
		if got := shownAfter(one{"edit_file", `{"path":"a.go"}`, output, ""}); got != "" {
			t.Errorf("%q: %s", output, got)
		}
	}
	for _, output := range []string{
		"The file failed_cannot.go has been updated.",
		`{"success":true,"error":null}`,
		"1 replacement in a.go\nerror: old",
	} {
		got := shownAfter(one{"edit_file", `{"path":"failed_cannot.go"}`, output, ""})
		if got != "failed_cannot.go: edited at 2" {
			t.Errorf("%q: %s", output, got)
		}
	}
	for _, call := range []one{
		{"edit_file", `{"path":"a.go","dryRun":true}`, "--- a.go", ""},
		{"update_ticket", `{"file":"a.go","x":1}`, "ok", ""},
		{"editor", `{"command":"undo_edit"}`, "ok", ""},
		{"create_directory", `{"path":"/w/src"}`, "ok", ""},
		{"Write", `{"file_path":"a.md","content":"*** Begin Patch\n*** Update File: b.go\n"}`, "Error: no", ""},
		{arguments: "echo '*** Begin Patch\n*** Update File: b.go'"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n*** End Patch"}`,
			"apply_patch verification failed: Failed to find expected lines in a.go", ""},
	} {
		if got := shownAfter(call); got != "" {
			t.Errorf("%v: %s", call, got)
		}
	}
	if got := shownAfter(one{arguments: "sed -i s/a/b/ gone.go", output: "sed: can't read gone.go", exit: "2"}); got != "" {
		t.Errorf("%s", got)
	}
	got := shownAfter(one{"write_file", `{"path":"a.go","content":"x"}`, "", ""},
		one{arguments: "rm a.go && false", exit: "1"})
	if got != "a.go: written at 2, 1 bytes; a command at 4, in a script that failed: rm a.go && false" {
		t.Errorf("%s", got)
	}
}

// Commands are shown as written, without a statement about what they did.
func TestLastCommandVerbatim(t *testing.T) {
	for script, want := range map[string]string{
		"cat > a.py <<'EOF'\nimport os\nprint(1)\nEOF":      "a.py: a command at 2: cat > a.py <<'EOF' import os …",
		"mv old/a.txt new/b.txt":                            "new/b.txt: a command at 2: mv old/a.txt new/b.txt\nold/a.txt: a command at 2: mv old/a.txt new/b.txt",
		"cd /w && rm tmp.csv":                               "/w/tmp.csv: a command at 2: cd /w && rm tmp.csv",
		"./report --month 5 > out/may.csv 2> err.log":       "out/may.csv: a command at 2: ./report --month 5 > out/may.csv 2> err.log",
		"sed -i 's/a.b/c.d/' src/a.go; go test ./src/...":   "src/a.go: a command at 2: sed -i 's/a.b/c.d/' src/a.go",
		"sed -i '/DEBUG/d' src/a.go":                        "src/a.go: a command at 2: sed -i '/DEBUG/d' src/a.go",
		"sed -i -e '/DEBUG/d' src/a.go":                     "src/a.go: a command at 2: sed -i -e '/DEBUG/d' src/a.go",
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
	} {
		if got := shownAfter(calls...); strings.Count(got, "\n") > 0 {
			t.Errorf("%v:\n%s", calls, got)
		}
	}
	if got := shownAfter(one{arguments: "touch a/x.go"}, one{arguments: "touch b/x.go"}, one{arguments: "cd b && touch x.go"}); strings.Count(got, "\n") != 2 {
		t.Errorf("different files are one:\n%s", got)
	}
}

// The line of a file omitted later calls and commands that changed the file.
func TestLaterChangesAreShown(t *testing.T) {
	write := one{"Write", `{"file_path":"/w/src/a.go","content":"x"}`, "ok", ""}
	edit := one{"Edit", `{"file_path":"/w/src/a.go","old_string":"x","new_string":"y"}`, "ok", ""}
	undo := one{"str_replace_editor", `{"command":"undo_edit","path":"/w/src/a.go"}`, "Last edit undone.", ""}
	const wrote, edited = "/w/src/a.go: written at 2, 1 bytes", "; edited at 4"

	for _, c := range []struct {
		calls []one
		want  string
	}{
		{[]one{write, edit, undo}, wrote + "; edit undone at 6"},
		{[]one{write, undo}, wrote + "; edit undone at 4"},
		{[]one{write, edit, {arguments: "git checkout -- /w/src/a.go"}}, wrote + edited +
			"; a command at 6: git checkout -- /w/src/a.go"},
		{[]one{write, edit, {arguments: "git stash"}}, wrote + edited + "; a command at 6: git stash"},
		{[]one{write, edit, {arguments: "git stash list; git checkout -b x"}}, wrote + edited},
		{[]one{write, {arguments: "rm -rf /w/src/"}}, wrote + "; a command at 4: rm -rf /w/src/" +
			"\n/w/src: a command at 4: rm -rf /w/src/"},
		{[]one{write, {arguments: "mkdir -p /w/src/; ls /w/src/"}}, wrote},
		{[]one{write, {arguments: "for f in a; do rm /w/src/$f.go /w/src/a.go; done"}}, wrote +
			"; a command at 4: for f in a; do rm /w/src/$f.go /w/src/a.go; done"},
		{[]one{write, {arguments: "test -s b || rm /w/src/a.go", exit: "0"}}, wrote +
			"; a command at 4: test -s b || rm /w/src/a.go"},
		{[]one{write, {arguments: "make && rm /w/src/a.go"}}, wrote + "; a command at 4: make && rm /w/src/a.go"},
		{[]one{write, {arguments: "./gen > /w/src/a.go &"}}, wrote + "; a command at 4: ./gen > /w/src/a.go &"},
		{[]one{write, {arguments: "./gen > /w/src/a.go", output: "Command timed out after 2m"}}, wrote +
			"; a command at 4, unfinished: ./gen > /w/src/a.go"},
		{[]one{{arguments: "rm /w/src/a.go"}, {"Write", `{"file_path":"/w/src/a.go","content":"xy"}`, "ok", ""}},
			"/w/src/a.go: written at 4, 2 bytes"},
		{[]one{write, {arguments: "gofmt -w x; touch /w/src/a.go"},
			{"Edit", `{"file_path":"/w/src/a.go"}`, "ok", ""}},
			wrote + "; a command at 4: touch /w/src/a.go; edited at 6"},
		{[]one{write, {"append_file", `{"path":"/w/src/a.go","content":"z"}`, "ok", ""},
			{"Write", `{"file_path":"/w/src/a.go","content":"z","append":true}`, "ok", ""}},
			wrote + "; edited at 6"},
		{[]one{write, {"delete_lines", `{"path":"/w/src/a.go","from":1}`, "ok", ""}}, wrote + edited},
		{[]one{write, {"move_directory", `{"source":"/w/src","destination":"/w/lib"}`, "ok", ""}},
			"/w/src: moved to /w/lib at 4\n" + wrote},
		{[]one{write, {"Write", `{"file_path":"/w/b.go","content":"long"}`, "ok", ""},
			{"move_file", `{"source":"/w/src/a.go","destination":"/w/b.go"}`, "ok", ""}},
			"/w/src/a.go: moved to /w/b.go at 6"},
		{[]one{write, {"remove_file", `{"path":"/w/src/a.go"}`, "ok", ""}}, "/w/src/a.go: deleted at 4"},
	} {
		if got := shownAfter(c.calls...); got != c.want {
			t.Errorf("%v:\n%s\nwant\n%s", c.calls[1:], got, c.want)
		}
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

// A transcript that masks a text has another size than the file.
func TestMaskedWriteHadAFalseSize(t *testing.T) {
	for result, want := range map[string]string{
		"Successfully wrote 1187 bytes to /w/a.py": "/w/a.py: written at 2",
		"Successfully wrote 3 bytes to /w/a.py":    "/w/a.py: written at 2, 3 bytes",
		"ok":                                       "/w/a.py: written at 2, 3 bytes",
	} {
		call := one{"write_file", `{"path":"/w/a.py","content":"***"}`, result, ""}
		if got := shownAfter(call); got != want {
			t.Errorf("%s: %q, want %q", result, got, want)
		}
	}
}

// Files that a command removed, moved, or undid with their directory or working tree read as present.
func TestRemovedTreeIsShown(t *testing.T) {
	const wrote = "lib/b.go: written at 2, 1 bytes"
	write := one{"write_file", `{"path":"lib/b.go","content":"x"}`, "ok", ""}
	for command, hits := range map[string]bool{
		"rm -rf lib": true, "mv lib old": true, "rm lib/*.go": true, "cd /w && rm -r lib": true, "git rm -r lib": true,
		"git stash -u": true, "git clean -fdx": true, "cd /w && git clean -fdx": true, "git checkout .": true, "git checkout -- lib/": true,
		"git reset --hard": true, "git reset HEAD lib": false, "rm -rf li": false, "git stash list": false, "ls lib": false,
		"echo rm -rf lib": false, "git checkout -b x": false, "rm *.txt": false,
	} {
		want := wrote
		if hits {
			want += "; a command at 4: " + command
		}
		if got := shownAfter(write, one{arguments: command}); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
	if got := shownAfter(one{"write_file", `{"path":"/w/a.go","content":"x"}`, "ok", ""}, one{arguments: "cd /v && git clean -fdx"}); strings.Contains(got, "command") {
		t.Errorf("a command in another tree: %s", got)
	}
}
