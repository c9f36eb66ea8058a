package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// controlName checks that name is a file of the session that is neither a log nor internal.
func controlName(op, name string) error {
	switch {
	case !filepath.IsLocal(name) || path.Clean(name) != name || name == ".",
		name == ctxabi.InternalDir, strings.HasPrefix(name, ctxabi.InternalDir+"/"):
		return ctxabi.E(op, name, ctxabi.ErrMalformed, "it is not the name of a file of the session")
	case name == ctxabi.MessagesFile, name == ctxabi.EventsFile:
		return ctxabi.E(op, name, ctxabi.ErrAppendOnly, "records can only be appended; the file cannot be replaced")
	}
	return nil
}

// Control reads a file of the session that is not a log, whole, from the disk:
// an edit made in the store by hand is seen. fs.ErrNotExist when absent.
func (x *Session) Control(name string) ([]byte, error) {
	if err := controlName("read", name); err != nil {
		return nil, err
	}
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	return vfs.ReadFile(x.store.disk.FS, x.dir.Path(name))
}

// SetControl checks data by the rules of the file called name (state, cwd, meta.json, budget,
// gc.policy, facts.jsonl, ...) and replaces it atomically: other readers see the old content or the
// new, also after a loss of power. It returns what [CheckControl] does, ctxabi.ErrAppendOnly for a
// log, ctxabi.ErrReadOnly, and the error of the disk; the old content stays then. A summary becomes
// a version (summaries.go).
func (x *Session) SetControl(name string, data []byte) error {
	if err := x.store.disk.Writable("set"); err != nil {
		return err
	}
	if err := controlName("set", name); err != nil {
		return err
	}
	if name == ctxabi.SummaryFile {
		return x.SetNote(name, data, ctxabi.OriginAgent)
	}
	if err := CheckControl(name, data); err != nil {
		return err
	}
	return x.replaceControl(name, data)
}

// RemoveControl removes the control file called name, whatever it holds. It returns fs.ErrNotExist if
// it is not there, ctxabi.ErrAppendOnly for a log, ctxabi.ErrReadOnly, and the error of the disk.
func (x *Session) RemoveControl(name string) error {
	if err := x.store.disk.Writable("remove"); err != nil {
		return err
	}
	if err := controlName("remove", name); err != nil {
		return err
	}

	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	if err := x.store.disk.FS.Remove(x.dir.Path(name)); err != nil {
		return err
	}
	x.Touch()
	return nil
}

// replaceControl replaces a control file. If somebody removed the directory of pins, it makes it.
func (x *Session) replaceControl(name string, data []byte) error {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	err := x.dir.Replace(name, data, true)
	if errors.Is(err, fs.ErrNotExist) && path.Dir(name) == ctxabi.PinnedDir {
		o, _ := x.dir.Owner()
		if err = x.store.disk.Mkdir(x.dir.Path(ctxabi.PinnedDir), o); err == nil {
			err = x.dir.Replace(name, data, true)
		}
	}
	if err != nil {
		return vfs.Failed("set", name, err, "the old content stays")
	}
	x.Touch()
	return nil
}

