package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestScripts runs testdata/script/*.txtar with the real binary. In a script,
// $USER1 is a uid that is not root, $STORE and $CTX are a store and a
// mountpoint that are cleaned up, and asuser runs a command as $USER1.
func TestScripts(t *testing.T) {
	matrix := suite.Pick(t, false, true)
	bin := harness.Binary(t)
	work, err := os.MkdirTemp("", "ctxfs-script-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		filepath.WalkDir(work, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() { // the mountpoint of a daemon that was killed
				harness.Unprotect(name)
			}
			return nil
		})
		if err := os.RemoveAll(work); err != nil && os.Getuid() == 0 {
			t.Errorf("clean up: %v", err)
		}
	})
	if err := os.Chmod(work, 0o755); err != nil { // other users must get through
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         work,
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Getuid() == 0 || cond == "matrix" && matrix, nil
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(bin)+":"+env.Getenv("PATH")+":/usr/sbin:/sbin")
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("STORE", filepath.Join(env.WorkDir, "store"))
			env.Setenv("CTX", filepath.Join(env.WorkDir, "ctx"))
			env.Setenv("USER1", "65534") // nobody: fusermount3 wants a name
			env.Setenv("ROOT", harness.Root())
			env.Defer(func() { endDaemons(env.WorkDir) })
			if err := os.Mkdir(filepath.Join(env.WorkDir, "ctx"), 0o755); err != nil {
				return err
			}
			return os.Chmod(env.WorkDir, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"asuser": asUser,
			"kill9":  kill9,
		},
	})
}

// asUser runs a command as $USER1: asuser COMMAND...
func asUser(ts *testscript.TestScript, neg bool, args []string) {
	id := ts.Getenv("USER1")
	err := ts.Exec("setpriv", append([]string{"--reuid=" + id, "--regid=" + id, "--clear-groups"}, args...)...)
	switch {
	case neg && err == nil:
		ts.Fatalf("the command succeeded")
	case !neg && err != nil:
		ts.Fatalf("%v", err)
	}
}

// kill9 kills the daemon of a store: kill9 STORE
func kill9(ts *testscript.TestScript, neg bool, args []string) {
	pid, err := daemonOf(ts.MkAbs(args[0]))
	if err == nil {
		err = unix.Kill(pid, unix.SIGKILL)
	}
	if err == nil {
		err = daemon.WaitForExit(pid, harness.Patience)
	}
	if err != nil {
		ts.Fatalf("%v", err)
	}
}

func daemonOf(store string) (int, error) {
	var d daemon.Info
	b, err := os.ReadFile(filepath.Join(store, session.DaemonFile))
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	return d.PID, err
}

// endDaemons leaves nothing behind of a script that failed half-way.
func endDaemons(dir string) {
	filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if e.Name() == session.DaemonFile {
			if pid, err := daemonOf(filepath.Dir(name)); err == nil {
				if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); strings.HasSuffix(exe, "/ctxfs") {
					unix.Kill(pid, unix.SIGKILL)
				}
			}
		}
		if _, rest, ok := mounts.At(name); ok && rest == "" {
			return fs.SkipDir
		}
		return nil
	})
	all, _ := mounts.Ctxfs()
	for _, m := range all {
		if locate.Inside(m.Point, dir) {
			if unix.Unmount(m.Point, unix.MNT_DETACH) != nil { // a user may not
				exec.Command("fusermount3", "-u", "-z", m.Point).Run()
			}
			harness.Unprotect(m.Point)
		}
	}
}
