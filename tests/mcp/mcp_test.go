// Package mcp speaks to ctxfs mcp with the official TypeScript client, from npm.
package mcp

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

var client struct {
	once sync.Once
	dir  string
	err  error
}

// install returns a directory with the scripts of client/ and what its lock file names.
func install(t *testing.T) string {
	t.Helper()
	harness.Need(t, "node")
	harness.Need(t, "npm")
	client.once.Do(func() {
		if client.dir, client.err = os.MkdirTemp("", "ctxfs-test-npm-"); client.err != nil {
			return
		}
		if client.err = os.CopyFS(client.dir, os.DirFS(filepath.Join(harness.Root(), "tests/mcp/client"))); client.err != nil {
			return
		}
		cmd := exec.Command("npm", "ci", "--prefer-offline", "--loglevel=error")
		cmd.Dir = client.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			client.err = fmt.Errorf("npm ci: %w\n%s", err, out)
		}
	})
	if client.err != nil {
		t.Fatal(client.err)
	}
	return client.dir
}

// run runs a script of client/ against a mount.
func run(t *testing.T, m *harness.Mount, script string, env ...string) string {
	t.Helper()
	dir := install(t)
	return m.Run(t, harness.Client{UID: harness.Self(), Dir: dir, Argv: []string{"node", script}, Env: append(env, "CTXFS_BIN="+harness.Binary(t))}).OK()
}

func TestTheOfficialClient(t *testing.T) {
	t.Cleanup(func() {
		os.RemoveAll(client.dir)
		client.once = sync.Once{} // for -count
	})
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	t.Run("uses every tool", func(t *testing.T) {
		s := m.Session(t, harness.Self(), "coder", "tour")
		if got := run(t, m, "tour.mjs", "SESSION="+s.Dir); got != "the tour is over\n" {
			t.Error(got)
		}
	})
	t.Run("shares a session with another", func(t *testing.T) {
		s := m.Session(t, harness.Self(), "coder", "shared")
		if got := run(t, m, "shared.mjs", "SESSION="+s.Dir); got != "both are done\n" {
			t.Error(got)
		}
	})
	t.Run("is a host that shows a model structuredContent or content", func(t *testing.T) {
		s, empty := m.Session(t, harness.Self(), "hosted", "s1"), m.Session(t, harness.Self(), "fresh", "empty")
		if got := run(t, m, "hosts.mjs", "SESSION="+s.Dir, "EMPTY="+empty.Dir); got != "each host shows each answer\n" {
			t.Error(got)
		}
	})
	t.Run("gets a session of its own", func(t *testing.T) {
		home := filepath.Join(m.Dir, "home", fmt.Sprint(harness.Self()))
		if got := run(t, m, "own.mjs", "MOUNT="+m.Dir, "HOME_DIR="+home); got != "each had its own\n" {
			t.Error(got)
		}
	})
}

// What is installed is what the lock file says, from whatever registry this machine uses.
func TestTheLockFileNamesNoHost(t *testing.T) {
	lock, err := os.ReadFile("client/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(lock, []byte(`"resolved"`)) || bytes.Contains(lock, []byte("registry")) {
		t.Error("client/package-lock.json names a registry; npm install with client/.npmrc makes it without")
	}
	if !bytes.Contains(lock, []byte(`"integrity"`)) {
		t.Error("client/package-lock.json has no hashes")
	}
}

// A server ends with its input, and nothing but the protocol was on its output.
func TestTheServerEndsWithItsInput(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "coder", "s1")
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	for name, in := range map[string]string{"at once": "", "after hello": hello, "in the middle of a message": hello + `{"jsonrpc":"2.0","id":2`} {
		t.Run(name, func(t *testing.T) {
			r := m.Run(t, harness.Client{UID: s.UID, Dir: s.Dir, Argv: []string{harness.Binary(t), "mcp", "."}, Stdin: strings.NewReader(in)})
			if r.Code != 0 {
				t.Errorf("status %d: %s", r.Code, r.Stderr)
			}
			if answers := strings.Count(r.Stdout, `"result":`); answers != strings.Count(in, hello) {
				t.Errorf("%d answers to what was asked before the end: %q", answers, r.Stdout)
			}
			for _, line := range strings.Split(strings.TrimSpace(r.Stdout), "\n") {
				if line != "" && !strings.HasPrefix(line, `{"jsonrpc":"2.0"`) {
					t.Errorf("on standard output: %q", line)
				}
			}
		})
	}
}

