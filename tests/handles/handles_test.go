// Package handlestest looks at a daemon that may have few descriptors.
package handlestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// limited starts a daemon with so many descriptors, soft and hard.
func limited(t *testing.T, limit int, args ...string) *harness.Mount {
	t.Helper()
	harness.Need(t, "prlimit")
	return harness.Start(t, harness.Options{Wrap: []string{"prlimit", fmt.Sprintf("--nofile=%d:%d", limit, limit)}, Args: args, MaxFDs: limit})
}

// session makes a session with a message and an event, and leaves nothing of it open.
func session(t *testing.T, m *harness.Mount, i int) *harness.Session {
	t.Helper()
	s := m.Session(t, harness.Self(), "coder", fmt.Sprintf("s%d", i))
	s.Append("messages.jsonl", harness.Message("user", fmt.Sprintf("question %d", i)))
	s.Append("events.jsonl", fmt.Sprintf(`{"type":"error","error":"failure %d"}`, i)+"\n")
	return s
}

// works appends to a session and reads what it holds.
func works(t *testing.T, s *harness.Session, i int) {
	t.Helper()
	s.Append("messages.jsonl", harness.Message("assistant", fmt.Sprintf("answer %d", i)))
	if pack := s.Read("context/pack.md"); !strings.Contains(pack, fmt.Sprintf("question %d", i)) || !strings.Contains(pack, fmt.Sprintf("answer %d", i)) {
		t.Fatalf("the pack of session %d lacks its messages:\n%s", i, pack)
	}
}

func TestMoreSessionsThanDescriptorsAreAllServed(t *testing.T) {
	for _, limit := range []int{64, 256, 1024} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			m := limited(t, limit)
			n := limit/4 + 8
			all := make([]*harness.Session, n)
			for i := range all {
				all[i] = session(t, m, i)
			}
			for i, s := range all {
				works(t, s, i)
			}
			works(t, session(t, m, n), n)
			for i, s := range all {
				if i%16 == 0 && len(s.Errors()) > 0 {
					t.Errorf("session %d has errors: %s", i, s.Read("context/errors.jsonl"))
				}
			}
		})
	}
}

func TestAClientWithTooManyFilesGetsENFILEAndOthersGoOn(t *testing.T) {
	const limit = 64
	m := limited(t, limit)
	s := session(t, m, 1)
	blob := strings.Repeat("x", 100<<10)
	name := filepath.Join(s.AgentHome(), "file")
	if err := os.WriteFile(name, []byte(blob), 0o600); err != nil {
		t.Fatal(err)
	}
	var held []*os.File
	closeAll := func() {
		for _, f := range held {
			f.Close()
		}
		held = nil
	}
	defer closeAll()
	hold := func(how func(i int) (*os.File, error)) error {
		for i := range 2 * limit {
			f, err := how(i)
			if err != nil {
				return err
			}
			held = append(held, f)
		}
		return nil
	}
	for what, how := range map[string]func(i int) (*os.File, error){
		"an ordinary file": func(int) (*os.File, error) { return os.Open(name) },
		"a new file":       func(i int) (*os.File, error) { return os.Create(fmt.Sprintf("%s%d", name, i)) },
		"a directory":      func(int) (*os.File, error) { return openDir(s.AgentHome()) },
		"a file without a name": func(int) (*os.File, error) {
			return os.OpenFile(s.AgentHome(), unix.O_TMPFILE|os.O_RDWR, 0o600)
		},
		"a blob in the making": func(i int) (*os.File, error) {
			return os.Create(s.Path(fmt.Sprintf("context/dedup/blob/sha256-%064x", i)))
		},
	} {
		t.Run(what, func(t *testing.T) {
			if err := hold(how); !errors.Is(err, unix.ENFILE) {
				t.Fatalf("after %d of them: %v, want ENFILE", len(held), err)
			}
			works(t, s, 1)
			works(t, session(t, m, 2), 2)
			closeAll()
			harness.Eventually(t, "a free descriptor", func() bool { // a close is over before its release
				f, err := os.Open(name)
				if err == nil {
					f.Close()
				}
				return err == nil
			})
		})
	}
	if !strings.Contains(m.Log.String(), "too many files are open") {
		t.Errorf("the daemon's log does not tell why:\n%s", m.Log)
	}
}

