package packtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

const alice = harness.Alice

// workspace makes a directory that alice owns and may reach.
func workspace(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctxfs-test-work-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, alice, alice); err != nil {
		t.Fatal(err)
	}
	return dir
}

// file writes a workspace file of uid.
func file(t *testing.T, path, data string, uid int, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, uid, uid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestWorkspaceFilesAreReadAsTheOwner(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	work := workspace(t)
	agents, delta := filepath.Join(work, "AGENTS.md"), filepath.Join(work, "DELTA.md")
	s := m.Session(t, alice, "coder", "s1")
	s.Append("messages.jsonl", rec1)
	before := read(t, s)
	file(t, agents, "Run the tests with make test.\n", alice, 0o600)
	s.Write("cwd", work+"\n")
	b := read(t, s)
	if !strings.Contains(b.md, "Run the tests with make test.") {
		t.Fatalf("AGENTS.md is not in the pack:\n%s\n%s", b.md, s.Read("context/pack.report.md"))
	}
	if string(b.Epoch) == string(before.Epoch) || b.EpochReason == "" {
		t.Errorf("a new guide, but epoch %s stayed (%q)", b.Epoch, b.EpochReason)
	}
	file(t, delta, "The task of the day.\n", alice, 0o600)
	file(t, agents, "Run the tests with make check.\n", alice, 0o600)
	if b := read(t, s); !strings.Contains(b.md, "make check") || strings.Contains(b.md, "make test") || !strings.Contains(b.md, "The task of the day.") {
		t.Errorf("changed guides are not in the pack:\n%s", b.md)
	}
	if err := os.Remove(delta); err != nil {
		t.Fatal(err)
	}
	if b := read(t, s); strings.Contains(b.md, "The task of the day.") {
		t.Error("a removed guide is in the pack")
	}
	// What its owner may not read, the daemon does not read for them.
	file(t, agents, "secret of root\n", 0, 0o600)
	if b := read(t, s); strings.Contains(b.md, "secret of root") || strings.Contains(b.md, "make check") {
		t.Errorf("an unreadable AGENTS.md:\n%s", b.md)
	}
	if report := s.Read("context/pack.report.md"); !strings.Contains(report, "AGENTS.md") {
		t.Errorf("the report does not say that AGENTS.md was skipped:\n%s", report)
	}
	if err := os.Remove(agents); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	file(t, secret, "secret of root\n", 0, 0o600)
	for _, target := range []string{secret, "/etc/shadow", filepath.Join(m.Store, "ctxfs.store")} {
		if err := os.Symlink(target, agents); err != nil {
			t.Fatal(err)
		}
		if b := read(t, s); strings.Contains(b.md, "secret of root") || strings.Contains(b.md, "root:") {
			t.Errorf("AGENTS.md -> %s leaks", target)
		}
		os.Remove(agents)
	}
	file(t, agents, "readable again\n", alice, 0o400)
	if b := read(t, s); !strings.Contains(b.md, "readable again") {
		t.Error("a readable guide is not in the pack")
	}
}

// What cannot be read like a file must neither hang a read nor come into the pack.
func TestAFIFOAsAGENTSDoesNotHangARead(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, alice, "coder", "s1")
	s.Append("messages.jsonl", rec1)
	for name, plant := range map[string]func(path string) error{
		"fifo":      func(p string) error { return unix.Mkfifo(p, 0o666) },
		"directory": func(p string) error { return os.Mkdir(p, 0o777) },
		"socket":    func(p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o666, 0) },
		"device":    func(p string) error { return os.Symlink("/dev/zero", p) },
		"terminal":  func(p string) error { return os.Symlink("/dev/tty", p) },
		"loop":      func(p string) error { return os.Symlink(p, p) },
		"proc":      func(p string) error { return os.Symlink("/proc/self/environ", p) },
		"itself":    func(p string) error { return os.Symlink(s.Path("context/pack.md"), p) },
		"huge": func(p string) error {
			f, err := os.Create(p)
			if err != nil {
				return err
			}
			defer f.Close()
			return f.Truncate(1 << 40)
		},
		"binary": func(p string) error { return os.WriteFile(p, []byte("\x00\xff\xfe binary"), 0o644) },
	} {
		work := workspace(t)
		if err := plant(filepath.Join(work, "AGENTS.md")); err != nil {
			t.Fatal(err)
		}
		s.Write("cwd", work)
		// Not two files of one build: a guide that is the pack itself makes each
		// read a new one.
		md := s.Read("context/pack.md")
		if !strings.Contains(md, "Make the retry configurable.") || strings.ContainsRune(md, 0) || strings.Contains(md, "PATH=") {
			t.Errorf("%s: the pack is\n%q", name, md)
		}
	}
	for _, cwd := range []string{"/no/such/directory", "/etc/passwd", "/root", m.Dir, s.Dir, "/proc/self", "/"} {
		s.Write("cwd", cwd)
		if b := read(t, s); !strings.Contains(b.md, "Make the retry configurable.") {
			t.Errorf("cwd %s: the pack is\n%s", cwd, b.md)
		}
	}
}

func TestCwdIsMapped(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	work := workspace(t)
	file(t, filepath.Join(work, "AGENTS.md"), "Mapped guide.\n", alice, 0o600)
	m := harness.Start(t, harness.Options{Args: []string{"--map", "/work=" + work}})
	s := m.Session(t, alice, "coder", "s1")
	s.Append("messages.jsonl", rec1)
	s.Write("cwd", "/work")
	b := read(t, s)
	if !strings.Contains(b.md, "Mapped guide.") {
		t.Errorf("the guide of a mapped cwd is not in the pack:\n%s", b.md)
	}
	if cli := m.CLI(t, "pack", "--store", m.Store, s.Ref()).OK(); cli != b.md {
		t.Errorf("ctxfs pack beside the daemon gives other bytes:\n%s", cli)
	}
}

func TestTheAgentsOwnFiles(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	s.Write("../../system_prompt.md", "You are a careful coding agent.\n")
	if b := read(t, s); !strings.HasPrefix(b.md, "# Context Block: system_prompt\n") || !strings.Contains(b.md, "You are a careful coding agent.\n") {
		t.Errorf("system_prompt.md:\n%s", b.md)
	}
	s.Bash("sed -i s/careful/bold/ ../../system_prompt.md").OK()
	if b := read(t, s); !strings.Contains(b.md, "You are a bold coding agent.\n") {
		t.Errorf("changed system_prompt.md:\n%s", b.md)
	}
	// Written behind the daemon's back, in the store.
	if err := os.WriteFile(filepath.Join(s.InStore(), "../../system_prompt.md"), []byte("You are a plain agent.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "a change in the store to be seen", func() bool { return strings.Contains(s.Read("context/pack.md"), "a plain agent") })
	other := m.NewSession(t)
	other.Append("messages.jsonl", rec2)
	if b := read(t, other); !strings.Contains(b.md, "a plain agent") || strings.Contains(b.md, "retry") {
		t.Errorf("another session of the agent:\n%s", b.md)
	}
}
