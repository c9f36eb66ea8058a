// Package agents runs the agent programs themselves, unchanged, from npm, against mocks of their providers on loopback: what ctxfs
// records of them, and what reaches their models of it.
package agents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/agents/mock"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

func init() { harness.AtEnd(func() { os.RemoveAll(npm.dir) }) }

// npm is what the lock file names, installed once for all tests.
var npm struct {
	once sync.Once
	dir  string
	err  error
}

// binaries are the programs below node_modules.
var binaries = map[string]string{
	"claude": ".bin/claude", "codex": ".bin/codex", "gemini": ".bin/gemini", "pi": ".bin/pi", "node": ".bin/node", "opencode": "opencode-linux-x64/bin/opencode",
}

// install returns a directory with the programs that the lock file names, which every user may run. CTXFS_AGENTS names one that was
// made before.
func install(t *testing.T) string {
	t.Helper()
	suite.Matrix(t, "it needs agent programs from npm, some 500 MB")
	harness.Need(t, "npm")
	npm.once.Do(func() {
		modules := os.Getenv("CTXFS_AGENTS")
		if npm.dir, npm.err = os.MkdirTemp("", "ctxfs-test-agents-"); npm.err != nil {
			return
		}
		if npm.err = os.Chmod(npm.dir, 0o755); npm.err != nil {
			return
		}
		if modules == "" {
			modules = filepath.Join(npm.dir, "node_modules")
			if npm.err = os.CopyFS(npm.dir, os.DirFS("programs")); npm.err != nil {
				return
			}
			cmd := exec.Command("npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
			cmd.Dir = npm.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				npm.err = fmt.Errorf("npm ci: %w\n%s", err, out)
				return
			}
		}
		if npm.err = os.Mkdir(filepath.Join(npm.dir, "bin"), 0o755); npm.err != nil {
			return
		}
		for name, binary := range binaries {
			file := filepath.Join(modules, binary)
			if _, npm.err = os.Stat(file); npm.err != nil {
				return
			}
			if npm.err = os.Symlink(file, filepath.Join(npm.dir, "bin", name)); npm.err != nil {
				return
			}
		}
	})
	if npm.err != nil {
		t.Fatal(npm.err)
	}
	return filepath.Join(npm.dir, "bin")
}

// world is a machine that has the programs and ctxfs, a user with an empty home who works in a project, and a provider.
type world struct {
	t     *testing.T
	uid   uint32
	home  string
	dir   string // the project
	point string // where ctxfs is mounted
	path  string
	api   *mock.Server
}

// newWorld returns a world in which nothing is mounted and nothing is set.
func newWorld(t *testing.T) *world {
	t.Helper()
	bin := install(t)
	w := &world{t: t, uid: harness.Self(), path: bin + ":" + harness.UserPath(t), api: mock.Start(scripts)}
	if w.uid == 0 {
		harness.NeedFusermount(t)
		w.uid = harness.KnownUser(t, "nobody")
	}
	t.Cleanup(w.api.Close)
	w.home = w.newHome()
	w.dir = filepath.Join(w.home, "app")
	w.mkdir(w.dir)
	return w
}

// newHome returns an empty home of the user.
func (w *world) newHome() string {
	w.t.Helper()
	home, err := os.MkdirTemp("", "ctxfs-test-home-")
	if err == nil {
		err = os.Chown(home, int(w.uid), int(w.uid))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		// A program may still write what it does at its end.
		harness.Eventually(w.t, "the home to go", func() bool { return os.RemoveAll(home) == nil })
	})
	return home
}

// mkdir makes a directory of the user, and those above it.
func (w *world) mkdir(dir string) {
	w.t.Helper()
	if _, err := os.Stat(dir); err == nil {
		return
	}
	w.mkdir(filepath.Dir(dir))
	if err := cmp.Or(os.Mkdir(dir, 0o700), os.Chown(dir, int(w.uid), int(w.uid))); err != nil {
		w.t.Fatal(err)
	}
}

// write writes a file of the user.
func (w *world) write(name, data string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(name))
	if err := cmp.Or(os.WriteFile(name, []byte(data), 0o600), os.Chown(name, int(w.uid), int(w.uid))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// env is the environment of a user who has told the programs where the provider is, and to be quiet.
func (w *world) env() []string {
	return []string{
		"PATH=" + w.path, "HOME=" + w.home, "SHELL=/bin/bash", "LANG=C.UTF-8", "TMPDIR=" + w.home,
		"ANTHROPIC_BASE_URL=" + w.api.URL, "ANTHROPIC_API_KEY=sk-ant-mock", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1",
		"OPENAI_API_KEY=sk-mock",
		"GEMINI_API_KEY=mock", "GOOGLE_GEMINI_BASE_URL=" + w.api.URL, "GEMINI_TELEMETRY_ENABLED=false", "GEMINI_CLI_TRUST_WORKSPACE=true",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		// opencode wants its package for plugins from a registry, and tries for long where there is none: the mock has it not.
		"npm_config_registry=" + w.api.URL + "/", "npm_config_fetch_retries=0",
		"PI_OFFLINE=1", "PI_TELEMETRY=0",
	}
}

// result is what a program did.
type result struct {
	out, err string
	code     int
}

// try runs a program as the user, in the project.
func (w *world) try(argv ...string) (r result) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	cmd := w.command(ctx, argv...)
	// Files, not pipes, which what goes on detached would keep open.
	out, errOut := w.file(), w.file()
	defer out.Close()
	defer errOut.Close()
	cmd.Stdout, cmd.Stderr = out, errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		w.t.Fatalf("%q: %v", argv, err)
	}
	if ctx.Err() != nil {
		w.t.Errorf("%q hangs", argv)
	}
	r.code = cmd.ProcessState.ExitCode()
	r.out, r.err = w.read(out.Name()), w.read(errOut.Name())
	return r
}