func TestALogOfMorePartsThanDescriptorsIsReadAndGrows(t *testing.T) {
	const limit = 64
	m := limited(t, limit)
	s := session(t, m, 1)
	long := strings.Repeat("a longer text, ", 5000)
	for i := range limit {
		s.Append("messages.jsonl", harness.Message("user", fmt.Sprintf("part %d %s", i, long)))
		if err := unix.Setxattr(s.Dir, "user.ctx.archive", []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
	}
	if parts, _ := filepath.Glob(filepath.Join(s.InStore(), "messages.jsonl.*.zst")); len(parts) != limit {
		t.Fatalf("%d parts, want %d", len(parts), limit)
	}
	for range 2 {
		log := s.Read("messages.jsonl")
		for i := range limit {
			if !strings.Contains(log, fmt.Sprintf("part %d ", i)) {
				t.Errorf("part %d is not read", i)
			}
		}
		works(t, s, 1)
		m.Restart()
	}
}

func TestASealedPartIsNoDamageForWantOfADescriptor(t *testing.T) {
	m := limited(t, 4096)
	s := session(t, m, 1)
	s.Append("messages.jsonl", harness.Message("user", strings.Repeat("a longer text, ", 10000)+"to its end"))
	if err := unix.Setxattr(s.Dir, "user.ctx.archive", []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	want := s.Read("messages.jsonl")
	m.Restart() // nothing of it is in memory
	f, err := os.Open(s.Path("messages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Size() != int64(len(want)) {
		t.Fatal(fi.Size(), err)
	}
	allow(t, m, 3)
	if _, err := f.Read(make([]byte, 10)); !errors.Is(err, unix.ENFILE) {
		t.Errorf("read of a sealed record: %v, want ENFILE", err)
	}
	allow(t, m, 4096)
	if got, err := io.ReadAll(f); err != nil || string(got) != want {
		t.Errorf("later %d bytes, want %d, %v", len(got), len(want), err)
	}
	if pack := s.Read("context/pack.md"); strings.Contains(pack, "cannot be read") || !strings.Contains(pack, "to its end") {
		t.Errorf("the pack is %.300q", pack)
	}
}

func TestAPackOfManyDirectoriesNeedsFewDescriptors(t *testing.T) {
	const dirs = 100
	m := limited(t, 64)
	s := session(t, m, 1)
	for i := range dirs {
		dir := filepath.Join(s.AgentHome(), "memory", fmt.Sprintf("d%03d", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "fact.md"), fmt.Appendf(nil, "Of each question: fact %d.\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.AgentHome(), "context.yaml"), []byte("sources: [{type: memory, top: 100, max_tokens: 20000}, {type: journal}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		pack := s.Read("context/pack.md")
		for i := range dirs {
			if !strings.Contains(pack, fmt.Sprintf("fact %d.", i)) {
				t.Fatalf("the pack lacks fact %d:\n%s", i, pack)
			}
		}
		s.Append("messages.jsonl", harness.Message("user", "more"))
	}
}

func TestTheSoftLimitIsRaisedToTheHardOneAtStart(t *testing.T) {
	harness.Need(t, "prlimit")
	m := harness.Start(t, harness.Options{Wrap: []string{"prlimit", "--nofile=64:512"}})
	var now unix.Rlimit
	if err := unix.Prlimit(m.PID(), unix.RLIMIT_NOFILE, nil, &now); err != nil {
		t.Fatal(err)
	}
	if now.Cur < now.Max-1 {
		t.Errorf("the daemon has %d descriptors and may have %d", now.Cur, now.Max)
	}
}

func openDir(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err == nil {
		_, err = f.Readdirnames(1)
	}
	return f, err
}

// allow sets how many descriptors a running daemon may have.
func allow(t *testing.T, m *harness.Mount, n uint64) {
	t.Helper()
	limit := unix.Rlimit{Cur: n, Max: 4096}
	if err := unix.Prlimit(m.PID(), unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutADescriptorEverythingIsENFILEAndWorksAgainLater(t *testing.T) {
	m := limited(t, 4096)
	one, other := session(t, m, 1), session(t, m, 2)
	file := filepath.Join(one.AgentHome(), "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(one.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	allow(t, m, 3) // fewer than it has
	if _, err := log.WriteString(harness.Message("user", "while the log is open")); err != nil {
		t.Errorf("append to an open log: %v", err)
	}
	for what, err := range map[string]error{
		"read an ordinary file": second(os.ReadFile(file)),
		"list the home":         second(os.ReadDir(one.AgentHome())),
		"read a pack":           second(os.ReadFile(one.Path("context/pack.json"))),
		"make a session":        os.Mkdir(filepath.Join(filepath.Dir(one.Dir), "s3"), 0o700),
	} {
		if !errors.Is(err, unix.ENFILE) {
			t.Errorf("%s: %v, want ENFILE", what, err)
		}
	}
	// What was open and is not used had to give way.
	_, err = log.WriteString(harness.Message("user", "while it is closed"))
	if !errors.Is(err, unix.ENFILE) {
		t.Errorf("append: %v, want ENFILE", err)
	}
	allow(t, m, 4096)
	rows := one.Errors()
	if len(rows) == 0 || rows[len(rows)-1].Errno != "ENFILE" {
		t.Errorf("errors.jsonl does not tell of it: %v", rows)
	}
	if _, err := log.WriteString(harness.Message("user", "when there are descriptors again")); err != nil {
		t.Errorf("append: %v", err)
	}
	works(t, one, 1)
	works(t, other, 2)
	works(t, session(t, m, 3), 3)
	log.Close()
	m.Stop()
	m.CLI(t, "verify", "--store", m.Store).OK()
	m.CLI(t, "fsck", "--store", m.Store).OK()
}

func second[T any](_ T, err error) error { return err }

// The helper opens a file until it may not any more, says how often and why, and holds all until its input ends.
func init() {
	harness.Helper("open-all", func(args []string) int {
		var held []*os.File
		for {
			f, err := os.Open(args[0])
			if err != nil {
				fmt.Printf("%d %v\n", len(held), errors.Is(err, unix.ENFILE))
				io.Copy(io.Discard, os.Stdin)
				return 0
			}
			held = append(held, f)
		}
	})
}

// One user must not take ordinary files and directories from the others.
func TestOneUserLeavesFilesToOthers(t *testing.T) {
	harness.NeedRoot(t)
	const limit, greedy, modest = 256, 21001, 21002
	m := limited(t, limit)
	s, other := m.Session(t, greedy, "coder", "s1"), m.Session(t, modest, "coder", "s1")
	for _, x := range []*harness.Session{s, other} {
		x.Bash("echo text > ../../file").OK()
	}
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	cmd := m.HelperCommand(t, ctx, "open-all", harness.Client{UID: greedy, Dir: s.AgentHome(), Argv: []string{"file"}})
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var n int
	var full bool
	if _, err := fmt.Fscan(out, &n, &full); err != nil || !full || n == 0 {
		t.Errorf("one user opened %d files, then ENFILE is %v (%v)", n, full, err)
	}
	if r := other.Bash("cat ../../file && ls ../.. && echo more > ../../file2"); r.Code != 0 {
		t.Errorf("another user cannot work: %s%s", r.Stdout, r.Stderr)
	}
	if _, err := os.ReadDir(m.Dir); err != nil {
		t.Errorf("root cannot list the mount: %v", err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
