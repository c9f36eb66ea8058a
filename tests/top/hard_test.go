package top

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// What a session says moves, colours and hides nothing on the screen, and its rows end where the others do.
func TestAHostileSession(t *testing.T) {
	suite.Matrix(t, needsTmux)
	m := harness.Start(t, harness.Options{})
	evil := "\x1b[31mred\x1b[2J\x1b[H\x1b]0;title\x07\x1b[?1049l \u202Eturned\u202C \u2066x \u061C\uFEFF\b\b\r 你好世界 👩\u200d💻 ❤\ufe0f 👍🏽 e\u0301"
	line := func(fields map[string]any) string {
		b, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	s := m.Session(t, harness.Self(), "coder", "hostile")
	s.Append("messages.jsonl", line(map[string]any{"role": "user", "content": evil, "name": evil}))
	s.Append("messages.jsonl", line(map[string]any{"role": "assistant", "content": evil, "tool_calls": []any{map[string]any{"id": evil, "type": "function", "function": map[string]any{"name": evil, "arguments": evil}}}}))
	s.Bash(`printf '{"role":"\033[31m"}\n' >> messages.jsonl`)
	s.Write("context/todo.md", "- [ ] "+evil+"\n")
	huge := m.Session(t, harness.Self(), "coder", "huge")
	huge.Append("messages.jsonl", line(map[string]any{"role": "user", "content": strings.Repeat("All work and no play. ", (16<<20-200)/22)}))
	tells(t, m, harness.Self(), "coder", "plain", 1, "hello")
	x := open(t, 120, 24)
	x.top(m, `^› plain .*\n  huge .*user: .*All work and no play.*\n  hostile .*⟨U\+001B⟩\[31mred`)
	check := func(what string) {
		t.Helper()
		if drawn := x.drawn(); strings.Contains(drawn, "\x1b[31m") || strings.ContainsAny(drawn, "\u202E\u2066\u061C\uFEFF\u200d") {
			t.Errorf("%s: what the session says got through: %q", what, drawn)
		}
		if title := x.do("display-message", "-p", "-t", "top", "#{pane_title} #{alternate_on}"); strings.Contains(title, "title") || !strings.Contains(title, " 1") {
			t.Errorf("%s: the terminal has become %q", what, title)
		}
	}
	check("the list")
	for _, row := range strings.Split(x.screen(), "\n") {
		if strings.Contains(row, " idle ") && !strings.HasSuffix(row, " now") && !strings.HasSuffix(row, " s") {
			t.Errorf("a row does not end with its time: %q", row)
		}
	}
	x.keys("G")
	x.await(`^› hostile`)
	x.keys("Enter")
	x.await(`^coder / hostile`)
	x.await(`^Prompt: \d`)
	if screen := x.await(`^  2 assistant +\d+  ⟨U\+001B⟩\[31mred`); !strings.Contains(screen, "esc back") {
		t.Error("the screen lost its last line")
	}
	check("the session")
	x.quit("q")
}

// Looking leaves nothing: no row in packs.jsonl, and no command of a recipe runs.
func TestALookLeavesNothing(t *testing.T) {
	suite.Matrix(t, needsTmux)
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := tells(t, m, harness.Self(), "coder", "s1", 2, "hello")
	ran := filepath.Join(t.TempDir(), "ran")
	s.Write("context/context.yaml", strings.ReplaceAll(`version: 1
sources:
  - {type: computed_file, id: made, generator: [sh, -c, "echo x >> RAN; echo made"], on_missing: skip}
  - {type: journal}
`, "RAN", ran))
	// What the daemon remembers for itself is no part of the session.
	files := func() string {
		return s.Bash("find '" + s.InStore() + `' -type f -printf '%P %s\n' | grep -v '^\.ctxfs/notes/' | sort`).OK()
	}
	before := files()
	x := open(t, 120, 24)
	x.top(m, `^› s1 `)
	x.keys("Enter")
	x.await(`^Prompt: \d+ tokens`)
	x.quit("q")
	if after := files(); after != before {
		t.Errorf("the session had the files\n%s\nand has\n%s", before, after)
	}
	if rows := s.Read("context/packs.jsonl"); rows != "" {
		t.Errorf("packs.jsonl has %s", rows)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a command of the recipe ran")
	}
	s.Append("messages.jsonl", harness.Message("user", "go on"))
	s.Read("context/pack.md")
	harness.Eventually(t, "the command, which a read of the pack runs", func() bool { _, err := os.Stat(ran); return err == nil })
}

// overTwo returns a terminal with ctxfs top on a mount of two sessions: the cursor is on s2, and s1, which
// is returned, is the row below.
func overTwo(t *testing.T) (*terminal, *harness.Mount, *harness.Session) {
	t.Helper()
	m := harness.Start(t, harness.Options{})
	s1 := tells(t, m, harness.Self(), "coder", "s1", 2, "before")
	tells(t, m, harness.Self(), "coder", "s2", 2, "beside")
	x := open(t, 120, 12)
	x.top(m, `^› s2 .*\n  s1 .*assistant: before`)
	return x, m, s1
}

// A mount that goes away is named, keys are answered meanwhile, and what it has is shown when it is back.
func TestAMountThatGoesAndComesBack(t *testing.T) {
	suite.Matrix(t, needsTmux)
	x, m, s := overTwo(t)
	m.Stop()
	x.await(`^the mount is gone`)
	x.keys("j")
	x.await(`^› s1 `)
	m.Restart()
	x.await(`^enter look`)
	s.Append("messages.jsonl", harness.Message("user", "after"))
	x.await(`s1 .*user: after`)
	m.Kill()
	x.await(`^the mount is gone`)
	m.Restart()
	x.await(`^enter look`)
	s.Append("messages.jsonl", harness.Message("user", "after a crash"))
	x.await(`s1 .*user: after a crash`)
	x.quit("q")
}

// A daemon that is stopped holds up no key.
func TestADaemonThatIsStopped(t *testing.T) {
	suite.Matrix(t, needsTmux)
	x, m, _ := overTwo(t)
	stop := exec.Command("kill", "-STOP", fmt.Sprint(m.PID()))
	if out, err := stop.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	goOn := sync.OnceFunc(func() { exec.Command("kill", "-CONT", fmt.Sprint(m.PID())).Run() })
	t.Cleanup(goOn)
	x.await(`^the mount does not answer`)
	x.keys("j")
	x.await(`^› s1 `)
	x.keys("?")
	x.await(`^/ +show only`)
	goOn()
	x.keys("?")
	x.await(`^enter look`)
	x.quit("q")
}

// Over ssh it is the same, and the terminal of this side is as it was at the end.
func TestOverSSH(t *testing.T) {
	suite.Matrix(t, "it needs sshd")
	harness.NeedRoot(t)
	harness.Need(t, "sshd")
	harness.Need(t, "ssh")
	m := harness.Start(t, harness.Options{})
	s := tells(t, m, harness.Self(), "coder", "far", 2, "Hello from afar.")
	dir, err := os.MkdirTemp("", "ctxfs-test-ssh-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	config := filepath.Join(dir, "sshd_config")
	text := fmt.Sprintf("ListenAddress 127.0.0.1:%d\nHostKey %s/host\nAuthorizedKeysFile %s/user.pub\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n", port, dir, dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where it shuts in what it does before a login
		t.Fatal(err)
	}
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd = "/usr/sbin/sshd"
	}
	daemon := exec.Command(sshd, "-D", "-e", "-f", config)
	said := &harness.Log{}
	daemon.Stderr = said
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		daemon.Process.Kill()
		daemon.Wait()
		if t.Failed() {
			t.Logf("sshd: %s", said)
		}
	})
	harness.Eventually(t, "sshd", func() bool { return strings.Contains(said.String(), "Server listening") })
	x := open(t, 110, 16)
	x.shell(fmt.Sprintf("clear; ssh -tt -F none -p %d -i %s/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR root@127.0.0.1 LC_ALL=C.UTF-8 %s top --mount %s; echo END $?",
		port, dir, harness.Binary(t), m.Dir))
	x.await(`^› far +coder .*assistant: Hello from afar\.`)
	x.do("resize-window", "-t", "top", "-x", "80", "-y", "12")
	x.await(`^› far .{74}$`)
	s.Append("messages.jsonl", harness.Message("user", "Do you hear me?"))
	x.await(`^› far .*user: Do you h`)
	x.keys("Enter")
	x.await(`^Prompt: \d+ tokens`)
	x.quit("q")
}

