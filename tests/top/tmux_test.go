// Package top uses ctxfs top as a person does, in a terminal of tmux.
package top

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// terminal is a shell in a window of a tmux of its own.
type terminal struct {
	t      testing.TB
	socket string
}

// open starts a shell in a window of so many columns and lines. Environment variables are NAME=value.
func open(t testing.TB, width, height int, env ...string) *terminal {
	t.Helper()
	harness.Need(t, "tmux")
	dir, err := os.MkdirTemp("", "ctxfs-test-top-")
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t, filepath.Join(dir, "tmux")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen:\n%s", x.screen())
		}
		if out, err := x.command("kill-server").CombinedOutput(); err != nil {
			t.Errorf("kill-server: %v %s", err, out)
		}
		os.RemoveAll(dir)
	})
	args := []string{"-f", "/dev/null", "new-session", "-d", "-s", "top", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	for _, e := range append([]string{"PS1=ready> ", "HISTFILE=", "LC_ALL=C.UTF-8"}, env...) {
		args = append(args, "-e", e)
	}
	x.do(append(args, "bash", "--norc", "--noprofile")...)
	x.await("ready>")
	return x
}

func (x *terminal) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...)
	for _, e := range os.Environ() { // what the window's shell has is for open to say
		if name, _, _ := strings.Cut(e, "="); name != "TMUX" && name != "NO_COLOR" && name != "TERM" && name != "SSH_TTY" {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C.UTF-8")
	return cmd
}

// do runs a command of tmux and returns what it prints.
func (x *terminal) do(args ...string) string {
	x.t.Helper()
	out, err := x.command(args...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %q: %v %s", args, err, out)
	}
	return string(out)
}

// keys presses keys, by the names that tmux has for them.
func (x *terminal) keys(names ...string) {
	x.t.Helper()
	x.do(append([]string{"send-keys", "-t", "top"}, names...)...)
}

// types types a text.
func (x *terminal) types(text string) {
	x.t.Helper()
	x.do("send-keys", "-t", "top", "-l", text)
}

// shell types a line into the shell.
func (x *terminal) shell(line string) {
	x.t.Helper()
	x.types(line)
	x.keys("Enter")
}

// screen is what the window shows.
func (x *terminal) screen() string {
	out, _ := x.command("capture-pane", "-p", "-t", "top").CombinedOutput()
	return string(out)
}

// drawn is screen with its colours.
func (x *terminal) drawn() string {
	x.t.Helper()
	return x.do("capture-pane", "-e", "-p", "-t", "top")
}

// await waits until the screen has what a pattern describes, and returns the screen.
func (x *terminal) await(pattern string) (screen string) {
	x.t.Helper()
	p := regexp.MustCompile("(?m)" + pattern)
	harness.Eventually(x.t, fmt.Sprintf("a screen with %s", pattern), func() bool {
		screen = x.screen()
		return p.MatchString(screen)
	})
	return screen
}

// top starts ctxfs top on a mount and waits for a screen.
func (x *terminal) top(m *harness.Mount, pattern string, args ...string) {
	x.t.Helper()
	x.shell(strings.Join(append([]string{"clear;", harness.Binary(x.t), "top --mount", m.Dir}, args...), " ") + "; echo END $?")
	x.await(pattern)
}

// ended waits until the shell is back, and fails the test unless the terminal is as it was: the main screen, a cursor, and
// letters that are shown as they are typed.
func (x *terminal) ended(status int) {
	x.t.Helper()
	x.await(fmt.Sprintf(`^END %d$`, status))
	if got := strings.TrimSpace(x.do("display-message", "-p", "-t", "top", "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_flag}")); got != "0 1 0 0" {
		x.t.Errorf("the terminal is left as %q: alternate screen, cursor, mouse, keypad", got)
	}
	x.shell("clear; stty -a | grep -c -e ' -echo ' -e ' -icanon ' -e ' -isig '")
	x.await(`^0$`)
}

// quit ends ctxfs top with a key and fails the test unless it ends with status 0, as ended does.
func (x *terminal) quit(key string) {
	x.t.Helper()
	x.keys(key)
	x.ended(0)
}

// tells makes a session of n messages, the last of which is text.
func tells(t testing.TB, m *harness.Mount, uid uint32, agent, name string, n int, text string) *harness.Session {
	t.Helper()
	s := m.Session(t, uid, agent, name)
	for i := 1; i < n; i++ {
		s.Append("messages.jsonl", harness.Message("user", fmt.Sprintf("message %d", i)))
	}
	s.Append("messages.jsonl", harness.Message("assistant", text))
	return s
}
