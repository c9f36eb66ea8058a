package toolcall

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestPairs(t *testing.T) {
	call := func(id string) ctxabi.Call { return ctxabi.Call{ID: id, Name: "t" + id} }
	var o Open
	var got []string
	step := func(r Record) {
		var done []Done
		before := len(o.calls)
		next, done := o.Next(r)
		if len(o.calls) != before {
			t.Error("an old value has changed")
		}
		o = next
		for _, d := range done {
			got = append(got, fmt.Sprint(d.Called, ">", d.At, d.Tool, d.Open))
		}
	}
	step(Record{At: 1, Calls: []ctxabi.Call{call("a"), call("b"), call("c")}})
	step(Record{At: 2, Results: []Result{{Call: "b"}}})
	step(Record{At: 3})
	step(Record{At: 4, Results: []Result{{Tool: "x"}}}) // answers the oldest
	step(Record{At: 5, Calls: []ctxabi.Call{call("d")}})
	step(Record{At: 6, Calls: []ctxabi.Call{call("e")}})
	step(Record{At: 7, Results: []Result{{Call: "d"}, {Call: "q", Tool: "y"}}})
	step(Record{At: 16, Results: []Result{{Call: "f"}}})
	step(Record{At: 17, Calls: []ctxabi.Call{call("f"), call("g")}})
	step(Record{At: 18, Results: []Result{{Call: "g"}}})
	want := "[1>2tbfalse 1>4tafalse 1>1tctrue 5>5tdtrue 5>7tdfalse 0>7yfalse 6>6tetrue 17>16tffalse 17>18tgfalse]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for i := range 100 {
		o, _ = o.Next(Record{At: 10 + i, Calls: []ctxabi.Call{call("z")}})
	}
	if n := len(o.calls); n != maxOpen {
		t.Errorf("%d calls wait", n)
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		r    Result
		want Status
		body string
	}{
		{Result{Text: "a\n"}, Unknown, "a"},
		{Result{Text: "a\n", Exit: "0"}, Succeeded, "a"},
		{Result{Text: "a\n", Exit: "2"}, Failed, "a"},
		{Result{Text: "a\n", Failed: true}, Failed, "a"},
		{Result{Text: "a\n\nCommand exited with code 1"}, Failed, "a"},
		{Result{Text: `{"output":"a\n","metadata":{"exit_code":0,"duration_seconds":0.1}}`}, Succeeded, "a\n"},
		{Result{Text: `{"output":"a\n","metadata":{"exit_code":2,"duration_seconds":0.1}}`}, Failed, "a\n"},
		{Result{Text: "Exit code: 0\nWall time: 0.1 seconds\nOutput:\na\n"}, Succeeded, "a"},
		{Result{Text: "Exit code: 3\nWall time: 0.1 seconds\nOutput:\na\n"}, Failed, "a"},
		{Result{Text: "<returncode>0</returncode>\n<output>\na\n</output>"}, Succeeded, "a"},
		{Result{Text: "<returncode>1</returncode>\n<output>\na\n</output>"}, Failed, "a"},
		{Result{Text: "a\n[The command completed with exit code 0.]\n[Current working directory: /w]"}, Succeeded, "a"},
		{Result{Text: "a\n[The command completed with exit code 1.]\n[Current working directory: /w]"}, Failed, "a"},
		{Result{Text: "a\n[exit 1]"}, Failed, "a"},
		{Result{Text: "Exit code 1\na\n"}, Failed, "a"},
		{Result{Text: "Command: a\nOutput: b\nExit Code: 2\nSignal: 0\nProcess Group PGID: 7"}, Failed,
			"Command: a\nOutput: b"},
		{Result{Text: "timed out\n[exit 1]"}, Failed, "timed out"},
		{Result{Text: "a\n\nexit status 1"}, Failed, "a"},
		{Result{Text: "Exit code 1", Failed: true}, Failed, ""},
		{Result{Text: "a\nexit status 1"}, Failed, "a"},
		{Result{Text: "a\nexit code: 1"}, Unknown, "a\nexit code: 1"},
		{Result{Text: "a\n\nCommand timed out after 120 seconds"}, Stopped, "a\n\nCommand timed out after 120 seconds"},
		{Result{Text: "Command aborted"}, Stopped, "Command aborted"},
		{Result{Text: "The user doesn't want to proceed."}, NotRun, "The user doesn't want to proceed."},
		{Result{Text: "The user doesn't want to proceed with this tool use.", Failed: true}, NotRun, "The user doesn't want to proceed with this tool use."},
	} {
		if got := StatusOf(&Done{Result: c.r}); got != c.want {
			t.Errorf("%+v: %d, want %d", c.r, got, c.want)
		}
		if got := Body(&Done{Result: c.r}); got != c.body {
			t.Errorf("%q: body %q, want %q", c.r.Text, got, c.body)
		}
	}
}