// CheckControl applies the rules of the session file called name (relative to the session) to data.
// A name without rules may hold anything up to ctxabi.MaxControl bytes. It returns
// ctxabi.ErrTooLarge if there are more, and ctxabi.ErrMalformed if data breaks the rules.
func CheckControl(name string, data []byte) error {
	bad := func(format string, args ...any) error {
		return ctxabi.E("set", name, ctxabi.ErrMalformed, format, args...)
	}
	if len(data) > ctxabi.MaxControl {
		return ctxabi.E("set", name, ctxabi.ErrTooLarge, "it has %d bytes, the limit is %d", len(data), ctxabi.MaxControl)
	}
	if inPrompt(name) {
		if err := CheckText(name, data); err != nil {
			return err
		}
	}
	switch name {
	case ctxabi.StateFile:
		if state := trimNewline(data); !slices.Contains(ctxabi.States, state) {
			return bad("%.40q is not a state; write one of %s", state, strings.Join(ctxabi.States, " "))
		}
	case ctxabi.CwdFile, ctxabi.ProjectFile:
		return checkWorkspace(name, trimNewline(data))
	case ctxabi.MetaFile:
		if err := jsonObject(data); err != nil {
			return bad("it must contain one JSON object: %v", err)
		}
	case ctxabi.PlanFile:
		_, err := ctxabi.ParsePlan(data)
		return err
	case ctxabi.DiffFile:
		return ctxabi.CheckDiff(data)
	case ctxabi.BudgetFile:
		_, _, err := ctxabi.ParseBudget(data)
		return err
	case ctxabi.PolicyFile:
		_, err := ctxabi.ParsePolicy(data)
		return err
	case ctxabi.EnvFile:
		_, err := ctxabi.ParseEnv(data)
		return err
	case ctxabi.TrustFile:
		_, err := ctxabi.ParseTrust(data)
		return err
	case ctxabi.FactsFile:
		return checkRows(name, data, "id", "text", "source?")
	case ctxabi.DecisionsFile:
		return checkRows(name, data, "id", "decision", "source?")
	case ctxabi.RefsFile:
		return checkRows(name, data, "id", "path", "kind", "summary?")
	}
	if _, file, ok := ctxabi.SplitChild(name); ok {
		return checkChildFile(name, file, data)
	}
	return nil
}

// checkWorkspace applies the rules of cwd and of context/project.
func checkWorkspace(name, dir string) error {
	or := ""
	if name == ctxabi.ProjectFile {
		if or = ", or " + ctxabi.NoProject; dir == ctxabi.NoProject {
			return nil
		}
	}
	if dir != "" && (dir[0] != '/' || strings.ContainsAny(dir, "\n\x00")) {
		return ctxabi.E("set", name, ctxabi.ErrMalformed, "%.80q is not an absolute path; write one like /work/project%s", dir, or)
	}
	return nil
}

// CheckText returns ctxabi.ErrMalformed if data, the content of the session's file name, must not be
// shown in a prompt: it is not UTF-8 or contains NUL.
func CheckText(name string, data []byte) error {
	at, why := notText(data)
	if why == "" {
		return nil
	}
	return ctxabi.E("set", name, ctxabi.ErrMalformed,
		"it is shown in prompts and must be text, but byte %d %s; convert it to UTF-8, or keep it in the agent's home and pin its path", at, why)
}

// inPrompt reports whether a pack shows what the file called name holds.
func inPrompt(name string) bool {
	switch name {
	case ctxabi.SummaryFile, ctxabi.TodoFile, ctxabi.FactsFile, ctxabi.DecisionsFile, ctxabi.RefsFile,
		ctxabi.HandoffFile, ctxabi.PlanFile, ctxabi.DiffFile:
		return true
	}
	if _, file, ok := ctxabi.SplitChild(name); ok {
		return file == ctxabi.ChildHandoff || file == ctxabi.ChildResult || file == ctxabi.ChildRefs
	}
	return path.Dir(name) == ctxabi.PinnedDir
}

// notText returns at which byte data stops being text and why; "" when it is text.
func notText(data []byte) (at int, why string) {
	if at = bytes.IndexByte(data, 0); at >= 0 {
		return at, "is NUL"
	}
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			return len(data) - len(rest), "is not UTF-8"
		}
		rest = rest[size:]
	}
	return 0, ""
}

func jsonObject(data []byte) error {
	var v map[string]json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	if v == nil {
		return errors.New("it is null")
	}
	return nil
}

