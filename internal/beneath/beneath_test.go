package beneath

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tree makes a directory with links of all kinds and one outside of it.
func tree(t *testing.T) int {
	t.Helper()
	dir, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"d/f": "inside", outside + "/f": "outside"} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"near": "d/f", "nearDir": "d", "d/up": "../d/f", "out": outside + "/f", "outDir": outside, "dots": "../" + filepath.Base(outside) + "/f",
		"abs": filepath.Join(dir, "d/f"), "loop": "loop", "nowhere": "d/none", "magic": "/proc/self/root",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

func text(t *testing.T, fd int, err error) string {
	t.Helper()
	if err != nil {
		return ""
	}
	f := os.NewFile(uintptr(fd), "file")
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOpenFollowsNoLink(t *testing.T) {
	root := tree(t)
	for name, open := range map[string]func(int, string, int, uint32) (int, error){"Open": Open, "Walk": Walk} {
		if fd, err := open(root, "d/f", unix.O_RDONLY, 0); text(t, fd, err) != "inside" {
			t.Errorf("%s of a plain file: %v", name, err)
		}
		if _, err := open(root, "d/none", unix.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v", name, err)
		}
		for _, rel := range []string{"near", "nearDir/f", "d/up", "out", "outDir/f", "dots", "abs", "loop", "magic/etc/passwd", "..", "../x", "d/../../x", "/etc/passwd"} {
			if fd, err := open(root, rel, unix.O_RDONLY, 0); err == nil {
				t.Errorf("%s of %s gives %q", name, rel, text(t, fd, err))
			}
		}
	}
}

func TestFollowStaysBeneath(t *testing.T) {
	root := tree(t)
	for _, rel := range []string{"d/f", "near", "nearDir/f", "d/up"} {
		fd, err := Follow(root, rel, unix.O_RDONLY)
		if err == nil {
			if real, err := Real(root, fd); err != nil || real != "d/f" {
				t.Errorf("%s is really %q, %v", rel, real, err)
			}
		}
		if got := text(t, fd, err); got != "inside" {
			t.Errorf("%s: %q, %v", rel, got, err)
		}
	}
	fd, err := Follow(root, "near", unix.O_PATH)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		t.Errorf("O_PATH gives the link itself: mode %o, %v", st.Mode, err)
	}
	if _, err := Follow(root, "nowhere", unix.O_RDONLY); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link to nothing: %v", err)
	}
	for _, rel := range []string{"out", "outDir/f", "dots", "abs", "loop", "magic/etc/passwd", "..", "/etc/passwd"} {
		if fd, err := Follow(root, rel, unix.O_RDONLY); err == nil {
			t.Errorf("%s gives %q", rel, text(t, fd, err))
		}
	}
}

func TestAPathLongerThanTheKernelTakesIsOpened(t *testing.T) {
	root := tree(t)
	name := strings.Repeat("d", 200)
	dir, err := unix.Dup(root)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if err := unix.Mkdirat(dir, name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := At(dir, name, unix.O_PATH|unix.O_DIRECTORY, 0)
		unix.Close(dir)
		if err != nil {
			t.Fatal(err)
		}
		dir = next
	}
	defer unix.Close(dir)
	if err := unix.Symlinkat("file", dir, "link"); err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(name+"/", 30)
	fd, err := Open(root, deep+"file", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	for what, open := range map[string]func(rel string) (int, error){
		"Open":   func(rel string) (int, error) { return Open(root, rel, unix.O_RDONLY, 0) },
		"Follow": func(rel string) (int, error) { return Follow(root, rel, unix.O_RDONLY) },
		"Walk":   func(rel string) (int, error) { return Walk(root, rel, unix.O_RDONLY, 0) },
	} {
		if fd, err := open(deep + "file"); err != nil {
			t.Errorf("%s: %v", what, err)
		} else {
			unix.Close(fd)
		}
		for _, rel := range []string{deep + "link", deep + "none", deep + "file/x", "/" + deep + "file", strings.Repeat("d", 2*unix.PathMax), deep + strings.Repeat("../", 40) + "file"} {
			if fd, err := open(rel); err == nil {
				unix.Close(fd)
				t.Errorf("%s opened ...%s", what, rel[max(0, len(rel)-20):])
			}
		}
	}
}
