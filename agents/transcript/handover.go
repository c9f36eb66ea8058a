package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Handover is a transcript in the place where a program looks for those that it can resume.
type Handover struct {
	ID     string // the session's, new
	Cwd    string // the directory in which the program resumes it
	File   string
	Resume []string // the command
	set    func(line adapter.Object) adapter.Object
}

// receivers are the programs that can resume a transcript which another wrote, by the names of their formats.
var receivers = []struct {
	name  string
	home  string // the variable that names the program's directory
	dir   string // else this, below the user's home
	place func(h *Handover, home string, now time.Time) error
}{
	{"claude-code", "CLAUDE_CONFIG_DIR", ".claude", toClaude},
	{"codex", "CODEX_HOME", ".codex", toCodex},
}

// Receivers returns the names of the programs that a session can be handed over to, which are those of their formats, too.
func Receivers() (names []string) {
	for _, r := range receivers {
		names = append(names, r.name)
	}
	return names
}

// Cwd returns the directory that a session says its agent works in; "" if it says none.
// It returns an error if there is no such session.
func Cwd(from Tree, ref ctxabi.Ref) (string, error) {
	h, err := from.open(ref)
	if err != nil {
		return "", noSession(err, ref)
	}
	return strings.TrimSpace(h.control(ctxabi.CwdFile)), nil
}

// HandOver puts what export writes where a program resumes sessions of the directory cwd, which is the working directory if it is "", and
// prints to out the file, the directory and the command that resumes it. If dry is set it writes nothing; what export loses is told all the
// same. It returns the errors of NewHandover and Write.
func HandOver(program, cwd string, dry bool, export func(io.Writer) error, out io.Writer) error {
	home, err := os.UserHomeDir()
	if err == nil && cwd == "" {
		cwd, err = os.Getwd()
	}
	if err != nil {
		return err
	}
	h, err := NewHandover(program, cwd, home, os.Getenv, time.Now())
	if err != nil {
		return err
	}
	if dry {
		err = export(io.Discard)
	} else {
		err = h.Write(export)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\nResume it in %s:\n%s\n", h.File, h.Cwd, strings.Join(h.Resume, " "))
	return err
}

// NewHandover returns the place of a new transcript of a program that works in the directory cwd. home is the user's home, getenv reads
// a variable. It writes nothing. It returns an error if the program has no place for a session of that directory.
func NewHandover(program, cwd, home string, getenv func(string) string, now time.Time) (*Handover, error) {
	i := slices.Index(Receivers(), program)
	if i < 0 {
		return nil, fmt.Errorf("a session cannot be handed over to %q; known are %s", program, strings.Join(Receivers(), ", "))
	}
	r := receivers[i]
	if strings.ContainsFunc(cwd, unicode.IsControl) {
		return nil, fmt.Errorf("the session's cwd %q has control characters; write the directory that you mean into cwd", cwd)
	}
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real // as a program sees the directory that it is started in
	}
	cwd = filepath.Clean(cwd)
	h := &Handover{ID: newID(now), Cwd: cwd}
	return h, r.place(h, cmp.Or(getenv(r.home), filepath.Join(home, r.dir)), now)
}

// newID returns a UUID of version 7: the time in milliseconds, then random bits.
func newID(now time.Time) string {
	var b [16]byte
	rand.Read(b[6:])
	binary.BigEndian.PutUint16(b[0:], uint16(now.UnixMilli()>>32))
	binary.BigEndian.PutUint32(b[2:], uint32(now.UnixMilli()))
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// toCodex is $CODEX_HOME/sessions/YYYY/MM/DD/rollout-<local time>-<id>.jsonl.
func toCodex(h *Handover, home string, now time.Time) error {
	h.File = filepath.Join(home, "sessions", now.Format("2006/01/02"), "rollout-"+now.Format("2006-01-02T15-04-05-")+h.ID+".jsonl")
	h.Resume = []string{"codex", "exec", "resume", h.ID}
	h.set = func(line adapter.Object) adapter.Object {
		if line.Text("type") != "session_meta" {
			return line
		}
		meta := line.Object("payload")
		for _, key := range []string{"id", "session_id"} {
			if meta.Has(key) {
				meta = meta.With(key, h.ID)
			}
		}
		return line.With("payload", meta.With("cwd", h.Cwd))
	}
	return nil
}

// notPlain is what Claude Code does not take into the name of a directory's place.
var notPlain = lazy.Regexp(`[^a-zA-Z0-9]`)

// maxClaudePlace is how long such a name is at most: of longer ones Claude Code keeps a hash.
const maxClaudePlace = 200

// toClaude is ~/.claude/projects/<directory>/<id>.jsonl.
func toClaude(h *Handover, home string, _ time.Time) error {
	place := notPlain().ReplaceAllString(h.Cwd, "-")
	if len(place) > maxClaudePlace {
		return fmt.Errorf("the path %s is too long: Claude Code keeps sessions of paths above %d bytes under another name", h.Cwd, maxClaudePlace)
	}
	h.File = filepath.Join(home, "projects", place, h.ID+".jsonl")
	h.Resume = []string{"claude", "--resume", h.ID}
	h.set = func(line adapter.Object) adapter.Object {
		if line.Has("sessionId") {
			line = line.With("sessionId", h.ID)
		}
		if line.Text("cwd") == "/" { // of a session that never was one of Claude Code
			line = line.With("cwd", h.Cwd)
		}
		return line
	}
	return nil
}

// Write writes what export writes to the handover's file, as a session of its id. The file is new and whole, or not there: Write returns
// an error that is fs.ErrExist if there is one.
func (h *Handover) Write(export func(io.Writer) error) error {
	dir := filepath.Dir(h.File)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".ctxfs-*.new") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	out := bufio.NewWriter(f)
	in, pipe := io.Pipe()
	go func() { pipe.CloseWithError(export(pipe)) }()
	err = cmp.Or(h.rewrite(in, out), out.Flush(), f.Sync())
	in.CloseWithError(err)
	if err := cmp.Or(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), h.File) // fails where a file is
}

// rewrite copies lines, each with the handover's id in place of another.
func (h *Handover) rewrite(from io.Reader, to io.Writer) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			o, bad := adapter.ParseObject(bytes.TrimSpace(line))
			if bad != nil {
				return bad
			}
			b, bad := json.Marshal(h.set(o))
			if bad != nil {
				return bad
			}
			if _, bad := to.Write(append(b, '\n')); bad != nil {
				return bad
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