// checkRows checks a JSONL file: each line that is not blank is an object with
// the string fields named; a ? marks one that may be absent.
func checkRows(name string, data []byte, fields ...string) error {
	for i, line := range bytes.Split(data, []byte("\n")) {
		bad := func(format string, args ...any) error {
			return ctxabi.E("set", name, ctxabi.ErrMalformed, "line %d: %s", i+1, fmt.Sprintf(format, args...))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := jsonObject(line); err != nil {
			return bad("it must be one JSON object: %v", err)
		}
		row := gjson.ParseBytes(line)
		for _, field := range fields {
			field, optional := strings.CutSuffix(field, "?")
			v := row.Get(field)
			if optional && !v.Exists() {
				continue
			}
			if v.Type != gjson.String || v.Str == "" && !optional {
				return bad("it must have a string %q", field)
			}
		}
		if src := row.Get("source"); src.Exists() {
			if _, err := ctxabi.ParseSource(src.Str); err != nil {
				return bad("%v", err)
			}
		}
		if kind := row.Get("kind"); slices.Contains(fields, "kind") && !slices.Contains(ctxabi.RefKinds, kind.Str) {
			return bad("kind is %.40q; it must be one of %s", kind.Str, strings.Join(ctxabi.RefKinds, " "))
		}
	}
	return nil
}

// checkedControl reads a control file and applies its rules, for files that
// may have been edited in the store by hand. A file that breaks them, or that
// the disk does not give, is reported and has no content here.
func (x *Session) checkedControl(name string) []byte {
	data, _ := x.readControl(name)
	return data
}

// readControl is checkedControl that tells whether the disk failed.
func (x *Session) readControl(name string) (data []byte, failed error) {
	data, err := x.Control(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		failed = err
	default:
		if err = CheckControl(name, data); err == nil {
			return data, nil
		}
	}
	x.dir.ReportError("read", name, err)
	return nil, failed
}

// State is the content of the file state; "idle" when it holds none.
func (x *Session) State() string {
	if s := trimNewline(x.checkedControl(ctxabi.StateFile)); s != "" {
		return s
	}
	return "idle"
}

// Cwd is the content of the file cwd, or "".
func (x *Session) Cwd() string { return trimNewline(x.checkedControl(ctxabi.CwdFile)) }

// Budget is the content of context/budget; ok is false when it says nothing.
func (x *Session) Budget() (tokens int, ok bool) {
	tokens, ok, err := ctxabi.ParseBudget(x.checkedControl(ctxabi.BudgetFile))
	return tokens, ok && err == nil
}

// Policy is the meaning of context/gc.policy. While the disk does not give it nothing is old enough
// to go: it may say to keep for long what the default lets go at once.
func (x *Session) Policy() ctxabi.Policy {
	data, failed := x.readControl(ctxabi.PolicyFile)
	if failed != nil {
		return ctxabi.KeepPolicy()
	}
	p, err := ctxabi.ParsePolicy(data)
	if err != nil {
		return ctxabi.DefaultPolicy()
	}
	return p
}

// trimNewline drops one newline at the end.
func trimNewline(b []byte) string { return strings.TrimSuffix(string(b), "\n") }

// checkChildFile applies the rules of a file of a child.
func checkChildFile(name, file string, data []byte) error {
	switch file {
	case ctxabi.ChildAgent, ctxabi.ChildSession:
		if who := trimNewline(data); who != "" {
			if err := ctxabi.ValidName(who); err != nil {
				return ctxabi.E("set", name, ctxabi.ErrMalformed, "%.40q is not the name of the child's %s; write the name of its directory", who, file)
			}
		}
	case ctxabi.ChildStatus:
		if status := trimNewline(data); !slices.Contains(ctxabi.ChildStates, status) {
			return ctxabi.E("set", name, ctxabi.ErrMalformed, "%.40q is not a status; write one of %s", status, strings.Join(ctxabi.ChildStates, " "))
		}
	case ctxabi.ChildRefs:
		return checkRows(name, data, "id", "path", "kind", "summary?")
	}
	return nil
}
