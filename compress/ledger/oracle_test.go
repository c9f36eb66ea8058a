package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// step is one call: of a shell, or of a tool for files.
type step struct {
	tool string
	args map[string]any
	text string // the script
}

// sh is a script in a shell that begins where the session did; keep is one in a shell that stays where it is.
func sh(script string) step {
	return step{"shell", map[string]any{"command": []string{"bash", "-c", script}}, script}
}
func keep(script string) step {
	return step{"Bash", map[string]any{"command": script}, script}
}
func write(path, text string) step {
	return step{"Write", map[string]any{"file_path": path, "content": text}, ""}
}
func edit(path, old, text string) step {
	return step{"Edit", map[string]any{"file_path": path, "old_string": old, "new_string": text}, ""}
}
func read(path string) step { return step{"Read", map[string]any{"file_path": path}, ""} }

// shellEnv is what scripts see.
var shellEnv = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/nonexistent"}

// played is a step with what came of it.
type played struct {
	step
	output string
	exit   int
}

// play runs steps in a directory.
func play(t testing.TB, dir string, steps []step) (out []played) {
	t.Helper()
	kept := dir
	for _, s := range steps {
		p := played{step: s}
		path, _ := s.args["file_path"].(string)
		path = filepath.Join(dir, path)
		fail := func(err error) {
			if err != nil {
				p.exit, p.output = 1, "Error: "+strings.ReplaceAll(err.Error(), dir+"/", "")
			}
		}
		switch s.tool {
		case "Write":
			fail(errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(s.args["content"].(string)), 0o644)))
		case "Edit":
			body, err := os.ReadFile(path)
			if n := strings.Count(string(body), s.args["old_string"].(string)); err == nil && n != 1 {
				err = fmt.Errorf("String to replace found %d times", n)
			}
			if err == nil {
				err = os.WriteFile(path, []byte(strings.Replace(string(body), s.args["old_string"].(string), s.args["new_string"].(string), 1)), 0o644)
			}
			fail(err)
		case "Read":
			body, err := os.ReadFile(path)
			p.output = string(body)
			fail(err)
		default:
			script := s.text
			where := filepath.Join(t.TempDir(), "pwd")
			cmd := exec.Command("bash", "-c", script)
			if cmd.Dir = dir; s.tool == "Bash" {
				cmd = exec.Command("bash", "-c", script+"\n__status=$?; pwd > "+where+"; exit $__status")
				cmd.Dir = kept
			}
			cmd.Env = shellEnv
			text, err := cmd.CombinedOutput()
			p.output = string(text)
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				p.exit = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if at, err := os.ReadFile(where); err == nil {
				kept = strings.TrimSpace(string(at))
			}
		}
		out = append(out, p)
	}
	return out
}

// Ways in which results tell the exit status.
const (
	inField = iota
	unsaid
	inText
	ways
)

// told returns the state after steps whose results tell the exit status in one way.
func told(list []played, way int) (s State) {
	for i, p := range list {
		args, _ := json.Marshal(p.args)
		id := strconv.Itoa(i)
		r := toolcall.Result{Call: id, Text: p.output}
		switch {
		case way == inField && p.tool != "Write" && p.tool != "Edit" && p.tool != "Read":
			r.Exit = strconv.Itoa(p.exit)
		case way == inText && p.exit != 0:
			r.Failed, r.Text = true, "Exit code "+strconv.Itoa(p.exit)+"\n"+p.output
		}
		s = s.Apply(toolcall.Record{At: 2*i + 1, Calls: []ctxabi.Call{{ID: id, Name: p.tool, Arguments: string(args)}}})
		s = s.Apply(toolcall.Record{At: 2*i + 2, Results: []toolcall.Result{r}})
	}
	return s
}

// judged counts statements of a state about the files of a directory.
type judged struct {
	wrong                 []string
	files, present, texts int // how many files there are, and of how many the state says that, and what stands in them
}

// judge compares a state with a directory.
func judge(t testing.TB, dir string, s State) (j judged) {
	t.Helper()
	bad := func(format string, args ...any) { j.wrong = append(j.wrong, fmt.Sprintf(format, args...)) }
	for _, f := range s.Files() {
		if !s.Sure(f) {
			continue
		}
		if strings.HasPrefix(f.Path, "/") || strings.HasPrefix(f.Path, "~") || strings.HasPrefix(f.Path, "..") {
			continue
		}
		info, err := os.Lstat(filepath.Join(dir, f.Path))
		switch {
		case f.Exists == Absent && err == nil:
			bad("%s is said to be absent by %s at %d", f.Path, f.By, f.At)
		case f.Exists == Present && err != nil:
			bad("%s is said to be present by %s at %d", f.Path, f.By, f.At)
		case f.Exists == Present && (f.Kind == Directory) != info.IsDir() && f.Kind != AnyKind:
			bad("%s is said to be of kind %d and is %v", f.Path, f.Kind, info.Mode())
		}
		if f.Text == nil || !f.Text.Held || !s.SureText(f) || err != nil {
			continue
		}
		body, _ := os.ReadFile(filepath.Join(dir, f.Path))
		got, want := f.Text.Body, string(body)
		if f.Text.Loose {
			got, want = strings.TrimRight(got, "\n\t "), strings.TrimRight(want, "\n\t ")
		}
		if got != want {
			bad("%s is said to be %q by %s at %d and is %q", f.Path, got, f.By, f.At, want)
		}
	}
	filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		j.files++
		rel, _ := filepath.Rel(dir, p)
		if f, ok := s.File(rel); ok && s.Sure(f) {
			j.present++
			if s.SureText(f) {
				j.texts++
			}
		}
		return nil
	})
	return j
}

func (s step) String() string {
	if s.text != "" {
		return s.tool + ": " + s.text
	}
	text, _ := json.Marshal(s.args)
	return s.tool + " " + string(text)
}
