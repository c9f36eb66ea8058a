package ledger

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// did is a call of a tool with its result.
type did struct{ tool, args, result string }

// fold returns the state after calls. The result of the n-th, from 1, stands at 2n.
func fold(s State, list ...did) State {
	for i, c := range list {
		id := strconv.Itoa(i)
		s = s.Apply(toolcall.Record{At: 2*i + 1, Calls: []ctxabi.Call{{ID: id, Name: c.tool, Arguments: c.args}}})
		s = s.Apply(toolcall.Record{At: 2*i + 2, Results: []toolcall.Result{{Call: id, Text: c.result}}})
	}
	return s
}

// says returns what a state says of each path that is no directory.
func says(s State) string {
	var out []string
	for _, f := range s.Files() {
		if f.Kind == Directory {
			continue
		}
		text := f.Path + [...]string{"?", "+", "-"}[f.Exists]
		switch {
		case f.Text != nil:
			text += fmt.Sprintf("%q", f.Text.Body)
		case f.Change != nil:
			text += fmt.Sprintf("%q>%q", f.Change.Old, f.Change.New)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestTools(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a.go\n@@\n one\n-two\n+three\n*** Add File: b.go\n+new\n*** Delete File: c.go\n*** End Patch"
	quoted, _ := json.Marshal(patch)
	wrote := did{"write", `{"path":"a.go","content":"one\ntwo\n"}`, "Successfully wrote 8 bytes"}
	for _, c := range []struct {
		list []did
		want string
	}{
		{[]did{wrote}, `a.go+"one\ntwo\n"`},
		{[]did{{"write_file", `{"file_path":"/w/a.go","content":"x"}`, "ok"}}, `/w/a.go+"x"`},
		{[]did{{"create_file", `{"filePath":"a.go","content":"x"}`, ""}}, `a.go+"x"`},
		{[]did{{"write_to_file", `{"path":"a.go","content":"x"}`, ""}}, `a.go+"x"`},
		{[]did{{"mcp__fs__write_file", `{"path":"a.go","content":"x"}`, ""}}, `a.go+"x"`},
		{[]did{{"str_replace_editor", `{"command":"create","path":"/w/a.go","file_text":"x\n"}`, "File created successfully at: /w/a.go"}, {"str_replace_editor", `{"command":"str_replace","path":"/w/a.go","old_str":"x","new_str":"y"}`, "The file /w/a.go has been edited."}}, `/w/a.go+"y\n"`},
		{[]did{{"str_replace_based_edit_tool", `{"command":"str_replace","path":"a.go","old_str":"x","new_str":"y"}`, "No replacement was performed, old_str `x` did not appear verbatim in a.go."}}, ""},
		{[]did{{"str_replace_editor", `{"command":"insert","path":"a.go","insert_line":3,"new_str":"y"}`, "The file a.go has been edited."}}, `a.go+"">"y"`},
		{[]did{wrote, {"edit", `{"path":"a.go","oldText":"two","newText":"three"}`, "Successfully replaced text in a.go."}}, `a.go+"one\nthree\n"`},
		{[]did{{"edit", `{"path":"a.go","oldText":"two","newText":"three"}`, "Successfully replaced text in a.go."}}, `a.go+"two">"three"`},
		{[]did{wrote, {"edit", `{"path":"a.go","oldText":"ten","newText":"three"}`, "Could not find the exact text in a.go."}}, `a.go+"one\ntwo\n"`},
		{[]did{wrote, {"Edit", `{"file_path":"a.go","old_string":"ten","new_string":"x"}`, "<tool_use_error>String to replace not found in file.</tool_use_error>"}}, `a.go+"one\ntwo\n"`},
		{[]did{wrote, {"MultiEdit", `{"file_path":"a.go","edits":[{"old_string":"one","new_string":"1"},{"old_string":"two","new_string":"2"}]}`, "Applied 2 edits"}}, `a.go+"1\n2\n"`},
		{[]did{wrote, {"Edit", `{"file_path":"a.go","old_string":"o","new_string":"0","replace_all":true}`, "ok"}}, `a.go+"0ne\ntw0\n"`},
		{[]did{wrote, {"replace", `{"file_path":"a.go","old_string":"one","new_string":"1"}`, "Successfully modified file"}}, `a.go+"1\ntwo\n"`},
		{[]did{wrote, {"search_replace", `{"file_path":"a.go","old_string":"one","new_string":"1"}`, "done"}}, `a.go+"1\ntwo\n"`},
		{[]did{wrote, {"edit_file", `{"target_file":"a.go","instructions":"x","code_edit":"// ... existing"}`, "The edit was applied"}}, `a.go+"">"// ... existing"`},
		{[]did{wrote, {"delete_file", `{"target_file":"a.go"}`, "deleted"}}, `a.go-`},
		{[]did{wrote, {"move_file", `{"source":"a.go","destination":"d/b.go"}`, "moved"}}, `a.go- d/b.go+"one\ntwo\n"`},
		{[]did{wrote, {"NotebookEdit", `{"notebook_path":"n.ipynb","new_source":"x"}`, "ok"}}, `a.go+"one\ntwo\n" n.ipynb+"">"x"`},
		{[]did{wrote, {"apply_patch", `{"input":` + string(quoted) + `}`, "Success. Updated the following files:\nM a.go"}}, `a.go+"one\nthree\n" b.go+"new\n" c.go-`},
		{[]did{wrote, {"apply_patch", patch, "Done!"}}, `a.go+"one\nthree\n" b.go+"new\n" c.go-`},
		{[]did{wrote, {"shell", `{"command":["apply_patch",` + string(quoted) + `]}`, "Exit code: 0\nOutput:\nSuccess. Updated the following files:\nM a.go"}}, `a.go+"one\nthree\n" b.go+"new\n" c.go-`},
		{[]did{wrote, {"shell", `{"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a.go\n*** End Patch\nEOF"]}`, "Exit code: 0\nOutput:\nSuccess. Updated the following files:\nD a.go"}}, `a.go-`},
		{[]did{wrote, {"apply_patch", patch, "Error: invalid context"}}, `a.go+"one\ntwo\n"`},
		{[]did{{"Read", `{"file_path":"a.go"}`, "     1→one\n     2→\ttwo\n\n<system-reminder>\nx\n</system-reminder>\n"}}, `a.go+"one\n\ttwo"`},
		{[]did{{"read", `{"path":"a.go"}`, "one\n\n... (620 more lines not shown. Use offset=770 to continue reading)"}}, `a.go+`},
		{[]did{{"read", `{"path":"a.go","offset":3,"limit":2}`, "one\n"}}, `a.go+`},
		{[]did{{"read_file", `{"path":"a.go"}`, "Error: ENOENT: no such file or directory"}}, ``},
		{[]did{wrote, {"bash", `{"command":"cat a.go"}`, "one\n2\n"}}, `a.go+"one\n2\n"`},
		{[]did{wrote, {"search_files", `{"path":"a.go","query":"x"}`, "none"}, {"send", `{"file":"a.go","content":"y"}`, "ok"}}, `a.go+"one\ntwo\n"`},
		{[]did{{"bash", `{"command":"create a.py"}`, "[File: /w/a.py (1 lines total)]\n1:\n"}, {"bash", `{"command":"edit 1:1\nx = 1\nend_of_edit"}`, "[File: /w/a.py (1 lines total)]\n1:x = 1\n"}, {"bash", `{"command":"rm a.py"}`, ""}}, `/w/a.py-`},
		{[]did{wrote, {"bash", `{"command":"pwd"}`, "/w\n"}, {"write", `{"path":"/w/a.go","content":"y"}`, "ok"}}, `/w/a.go+"y"`},
		{[]did{{"bash", `{"command":"cd src/x && echo a > b"}`, ""}, {"bash", `{"command":"cd src/x && echo c > b"}`, ""}}, `src/x/b+"c\n"`},
		{[]did{{"shell", `{"command":"echo a > b","workdir":"/w/d"}`, "Exit code: 0\nOutput:\n"}}, `/w/d/b+"a\n"`},
		{[]did{wrote, {"write", `{"path":"/w/a.go","content":"y"}`, "ok"}}, `/w/a.go+"y" a.go?`},
		{[]did{wrote, {"bash", `{"command":"rm -rf a.go"}`, "Command timed out after 10 seconds"}}, `a.go?`},
	} {
		if got := says(fold(State{}, c.list...)); got != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.list, got, c.want)
		}
	}
}

// A call without a result may have been done; one that was refused was not.
func TestOpenAndRefusedCalls(t *testing.T) {
	s := fold(State{}, did{"write", `{"path":"a","content":"x"}`, "ok"}, did{"write", `{"path":"b","content":"x"}`, "ok"})
	s = s.Apply(toolcall.Record{At: 10, Calls: []ctxabi.Call{{ID: "p", Name: "bash", Arguments: `{"command":"rm a"}`}, {ID: "q", Name: "bash", Arguments: `{"command":"rm b"}`}}})
	s = s.Apply(toolcall.Record{At: 11, Results: []toolcall.Result{{Call: "q", Text: "The user rejected this call", Failed: true}}})
	if got := says(s); got != `a+"x" b+"x"` {
		t.Errorf("%s", got)
	}
	s = s.Apply(toolcall.Record{At: 12, Calls: []ctxabi.Call{{ID: "r", Name: "bash", Arguments: `{"command":"ls"}`}}})
	if got := says(s); got != `a? b+"x"` {
		t.Errorf("%s", got)
	}
}

func TestBoundsOfAState(t *testing.T) {
	var s State
	for i := range 700 {
		s = fold(s, did{"write", fmt.Sprintf(`{"path":"d%d/f%d","content":%q}`, i%7, i, strings.Repeat("x", 8<<10)), "ok"})
	}
	held := 0
	for _, f := range s.Files() {
		if f.Text != nil {
			held += len(f.Text.Body)
		}
	}
	if len(s.Files()) > MaxFiles || held > maxHeld || held < maxHeld/2 {
		t.Errorf("%d files, %d bytes", len(s.Files()), held)
	}
	for _, chars := range []int{0, 20, 100, 1000, 10000} {
		lines := s.Lines(Options{Chars: chars})
		if got := len(strings.Join(lines, "\n")); got > chars || chars >= 1000 && len(lines) == 0 {
			t.Errorf("%d bytes in %d lines where %d are allowed", got, len(lines), chars)
		}
	}
	before := says(s)
	fold(s, did{"bash", `{"command":"rm -rf d1 d2; echo x > d3/f3; mv d4 d5"}`, ""})
	if says(s) != before {
		t.Error("an old state has changed")
	}
}

func TestLines(t *testing.T) {
	s := fold(State{}.In("/w"),
		did{"write", `{"path":"src/a.go","content":"package a\n\nfunc A() {}\n"}`, "ok"},
		did{"edit", `{"path":"src/b.go","oldText":"x := 1\nsame","newText":"x := 2\nsame"}`, "ok"},
		did{"bash", `{"command":"cp src/a.go a.bak && mv src/a.go src/c.go"}`, ""},
		did{"bash", `{"command":"rm old.txt"}`, ""},
		did{"bash", `{"command":"make generate"}`, ""},
		did{"bash", `{"command":"sed -i s/a/b/ src/d.go"}`, ""},
		did{"bash", `{"command":"test -f q && rm -f src/d.go"}`, ""},
		did{"write", `{"path":"new.py","content":"print(1)\n"}`, "ok"},
	)
	want := "new.py: created (16); 1 lines, 9 B\n" +
		"  | print(1)\n" +
		"src/d.go: state unknown: may have been deleted by `rm -f src/d.go` (14)\n" +
		"Below, as of before `make generate` (10), which may have changed files:\n" +
		"old.txt: deleted (8)\n" +
		"src/a.go: moved to src/c.go (6)\n" +
		"src/c.go: moved from src/a.go (6); 3 lines, 23 B\n" +
		"a.bak: copy of src/a.go as of then (6); 3 lines, 23 B\n" +
		"src/b.go: changed (4)\n" +
		"  | - x := 1\n" +
		"  | + x := 2"
	if got := strings.Join(s.Lines(Options{Chars: 4000}), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := s.Lines(Options{Chars: 60, Where: func(at int) string { return "m" + strconv.Itoa(at) }}); len(got) != 1 || got[0] != "new.py: created (m16); 1 lines, 9 B" {
		t.Errorf("%q", got)
	}
}

// FuzzScript looks for scripts that crash the reader, or take long.
func FuzzScript(f *testing.F) {
	for _, c := range cases {
		for _, s := range c.steps {
			f.Add(s.text, "x")
		}
	}
	for _, s := range []string{strings.Repeat("(", 5000), strings.Repeat("a && ", 2000) + "b", strings.Repeat("if a; then ", 500), "f() { f; }; f", "for i in " + strings.Repeat("a ", 30) + "; do for j in " + strings.Repeat("b ", 30) + "; do touch $i$j; done; done", " ()f{ rm a.txt; }; f", "rm [", "mv *[ a", "cat <<A\n$(cat <<B\nB\n)\nA", "echo ${a:=$(rm b)} > {1..99999}", "~root", "cd ~ && rm ../*", "bash -c \"bash -c 'bash -c \\\"rm a\\\"'\"", "\x00\xff > \xfe"} {
		f.Add(s, "sh: 1: x")
	}
	start := fold(State{}, did{"write", `{"path":"a","content":"x"}`, "ok"}, did{"write", `{"path":"d/b.txt","content":"x"}`, "ok"})
	f.Fuzz(func(t *testing.T, script, output string) {
		args, _ := json.Marshal(map[string]string{"command": script})
		before := says(start)
		s := fold(start, did{"bash", string(args), output})
		if says(start) != before {
			t.Error("an old state has changed")
		}
		for i, f := range s.Files() {
			if i > 0 && s.Files()[i-1].Path >= f.Path {
				t.Errorf("%q stands before %q", s.Files()[i-1].Path, f.Path)
			}
			if f.Text != nil && f.Exists != Present {
				t.Errorf("%+v has a text", f)
			}
		}
		s.Lines(Options{Chars: 500})
	})
}

func BenchmarkApply(b *testing.B) {
	var s State
	for i := range 400 {
		s = fold(s, did{"write", fmt.Sprintf(`{"path":"d%d/f%d.go","content":"package a\n"}`, i%7, i), "ok"})
	}
	for name, c := range map[string]did{
		"edit":    {"edit", `{"path":"d1/f1.go","oldText":"package a","newText":"package b"}`, "Successfully replaced text in d1/f1.go."},
		"shell":   {"bash", `{"command":"cd d1 && cp f1.go f1.bak && rm -f f8.go && go test ./... 2>&1 | tail -20"}`, strings.Repeat("ok  \texample.com/a\t0.1s\n", 20)},
		"heredoc": {"bash", `{"command":"cat > d1/x.py <<'EOF'\n` + strings.Repeat(`print('line of a program')\n`, 100) + `EOF\npython d1/x.py"}`, "done\n"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				fold(s, c)
			}
		})
	}
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			s.Apply(toolcall.Record{At: 9})
		}
	})
}
