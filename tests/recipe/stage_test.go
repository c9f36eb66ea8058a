// Package recipetest reads packs whose content a recipe says, through the
// mount, as agents do: context.yaml is written with ordinary programs as the
// session's owner, generators are scripts of that user, and what is judged is
// what a reader gets.
package recipetest

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "4") // they wait for processes more than they compute
	harness.Main(m)
}

// Ordinary users. Nothing of the machine needs to know them.
const (
	dev   = 1234
	other = 1235
	team  = 21500
)

// lone is a user that nothing else is likely to run as, another run of these tests included: one whose processes a test
// may kill, and whose share of processes it may use up.
var lone = uint32(40000 + os.Getpid()%20000)

// owner is as whom a test's session is made: an ordinary user under root's daemon, else the tester.
func owner() uint32 {
	if os.Getuid() == 0 {
		return dev
	}
	return harness.Self()
}

// stage is an agent with one session and a workspace.
type stage struct {
	*harness.Session
	t    *testing.T
	work string // its cwd
	mark string // in the environment of its generators as MARK, where the recipe says env: {MARK: $MARK}
}

var stages atomic.Int64

// newStage makes an agent of uid with an empty session.
func newStage(t *testing.T, m *harness.Mount, uid uint32) *stage {
	t.Helper()
	work, err := os.MkdirTemp("", "ctxfs-test-work-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(work) })
	if err := os.Chown(work, int(uid), int(uid)); err != nil {
		t.Fatal(err)
	}
	var b [8]byte
	rand.Read(b[:])
	s := &stage{m.Session(t, uid, fmt.Sprintf("agent%d", stages.Add(1)), "s1"), t, work, "mark-" + hex.EncodeToString(b[:])}
	t.Cleanup(func() { // whatever the test found
		for _, pid := range s.alive() {
			unix.Kill(pid, unix.SIGKILL)
		}
	})
	s.put("cwd", work)
	return s
}

// expand replaces $WORK, $MARK, $HOME_IN_MOUNT and $SESSION.
func (s *stage) expand(text string) string {
	return strings.NewReplacer("$WORK", s.work, "$MARK", s.mark, "$HOME_IN_MOUNT", s.AgentHome(), "$SESSION", s.Dir).Replace(text)
}

// hide is the opposite of expand, for comparing.
func (s *stage) hide(text string) string {
	hidden := strings.NewReplacer(s.work, "$WORK", s.mark, "$MARK", s.Dir, "$SESSION", s.AgentHome(), "$HOME_IN_MOUNT")
	return harness.Untagged(hidden.Replace(text))
}

// path resolves a name: work/... is in the workspace, home/... in the agent's home, all else in the session.
func (s *stage) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "work/"); ok {
		return filepath.Join(s.work, rest)
	}
	if rest, ok := strings.CutPrefix(name, "home/"); ok {
		return filepath.Join(s.AgentHome(), rest)
	}
	if rest, ok := strings.CutPrefix(name, "project/"); ok {
		slug, err := ctxabi.ProjectSlug(s.work)
		if err != nil {
			s.t.Fatal(err)
		}
		return filepath.Join(s.AgentHome(), "../..", ctxabi.ProjectsDir, slug, rest)
	}
	return s.Path(name)
}

// put writes a file as the session's owner, with its directories; a script may be run.
func (s *stage) put(name, text string) {
	s.t.Helper()
	s.putBytes(name, s.expand(text))
}

func (s *stage) putBytes(name, text string) {
	s.t.Helper()
	s.client(text, `{ test -d "${1%/*}" || mkdir -p "${1%/*}"; } && cat > "$1" && case "$3" in "#!"*) chmod 755 "$1";; esac`, s.path(name), "", text[:min(2, len(text))]).OK()
}

// file is one that putAll writes.
type file struct{ name, text string }

// putAll writes files as the session's owner, in one go; recipes last, so that what they name is there.
func (s *stage) putAll(files []file) {
	s.t.Helper()
	files = slices.Clone(files)
	last := func(f file) int {
		if f.name == "home/context.yaml" || f.name == "context/context.yaml" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(files, func(a, b file) int { return last(a) - last(b) })
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		text, mode := s.expand(f.text), int64(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := w.WriteHeader(&tar.Header{Name: s.path(f.name), Mode: mode, Size: int64(len(text))}); err != nil {
			s.t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.client(b.String(), "tar -xPm --overwrite --no-same-owner -f -").OK()
}

// client runs a bash script as the owner with text as its input; args are $1, $2, ...
func (s *stage) client(text, script string, args ...string) harness.Result {
	s.t.Helper()
	return s.Mount.Run(s.t, harness.Client{UID: s.UID, Dir: s.Dir, Argv: append([]string{"bash", "-c", script, "bash"}, args...), Stdin: strings.NewReader(text)})
}

// recipe writes context.yaml of the agent's home.
func (s *stage) recipe(yaml string) {
	s.t.Helper()
	s.put("home/context.yaml", yaml)
}

// say appends a message.
func (s *stage) say(role, text string) { s.Append("messages.jsonl", harness.Message(role, text)) }

// lines counts the lines of a file; one that is not there has none.
func (s *stage) lines(name string) int {
	s.t.Helper()
	b, err := os.ReadFile(s.path(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

// alive returns the processes that have the mark in their environment.
func (s *stage) alive() (pids []int) {
	mark := []byte("MARK=" + s.mark + "\x00")
	for pid, env := range harness.Processes("environ") {
		if bytes.Contains(env, mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// wantGone waits until no process of a generator is left.
func (s *stage) wantGone() {
	s.t.Helper()
	harness.Eventually(s.t, "the generator's processes to be gone", func() bool { return len(s.alive()) == 0 })
}

// tail reads a file that may not be readable, for messages.
func (s *stage) tail(name string) string {
	b, err := os.ReadFile(s.Path(name))
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-4000):])
}

// wantErrno fails the test unless each built file gives errno.
func (s *stage) wantErrno(errno unix.Errno) {
	s.t.Helper()
	for _, name := range []string{"context/pack.md", "context/pack.json"} {
		if b, err := os.ReadFile(s.Path(name)); !errors.Is(err, errno) {
			s.t.Errorf("%s: %v, want %v:\n%s", name, err, unix.ErrnoName(errno), b)
		}
	}
}

// wantError fails the test unless a row of errors.jsonl has all these words in its path or reason.
func (s *stage) wantError(words ...string) {
	s.t.Helper()
	rows := s.Errors()
next:
	for _, r := range rows {
		for _, w := range words {
			if !strings.Contains(r.Path+" "+r.Reason, w) {
				continue next
			}
		}
		return
	}
	s.t.Errorf("no row of errors.jsonl has %q: %+v", words, rows)
}

// cli runs the ctxfs binary as the session's owner, in the session.
func (s *stage) cli(args ...string) harness.Result {
	s.t.Helper()
	return s.Run(append([]string{harness.Binary(s.t)}, args...)...)
}