const manySessions = 10_000

// many makes manySessions sessions, the last of which speak.
func many(t testing.TB, m *harness.Mount) {
	t.Helper()
	home := filepath.Join(m.Dir, fmt.Sprintf("home/%d/agent", harness.Self()))
	var all sync.WaitGroup
	var failed sync.Map
	for k := range 8 {
		all.Go(func() {
			for i := k; i < manySessions-20; i += 8 {
				if err := os.MkdirAll(filepath.Join(home, fmt.Sprintf("agent%02d/session/s%05d", i%20, i)), 0o755); err != nil {
					failed.Store(i, err)
					return
				}
			}
		})
	}
	all.Wait()
	failed.Range(func(_, err any) bool { t.Fatal(err); return false })
	for i := manySessions - 20; i < manySessions; i++ {
		tells(t, m, harness.Self(), fmt.Sprintf("agent%02d", i%20), fmt.Sprintf("s%05d", i), 1, fmt.Sprintf("I am number %d.", i))
	}
}

// Of ten thousand sessions those on the screen are read, and all can be reached.
func TestTenThousandSessions(t *testing.T) {
	suite.Matrix(t, "ten thousand sessions take a minute to make")
	m := harness.Start(t, harness.Options{})
	many(t, m)
	x := open(t, 120, 30)
	x.top(m, `^› s09999 .*I am number 9999`)
	x.await(`10,000 sessions  by last activity`)
	x.keys("G")
	x.await(`^› s\d{5} .* nothing yet`)
	x.keys("g")
	x.await(`^› s09999 `)
	x.keys("/")
	x.types("agent07 s04987")
	x.await(`^› s04987 +agent07 +idle +nothing yet`)
	x.await(`1 of 10,000 sessions`)
	x.keys("Escape")
	x.await(`^› s09999 `)
	old := m.Session(t, harness.Self(), "agent07", "s04987")
	old.Append("messages.jsonl", harness.Message("user", "I was silent long."))
	x.keys("/")
	x.types("s04987")
	x.await(`^› s04987 +agent07 +idle +user: I was silent long\.`)
	x.quit("C-c")
}