func (w *world) file() *os.File {
	w.t.Helper()
	f, err := os.CreateTemp(w.t.TempDir(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// command returns a program that the user starts in the project.
func (w *world) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	for dir := range strings.SplitSeq(w.path, ":") {
		if file := filepath.Join(dir, argv[0]); !strings.Contains(argv[0], "/") {
			if fi, err := os.Stat(file); err == nil && fi.Mode()&0o111 != 0 {
				cmd.Path, cmd.Err = file, nil
				break
			}
		}
	}
	cmd.Dir, cmd.Env = w.dir, w.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if w.uid != harness.Self() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: w.uid, Gid: w.uid, Groups: []uint32{w.uid}}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// run runs a program that is to succeed, and returns what it printed. opencode gives up as it starts where another opencode starts at
// the same time on a busy machine: its user starts it again, and so does run.
func (w *world) run(argv ...string) string {
	w.t.Helper()
	r := w.try(argv...)
	for range 3 {
		if argv[0] != opencode.name || r.code == 0 || !strings.Contains(r.out+r.err, "database is locked") {
			break
		}
		w.t.Logf("once more, because opencode found its database locked: %q", argv)
		r = w.try(argv...)
	}
	if r.code != 0 {
		w.t.Fatalf("%q ended with %d\n%s%s", argv, r.code, r.out, r.err)
	}
	return r.out
}

// bash runs a script of the user.
func (w *world) bash(script string, args ...string) string {
	w.t.Helper()
	return w.run(slices.Concat([]string{"bash", "-c", script}, args)...)
}

// mount mounts a store, as a user does for himself.
func (w *world) mount() {
	w.t.Helper()
	point := filepath.Join(w.home, "ctx")
	w.mkdir(point)
	w.t.Cleanup(func() { w.try("ctxfs", "umount", "--force", point) })
	w.run("ctxfs", "mount", point)
	w.point = point
}

// uidText is the user's number, as it stands in paths.
func (w *world) uidText() string { return fmt.Sprint(w.uid) }

// sessions returns what each session of an agent has recorded, by its name.
func (w *world) sessions(agent string) map[string][]record {
	w.t.Helper()
	all := map[string][]record{}
	out := w.bash(`cd "$1/home/$UID/agent/$0/session" 2>/dev/null || exit 0
for s in *; do [ -f "$s/messages.jsonl" ] && { echo "= $s"; cat "$s/messages.jsonl"; }; done; true`, agent, w.point)
	name := ""
	for line := range strings.Lines(out) {
		if s, ok := strings.CutPrefix(line, "= "); ok {
			name = strings.TrimSpace(s)
			all[name] = nil
			continue
		}
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			w.t.Fatalf("%s: %v", line, err)
		}
		r.line = line
		all[name] = append(all[name], r)
	}
	return all
}

// record is a record of messages.jsonl.
type record struct {
	Role string
	line string
}

// holding returns the sessions of an agent that have a record with some words.
func (w *world) holding(agent, words string) (names []string) {
	w.t.Helper()
	for name, records := range w.sessions(agent) {
		if slices.ContainsFunc(records, func(r record) bool { return strings.Contains(r.line, words) }) {
			names = append(names, name)
		}
	}
	return names
}

// recorded waits until one session of an agent has some words, which hooks bring behind the program's back, and returns its name.
func (w *world) recorded(agent, words string) string {
	w.t.Helper()
	var names []string
	harness.Eventually(w.t, fmt.Sprintf("%s to have recorded %q", agent, words), func() bool {
		names = w.holding(agent, words)
		return len(names) > 0
	})
	if len(names) > 1 {
		w.t.Errorf("%q stands in %d sessions of %s: %q", words, len(names), agent, names)
	}
	return names[0]
}

// asked returns the first request of the agent's own, of those since the last look, in which the user said some words.
func (w *world) asked(words string) *mock.Request {
	w.t.Helper()
	var said bytes.Buffer
	for _, r := range w.api.Requests() {
		if r.Main() && slices.ContainsFunc(r.Turns, func(t mock.Turn) bool { return t.Role == "user" && strings.Contains(t.Text, words) }) {
			return r
		}
		fmt.Fprintf(&said, "%s %s, %d tools: %.2000s\n", r.API, r.Path, len(r.Tools), r.Said())
	}
	w.t.Fatalf("no request of the agent says %q:\n%s", words, &said)
	return nil
}