// A line that is no message is answered as JSON-RPC asks, and the session goes on.
func TestALineThatIsNoMessageDoesNotEndTheSession(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "coder", "s1")
	const old = "2025-03-26"
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	const last = `{"jsonrpc":"2.0","id":9,"method":"tools/list"}` + "\n"
	for bad, want := range map[string]string{
		"oops":                     `"id":null,"error":{"code":-32700,`,
		`{"jsonrpc":"2.0","id":2,`: `"id":null,"error":{"code":-32700,`,
		`{"jsonrpc":"2.0","id":2,"method":"ping"}{}`: `"id":null,"error":{"code":-32700,`,
		"42":                       `"id":null,"error":{"code":-32600,`,
		`{"id":2,"method":"ping"}`: `"id":2,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0"}`:        `"id":null,"error":{"code":-32600,`,
		"\xff\xfe":                 `"id":null,"error":{"code":-32700,`,
		"  \r":                     ``,
		"[]":                       `"id":null,"error":{"code":-32600,`,
		"[1]":                      `"id":null,"error":{"code":-32600,`,
		`[{"jsonrpc":"2.0","id":2,"method":"ping"}]`: `"id":null,"error":{"code":-32600,`,
		old + `[]`:  `"id":null,"error":{"code":-32600,`,
		old + `[1]`: `"id":null,"error":{"code":-32600,`,
		old + `[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`: `"id":null,"error":{"code":-32600,`,
		old + `[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]`: ``,
	} {
		hello := hello
		if rest, ok := strings.CutPrefix(bad, old); ok {
			hello, bad = strings.Replace(hello, "2025-06-18", old, 1), rest
		}
		r := m.Run(t, harness.Client{UID: s.UID, Dir: s.Dir, Argv: []string{harness.Binary(t), "mcp", "."}, Stdin: strings.NewReader(hello + bad + "\n" + last)})
		if r.Code != 0 || !strings.Contains(r.Stdout, `"id":9,"result"`) {
			t.Errorf("%q ended the session with status %d: %s", bad, r.Code, r.Stderr)
		}
		if got := strings.Count(r.Stdout, `"error":`); !strings.Contains(r.Stdout, want) || got != min(len(want), 1) {
			t.Errorf("%q was answered %s", bad, r.Stdout)
		}
	}
}

// Where there is nothing to serve, the host program is told so at once.
func TestTheServerSaysWhatIsMissing(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--mount", t.TempDir()}, 1, "no ctxfs is mounted at"},
		{[]string{"--mount", m.Dir, "a/b/c"}, 2, "neither AGENT/SESSION"},
		{[]string{t.TempDir()}, 2, "is not a session and cannot become one"},
		{[]string{filepath.Join(t.TempDir(), "agent/a/session/s")}, 1, "is not in a mount of ctxfs"},
	} {
		r := m.CLI(t, append([]string{"mcp"}, tt.args...)...)
		if r.Code != tt.code || !strings.Contains(r.Stderr, tt.want) || r.Stdout != "" {
			t.Errorf("%q: status %d, %q %q", tt.args, r.Code, r.Stdout, r.Stderr)
		}
	}
}

// A container sees a session, or an agent's home, under a name of its own: the tools make do with that, and touch nothing around it.
func TestAServerSeesWhatIsBound(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "coder", "s1")
	remember(t, m, harness.Self(), `{"command":"create","path":"/memories/a.md","file_text":"remembered"}`).OK()
	ask := func(session string) string {
		in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"append","arguments":{"messages":[{"role":"user","content":"from inside"}]}}}` + "\n" +
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory","arguments":{"command":"view","path":"/memories/a.md"}}}` + "\n" +
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"search","arguments":{"query":"quokka","scope":"agent"}}}` + "\n"
		return m.Run(t, harness.Client{UID: harness.Self(), Dir: "/", Argv: []string{harness.Binary(t), "mcp", session}, Stdin: strings.NewReader(in)}).OK()
	}
	bind := func(from, to string) {
		t.Helper()
		if err := os.MkdirAll(to, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(to, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	base := t.TempDir()
	alone, home := filepath.Join(base, "session/mine"), filepath.Join(base, "memory")
	bind(s.Dir, alone)
	bind(s.AgentHome(), home)
	if got := ask(alone); !strings.Contains(got, "appended messages:1") || !strings.Contains(got, "mount the agent's home") || !strings.Contains(got, "the scope agent cannot be seen") {
		t.Errorf("of a session alone:\n%s", got)
	}
	if got := ask(filepath.Join(home, "session/s1")); !strings.Contains(got, "appended messages:2") || !strings.Contains(got, "remembered") || !strings.Contains(got, "# nothing found") {
		t.Errorf("of an agent's home:\n%s", got)
	}
	if found, err := os.ReadDir(base); err != nil || len(found) != 2 {
		t.Errorf("beside the mounts there is %v %v", found, err)
	}
}
