package posixtest

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// deeper makes n directories, one in another, and goes into each; it returns the last.
func deeper(t *testing.T, dir int, name string, n int) int {
	t.Helper()
	for i := range n {
		if err := unix.Mkdirat(dir, name, 0o700); err != nil {
			t.Fatalf("mkdir %d deep: %v", i+1, err)
		}
		next, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatalf("open %d deep: %v", i+1, err)
		}
		unix.Close(dir)
		dir = next
	}
	return dir
}

// Descriptors of directories and cd lead to places that have no path which the kernel takes.
func TestADirectoryDeeperThanAPathIsLongTakesEverything(t *testing.T) {
	store := harness.TempDir(t) + strings.Repeat("/"+strings.Repeat("s", 200), 8)
	m := harness.Start(t, harness.Options{Store: store})
	home := m.Session(t, harness.Self(), "coder", "s1").AgentHome()
	for _, depth := range []int{18, 50} { // 3,600 bytes, which is a path still, and 10,000
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			top, err := unix.Open(home, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(top)
			from, err := unix.Dup(top)
			if err != nil {
				t.Fatal(err)
			}
			dir := deeper(t, from, strings.Repeat(fmt.Sprint(depth%10), 200), depth)
			f := os.NewFile(uintptr(dir), "deep")
			defer f.Close()
			everything(t, top, f)
		})
	}
}

// everything does what can be done in a directory of the home top.
func everything(t *testing.T, top int, f *os.File) {
	dir := int(f.Fd())
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	open := func(name string, flags int) *os.File {
		t.Helper()
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0o600)
		if err != nil {
			t.Fatalf("open %s: %v", name, err)
		}
		return os.NewFile(uintptr(fd), name)
	}
	a := open("a", unix.O_CREAT|unix.O_EXCL|unix.O_RDWR)
	_, err := a.WriteString("text")
	must("write", err)
	must("fsetxattr", unix.Fsetxattr(int(a.Fd()), "user.k", []byte("v"), 0))
	value := make([]byte, 8)
	n, err := unix.Fgetxattr(int(a.Fd()), "user.k", value)
	if must("fgetxattr", err); err == nil && string(value[:n]) != "v" {
		t.Errorf("the attribute is %q", value[:n])
	}
	must("fremovexattr", unix.Fremovexattr(int(a.Fd()), "user.k"))
	must("ftruncate", a.Truncate(3))
	must("close", a.Close())
	must("rename", unix.Renameat(dir, "a", dir, "b"))
	must("link", unix.Linkat(dir, "b", dir, "c", 0))
	must("symlink", unix.Symlinkat("c", dir, "d"))
	target := make([]byte, 8)
	n, err = unix.Readlinkat(dir, "d", target)
	if must("readlink", err); err == nil && string(target[:n]) != "c" {
		t.Errorf("the link leads to %q", target[:n])
	}
	d := open("d", unix.O_RDONLY)
	if got, err := io.ReadAll(d); err != nil || string(got) != "tex" {
		t.Errorf("read through the link: %q, %v", got, err)
	}
	d.Close()
	must("chmod", unix.Fchmodat(dir, "c", 0o640, 0))
	must("utimes", unix.UtimesNanoAt(dir, "c", []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0))
	var st unix.Stat_t
	must("stat", unix.Fstatat(dir, "c", &st, 0))
	if st.Mode&0o777 != 0o640 || st.Mtim.Sec != 1 || st.Size != 3 || st.Nlink != 2 {
		t.Errorf("stat gives mode %o, time %d, size %d, %d names", st.Mode, st.Mtim.Sec, st.Size, st.Nlink)
	}
	must("mkdir", unix.Mkdirat(dir, "e", 0o700))
	must("rename into it", unix.Renameat(dir, "b", dir, "e/b"))
	must("rename out of the depth", unix.Renameat(dir, "e/b", top, "up"))
	must("and back", unix.Renameat(top, "up", dir, "b"))
	must("rmdir", unix.Unlinkat(dir, "e", unix.AT_REMOVEDIR))
	must("fsync of the directory", f.Sync())
	names, err := f.Readdirnames(-1)
	if must("readdir", err); len(names) != 3 {
		t.Errorf("it holds %q", names)
	}
	for _, name := range names {
		must("unlink "+name, unix.Unlinkat(dir, name, 0))
	}
}