// The output of a successful command mentions the exit code of another program.
func TestMentionedExitCodeIsOutput(t *testing.T) {
	for _, text := range []string{
		"## Exit codes\nThe tool returns exit code: 1 for a bad row.\nSee also exit.go\n",
		"job 7 exited with code 3, job 8 runs\ndone\n",
		"a.go:12: exit code: 1\na.go:90: exit code: 2",
		"returned 404 rows",
		"usage: x\n- exit code: 1\n- exit code: 2\nend of the list",
		`{"log":"Process exited with code 1","jobs":3}`,
	} {
		if got := StatusOf(&Done{Result: Result{Text: text}}); got != Unknown || TellsFailure(text) {
			t.Errorf("%q: status %d", text, got)
		}
	}
	if got := StatusOf(&Done{Result: Result{Text: "expected exit code: 1\nall good\n[exit 0]"}}); got != Succeeded {
		t.Errorf("status %d", got)
	}
}

// An exit status that the command itself prints is not the one of the call.
func TestPrintedExitStatusIsOutput(t *testing.T) {
	for command, text := range map[string]string{
		`grep -n bad x.py; python3 x.py; echo \"exit $?\"`: "54: bad += 1\nexit 1\n",
		`./load; echo \"[exit $?]\"`:                       "a\n[exit 1]\n",
		`./load; echo; echo \"Exit code: $?\"`:             "\n\nExit code: 1\n",
		`echo \"Exit code: $(./load; echo $?)\"; ls`:       "Exit code: 1\na\n",
		`python3 -c 'print(f\"exit status {n}\")'`:         "exit status 3",
		`./check`:  "a\nexit 1\n",
		`./check2`: "exit code: 1\n",
	} {
		d := &Done{Tool: "bash", Arguments: `{"command":"` + command + `"}`, Result: Result{Text: text}}
		if got := StatusOf(d); got != Unknown || ExitOf(d) != "" || strings.TrimSpace(Body(d)) != strings.TrimSpace(text) {
			t.Errorf("%s: status %d, exit %q, body %q", command, got, ExitOf(d), Body(d))
		}
		d.Result.Text = "Exit code: 2\nWall time: 0.1 seconds\nOutput:\n" + text
		if !strings.Contains(command, "Exit") && ExitOf(d) != "2" {
			t.Errorf("%s: exit %q in a frame", command, ExitOf(d))
		}
	}
}

func TestShownTextIsAnExitStatus(t *testing.T) {
	for _, command := range []string{"cat notes.txt", "cd logs && tail -3 worker.log", "sed -n 1,9p a.log | grep -v x", "less a.log"} {
		for _, last := range []string{"Process exited with code 1", "\nCommand exited with code 1", "exit status 2", "[exit 1]"} {
			d := &Done{Tool: "bash", Arguments: `{"command":"` + command + `"}`, Result: Result{Text: "to do\n" + last}}
			if got := StatusOf(d); got != Unknown || Body(d) != d.Result.Text {
				t.Errorf("%s, %q: status %d, body %q", command, last, got, Body(d))
			}
		}
		for _, r := range []Result{
			{Text: "x: no such file", Exit: "1"},
			{Text: "x: no such file\n\nCommand exited with code 1", Failed: true},
			{Text: "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx: no such file"},
		} {
			if got := StatusOf(&Done{Tool: "bash", Arguments: `{"command":"` + command + `"}`, Result: r}); got != Failed {
				t.Errorf("%s, %+v: status %d", command, r, got)
			}
		}
	}
	d := &Done{Tool: "bash", Arguments: `{"command":"./run | tail -3"}`, Result: Result{Text: "a\nProcess exited with code 1"}}
	if got := StatusOf(d); got != Failed {
		t.Errorf("a program before tail: status %d", got)
	}
}

// A tool's name is compared by whole words: "tools" does not contain the verb "ls".
func TestFileUsesOfTools(t *testing.T) {
	for name, want := range map[string]string{
		"tools_write": Writes, "mcp__fs-tools__write_file": Writes, "WriteFile": Writes, "writefile": Writes,
		"mcp__file_search__read_text": Reads, "load_details": Reads,
		"details": "", "ls": "", "list_files": "", "findPattern": "",
		"MultiEdit": Changes, "search_replace": Changes, "str_replace_editor": Changes, "remove_file": Removes,
		"delete_lines": Changes, "insert_text": Changes, "append_to_file": Changes, "create_new_file": Writes,
		"delete": Removes, "delete_directory": Removes,
		"update_ticket": "", "create_directory": "", "delete_branch": "", "concatenate": "", "download_file": "",
		"credit_account": "", "compatch": "",
	} {
		got := ""
		if list := FileUses(name, `{"path":"a.go"}`); len(list) > 0 {
			got = list[0].Act
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
