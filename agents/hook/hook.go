package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/agents/transcript"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/jobs"
	"github.com/ctxfs/ctxfs/internal/locate"
)

// output is what a host reads from the standard output of a SessionStart hook.
type output struct {
	Specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// Options are what the caller of Answer decides.
type Options struct {
	Mount   string // where ctxfs is mounted; "": see locate.Mount
	Agent   string // that owns the sessions; "": $CTXFS_AGENT, or the name of the program
	Event   string // of the hook, where its input has none
	Program string // whose hook it is, a name of a format; "": what the input says

	Import Importer
	// Start starts a process that calls [Work] with dir and key, and with run as its descriptor 3, and that outlives this one.
	Start func(dir, key string, run *os.File) error
	Warn  func(line string) // says a line to the host's user

	// Time is what an answer may take once its mount has answered; 0: as long as the work takes.
	Time time.Duration
}

// Importer appends what is new in a transcript to the session of a directory.
type Importer func(file, format, session string) error

// maxInput bounds what is read of a host, in bytes: a summary may be in it.
const maxInput = 16 << 20

// patience is how much of [Options.Time] a hook waits for imports; the rest is for its answer.
const patience = 0.7

// Answer reads the event of a hook from in, runs the hook, and writes its answer for the host to
// out. It does nothing if $CTXFS_HOOK is "off"; see [ctxabi.HookEnv]. It returns a
// [locate.NoMountError] if no ctxfs is mounted, errors of the mount, and the error of an import
// that ended within the time limit.
func Answer(in io.Reader, out io.Writer, o Options) error {
	if os.Getenv(ctxabi.HookEnv) == ctxabi.HookOff {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return err
	}
	h, err := readInput(data, o.Event, o.Program)
	if err != nil {
		return err
	}
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
		return h.start(out, dir, o)
	case beforeAgent:
		dir, err := h.session(o, true)
		if err != nil {
			return err
		}
		var undone []jobs.Job
		ctx, cancel := o.until(patience)
		defer cancel()
		if t := h.told(ctx, dir); !t.here && !t.late {
			undone = h.missing(ctx, dir, o)
		}
		return h.say(out, dir, undone, o)
	case "PreCompact", "PostCompact", "Stop", "SessionEnd":
		if h.AgentID != "" {
			return nil
		}
		said, err := h.hasTranscript()
		if err != nil {
			return err
		}
		if said && h.program == codex && transcript.OfSubagent(h.Transcript) {
			return nil
		}
		dir, err := h.session(o, said)
		if err != nil || dir == "" {
			return err
		}
		if !said {
			if h.Event == "SessionEnd" {
				err = writeState(dir, "done")
			}
			return err
		}
		return h.keep(dir, o)
	}
	return fmt.Errorf("the hook %q is not known; known are SessionStart, PreCompact, PostCompact, Stop, SessionEnd, and BeforeAgent, PreCompress and AfterAgent of Gemini CLI", h.Event)
}

// start brings back what is left of earlier work.
func (h *input) start(out io.Writer, dir string, o Options) error {
	ctx, cancel := o.until(.9)
	defer cancel()
	if err := h.begin(ctx, dir); err != nil {
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
	h.importCompaction(dir, o)
	undone := h.missing(ctx, dir, o)
	if h.asksLater() {
		return nil
	}
	return h.say(out, dir, undone, o)
}

// say writes what the host is to put into the conversation.
func (h *input) say(out io.Writer, dir string, undone []jobs.Job, o Options) error {
	ctx, cancel := o.until(1 - patience/2) // the other half has gone by
	defer cancel()
	var answer output
	answer.Specific.Event, answer.Specific.Context = h.Event, contextFor(ctx, dir, h, undone)
	if answer.Specific.Context == "" {
		return nil
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(answer)
}

func writeState(dir, state string) error {
	return os.WriteFile(filepath.Join(dir, ctxabi.StateFile), []byte(state+"\n"), 0o600)
}
