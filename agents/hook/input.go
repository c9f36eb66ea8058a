package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/agents/transcript"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/locate"
)

// input is what programs write to a hook's standard input: the fields of their public documentation
// that are used here.
type input struct {
	Event      string `json:"hook_event_name"`
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Cwd        string `json:"cwd"`
	Source     string `json:"source"`    // of SessionStart: startup resume clear compact
	AgentID    string `json:"agent_id"`  // inside a sub-agent, whose conversation is its own
	Timestamp  string `json:"timestamp"` // Gemini CLI alone has one

	program    string // the name of its format
	hurries    bool   // the program waits for the hook in front of each call of its model
	unrecorded bool   // the program keeps no transcript of this conversation
	has        *told  // what the conversation has of its memory; nil until it is read
}

// The programs whose hooks these are, by the names of their formats and agents.
const (
	claudeCode = "claude-code"
	codex      = "codex"
	gemini     = "gemini"
	opencode   = "opencode"
)

var programs = []string{claudeCode, codex, gemini, opencode}

// knownAs are the events that a program calls otherwise.
var knownAs = map[string]string{"AfterAgent": "Stop", "PreCompress": "PreCompact"}

// programNames are the programs as people call them.
const programNames = "Claude Code, Codex, Gemini CLI or opencode"

// readInput reads what a host wrote. program is what the caller knows of the host; "": what the input says of it counts.
func readInput(data []byte, event, program string) (h input, err error) {
	if program != "" && !slices.Contains(programs, program) {
		return h, fmt.Errorf("%q is not a program with hooks; known are %s", program, strings.Join(programs, ", "))
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return h, fmt.Errorf("the input is not that of a hook of %s: %w", programNames, err)
	}
	event = cmp.Or(h.Event, event)
	h.Event, h.hurries = cmp.Or(knownAs[event], event), event == "PreCompress"
	name := filepath.Base(h.Transcript)
	switch {
	case program != "":
		h.program = program
	case strings.HasPrefix(name, "rollout-"): // which may not be there yet
		h.program = codex
	case h.Event != event, event == beforeAgent, strings.HasPrefix(name, "session-"), h.Timestamp != "":
		h.program = gemini
	default:
		h.program = claudeCode
	}
	path := gjson.GetBytes(data, "transcript_path")
	h.unrecorded = path.Raw == "null" || path.Exists() && path.Str == "" && h.program == gemini
	if h.Transcript != "" && !filepath.IsAbs(h.Transcript) { // the import may go on elsewhere
		here, err := unix.Getwd() // os.Getwd would touch it
		if err != nil {
			return h, err
		}
		h.Transcript = filepath.Join(here, h.Transcript)
	}
	return h, nil
}

// hasTranscript reports whether there is something to record. What the input names may be any file: it
// returns an error where that is no transcript of a program whose hooks these are, and a [mounts.SilentError]
// where it lies in a mount that does not answer.
func (h *input) hasTranscript() (bool, error) {
	if h.unrecorded || h.Transcript == "" && h.program == opencode {
		return false, nil
	}
	if h.Transcript == "" {
		return false, errors.New("the input names no transcript")
	}
	if err := answers(h.Transcript); err != nil {
		return false, err
	}
	f, err := inputs.OpenRegular(h.Transcript)
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
	best, head := 0, adapter.Decode(head)
	for _, name := range programs {
		if format, ok := formats.Lookup(name); ok {
			if sure := format.Sniff(h.Transcript, head); sure > best {
				h.program, best = name, sure
			}
		}
	}
	if best == 0 {
		return false, fmt.Errorf("%s is not a transcript of %s", h.Transcript, programNames)
	}
	return true, nil
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
	home, err := locate.AgentDir(root, cmp.Or(o.Agent, os.Getenv("CTXFS_AGENT"), h.program))
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

// answers returns a [mounts.SilentError] where a path lies in a ctxfs that does not answer.
func answers(path string) error {
	_, _, err := daemon.MountAround(path)
	return err
}
