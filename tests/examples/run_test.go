// Package examples runs the commands of the examples and of docs/recipe.md.
package examples

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// runnable makes a clone in which `make build` was run, owned by uid, and returns it with the script of a make target,
// which it reads from the Makefile.
func runnable(t *testing.T, uid uint32, targets ...string) (dir string, scripts []string) {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(harness.Root(), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		m := regexp.MustCompile(`(?m)^\t@([a-z/]+/` + target + `\.sh)$`).FindSubmatch(makefile)
		if m == nil {
			t.Fatalf("the Makefile runs no %s.sh", target)
		}
		scripts = append(scripts, string(m[1]))
	}
	dir = clone(t)
	in := filepath.Dir(scripts[0])
	if err := os.CopyFS(filepath.Join(dir, in), os.DirFS(filepath.Join(harness.Root(), in))); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(harness.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "ctxfs"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, int(uid), -1); err != nil {
		t.Fatal(err)
	}
	return dir, scripts
}

// What `make run` shows fits on one screen, the first time and the second, for root and for an ordinary user.
func TestMakeRunShowsOneScreen(t *testing.T) {
	const lines, columns = 60, 100
	users := []uint32{harness.Self()}
	if harness.Self() == 0 {
		users = append(users, harness.KnownUser(t, "nobody"))
	}
	for _, uid := range users {
		t.Run(fmt.Sprint("as ", uid), func(t *testing.T) {
			if uid != 0 {
				harness.NeedFusermount(t)
			}
			dir, scripts := runnable(t, uid, "run", "stop")
			run := func(script string) string {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, "bash", filepath.Join(dir, script))
				cmd.Dir = dir
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8"}
				if uid != harness.Self() {
					cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: []uint32{uid}}}
				}
				var out bytes.Buffer // not a pipe, which the daemon in the background would keep open
				file, err := os.Create(filepath.Join(t.TempDir(), "out"))
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				cmd.Stdout, cmd.Stderr = file, file
				err = cmd.Run()
				if _, e := file.Seek(0, 0); e == nil {
					out.ReadFrom(file)
				}
				if err != nil {
					t.Errorf("%s: %v\n%s", script, err, out.String())
				}
				return out.String()
			}
			t.Cleanup(func() {
				run(scripts[1])
				if _, err := os.Stat(filepath.Join(dir, ".run")); err == nil {
					t.Error("stop.sh leaves .run")
				}
			})
			var first []string
			for range 2 {
				screen := strings.Split(strings.TrimSuffix(run(scripts[0]), "\n"), "\n")
				if len(screen) > lines {
					t.Errorf("%d lines, more than %d:\n%s", len(screen), lines, strings.Join(screen, "\n"))
				}
				for _, line := range screen {
					if n := utf8.RuneCountInString(line); n > columns {
						t.Errorf("%d columns, more than %d: %s", n, columns, line)
					}
				}
				for _, want := range []string{"$ ctxfs mount", ">> messages.jsonl", "pack.md", "$ ctxfs why", "search/", "Operation not permitted", "Go on", "make stop"} {
					if !slices.ContainsFunc(screen, func(line string) bool { return strings.Contains(line, want) }) {
						t.Errorf("the screen has no %q:\n%s", want, strings.Join(screen, "\n"))
					}
				}
				at := slices.Index(screen, "Go on")
				if at < 0 {
					continue // said above
				}
				opens(t, uid, dir, screen)
				// Below it stands the path, which has another name each time.
				if shown := screen[:at]; first == nil {
					first = shown
				} else if !slices.Equal(first, shown) {
					t.Errorf("the second run shows\n%s\nthe first\n%s", strings.Join(shown, "\n"), strings.Join(first, "\n"))
				}
			}
		})
	}
}

// opens runs the last line of the screen, in the directory that the line below "Go on" leads to, and fails the test
// unless it serves a page.
func opens(t *testing.T, uid uint32, home string, screen []string) {
	t.Helper()
	last := strings.TrimSpace(screen[len(screen)-1])
	into := strings.TrimSpace(screen[slices.Index(screen, "Go on")+1])
	cmd := exec.Command("bash", "-c", into+" && exec "+last+" --no-open")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}
	if uid != harness.Self() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: []uint32{uid}}}
	}
	harness.StartUI(t, cmd).End()
}
