package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/adapter"
	"github.com/ctxfs/ctxfs/internal/adapter/formats"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/transcript"
)

// input is what Claude Code and Codex write to a hook's standard input: the
// fields of their public documentation that are used here.
type input struct {
	Event      string `json:"hook_event_name"`
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Cwd        string `json:"cwd"`
	Source     string `json:"source"`   // of SessionStart: startup resume clear compact
	AgentID    string `json:"agent_id"` // inside a sub-agent, whose conversation is its own

	format     *adapter.Format // of the transcript, and so which program it is
	unrecorded bool            // the program keeps no transcript of this conversation
}

// output is what it reads from the standard output of a SessionStart hook.
type output struct {
	Specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// Options are what the caller of Answer decides.
type Options struct {
	Mount  string                                   // where ctxfs is mounted; "": see locate.Mount
	Agent  string                                   // that owns the sessions; "": $CTXFS_AGENT, or the name of the program
	Event  string                                   // of the hook, where its input has none
	Import func(file, format, session string) error // appends what is new in a transcript to the session of a directory
}

// maxInput bounds what is read of a host, in bytes: a summary may be in it.
const maxInput = 16 << 20

// Answer does what the hook whose input is in asks for, and writes to out what its host is to read.
// It returns a [locate.NoMountError] where there is no mount, and the errors of the mount and of
// the import.
func Answer(in io.Reader, out io.Writer, o Options) error {
	data, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return err
	}
	h, err := readInput(data)
	if err != nil {
		return err
	}
	h.Event = cmp.Or(h.Event, o.Event)
	if h.unrecorded && os.Getenv(locate.SessionEnv) == "" {
		return nil
	}
	switch h.Event {
	case "SessionStart":
		h.hasTranscript() // whose it is; what is wrong with it, the next hook says
		dir, err := h.session(o, true)
		if err != nil {
			return err
		}
		return h.start(out, dir)
	case "PreCompact", "PostCompact", "Stop", "SessionEnd":
		if h.AgentID != "" {
			return nil
		}
		said, err := h.hasTranscript()
		if err != nil {
			return err
		}
		dir, err := h.session(o, said)
		if err != nil || dir == "" {
			return err
		}
		if said {
			err = h.keep(dir, o.Import)
		}
		if h.Event == "SessionEnd" {
			err = cmp.Or(err, writeState(dir, "done"))
		}
		return err
	}
	return fmt.Errorf("the hook %q is not known; known are SessionStart, PreCompact, PostCompact, Stop and SessionEnd", h.Event)
}

func readInput(data []byte) (h input, err error) {
	if err := json.Unmarshal(data, &h); err != nil {
		return h, fmt.Errorf("the input is not that of a hook of Claude Code or Codex: %w", err)
	}
	h.unrecorded = gjson.GetBytes(data, "transcript_path").Raw == "null"
	name := "claude-code"
	if strings.HasPrefix(filepath.Base(h.Transcript), "rollout-") { // which may not be there yet
		name = "codex"
	}
	h.format, _ = formats.Lookup(name)
	return h, nil
}

// session is the directory of the session that a hook is about. One that is not there is made where
// create is set; else it is "".
func (h *input) session(o Options, create bool) (string, error) {
	if s := os.Getenv(locate.SessionEnv); s != "" {
		return locate.SessionDir(s, o.Mount, true)
	}
	if err := ctxabi.ValidName(h.Session); err != nil {
		return "", fmt.Errorf("session_id %q is not a name of a session", h.Session)
	}
	root, err := locate.Mount(o.Mount)
	if err != nil {
		return "", err
	}
	home, err := locate.AgentDir(root, cmp.Or(o.Agent, os.Getenv("CTXFS_AGENT"), h.format.Name))
	if err != nil {
		return "", err
	}
	dir := filepath.Join(home, ctxabi.SessionDir, h.Session)
	if _, err := os.Stat(dir); !create && errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if dir, err = locate.SessionDir(dir, o.Mount, true); err != nil {
		return "", err
	}
	if was, err := os.ReadFile(filepath.Join(dir, ctxabi.CwdFile)); err == nil && len(was) == 0 && filepath.IsAbs(h.Cwd) {
		return dir, os.WriteFile(filepath.Join(dir, ctxabi.CwdFile), []byte(h.Cwd+"\n"), 0o600)
	}
	return dir, nil
}

// start brings back what is left of earlier work.
func (h *input) start(out io.Writer, dir string) error {
	if err := writeState(dir, "active"); err != nil {
		return err
	}
	if env := os.Getenv("CLAUDE_ENV_FILE"); env != "" { // commands that the agent runs find its memory
		f, err := os.OpenFile(env, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(f, "export %s='%s'\n", locate.SessionEnv, strings.ReplaceAll(dir, "'", `'\''`))
			err = cmp.Or(err, f.Close())
		}
		if err != nil {
			return err
		}
	}
	var o output
	o.Specific.Event, o.Specific.Context = h.Event, contextFor(dir, h)
	if o.Specific.Context == "" {
		return nil
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(o)
}

func writeState(dir, state string) error {
	return os.WriteFile(filepath.Join(dir, ctxabi.StateFile), []byte(state+"\n"), 0o600)
}

// hasTranscript reports whether there is something to record. What the input names may be any file: it
// returns an error where that is no transcript of a program whose hooks these are.
func (h *input) hasTranscript() (bool, error) {
	if h.unrecorded {
		return false, nil
	}
	if h.Transcript == "" {
		return false, errors.New("the input names no transcript")
	}
	f, err := os.Open(h.Transcript)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // nothing was said yet
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, transcript.HeadSize))
	if err != nil || len(head) == 0 {
		return false, err
	}
	for _, name := range []string{"claude-code", "codex"} {
		if format, _ := formats.Lookup(name); format.Sniff(h.Transcript, adapter.Decode(head)) > 0 {
			h.format = format
			return true, nil
		}
	}
	return false, fmt.Errorf("%s is not a transcript of Claude Code or Codex", h.Transcript)
}

// keep imports what is new of the transcript. Hooks may run at once; one waits
// for the other, so that neither takes what the other is about to.
func (h *input) keep(dir string, importer func(file, format, session string) error) error {
	lock, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	if err := importer(h.Transcript, h.format.Name, dir); err != nil && !errors.Is(err, transcript.ErrNothing) {
		return fmt.Errorf("%s: %w", h.Transcript, err)
	}
	return nil
}
