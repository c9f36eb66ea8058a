package host

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// built returns a copy of the sources in which make build was run, owned by an ordinary user where the test is root, and the uid of that.
func built(t *testing.T) (dir string, uid int) {
	t.Helper()
	dir, uid = copySources(t), os.Getuid()
	if uid == 0 {
		uid = int(harness.KnownUser(t, "nobody"))
	}
	script := `git init -q . && git -c user.name=n -c user.email=e commit -q --allow-empty -m first && mkdir bin && cp "$1" bin/ctxfs && chown -R "$2" .`
	cmd := exec.Command("bash", "-ec", script, "-", harness.Binary(t), strconv.Itoa(uid))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, uid
}

// owned returns the files below dir that another user than uid owns.
func owned(t *testing.T, dir string, uid int) (others []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if st, ok := fi.Sys().(*syscall.Stat_t); err == nil && ok && int(st.Uid) != uid && !strings.Contains(name, "/.git/") {
			others = append(others, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return others
}

// make install takes what make build has built, builds only what is missing, and leaves the clone to its owner.
func TestInstallBuildsOnlyWhatIsMissing(t *testing.T) {
	dir, uid := built(t)
	compiler := filepath.Join(t.TempDir(), "go")
	calls := compiler + ".calls"
	script := `#!/bin/bash
echo "$*" >>` + calls + `
while [ $# -gt 0 ]; do [ "$1" = -o ] && { mkdir -p "$(dirname "$2")"; cp ` + harness.Binary(t) + ` "$2"; }; shift; done
`
	if err := os.WriteFile(compiler, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	install := func() (to string) {
		t.Helper()
		to = t.TempDir()
		cmd := exec.Command("make", "--no-print-directory", "install", "GO="+compiler, "DESTDIR="+to, "PREFIX=/usr")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make install: %v\n%s", err, out)
		}
		for _, name := range []string{"usr/bin/ctxfs", "usr/share/man/man1/ctxfs-mount.1", "usr/share/man/man5/ctxfs.5", "usr/share/man/man8/mount.fuse.ctxfs.8"} {
			if fi, err := os.Stat(filepath.Join(to, name)); err != nil || fi.Size() == 0 {
				t.Errorf("%s is not installed: %v", name, err)
			}
		}
		if others := owned(t, dir, uid); len(others) > 0 {
			t.Errorf("another user owns in the clone: %q", others)
		}
		return to
	}
	install()
	if b, err := os.ReadFile(calls); err == nil {
		t.Errorf("what was built is built again: %s", b)
	}
	if err := os.RemoveAll(filepath.Join(dir, "bin")); err != nil {
		t.Fatal(err)
	}
	install()
	if b, err := os.ReadFile(calls); err != nil || strings.Count(string(b), "\n") != 1 || strings.Contains(string(b), `main.commit="`) || strings.Contains(string(b), "main.commit= ") {
		t.Errorf("it is built with %q, %v", b, err)
	}
}

// A package that is not complete does not have the name of one.
func TestInterruptedDebLeavesNoPackage(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("there is no dpkg here")
	}
	dir, _ := built(t)
	bin, to := t.TempDir(), t.TempDir()
	fails := "#!/bin/bash\nfor last; do :; done\necho half >\"$last\"\ntouch \"$0.called\"\nkill -TERM $PPID\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "dpkg-deb"), []byte(fails), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dist/deb.sh", to)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("deb.sh did not fail\n%s", out)
	} else if _, err := os.Stat(filepath.Join(bin, "dpkg-deb.called")); err != nil {
		t.Fatalf("deb.sh failed before it built the package\n%s", out)
	}
	if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}
