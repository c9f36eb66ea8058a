package mountpoint

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// place makes a directory for a mount, with files of a session by name, and one for its store.
func place(t *testing.T, files ...string) (store, dir string) {
	t.Helper()
	base := t.TempDir()
	store, dir = filepath.Join(base, "store"), filepath.Join(base, "ctx")
	for _, d := range []string{store, dir} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, dir, files...)
	return store, dir
}

func fill(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, f := range files {
		name := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("{}\n"), 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

const strayLog = "home/1000/agent/a/session/s/messages.jsonl"

func TestForeignNamesWhatNoMountShows(t *testing.T) {
	for file, want := range map[string]string{
		strayLog:                   "",
		"shared/team/agent/a/x.md": "",
		"home/1000/project/p/x":    "",
		"notes.txt":                "notes.txt",
		"Documents/x":              "Documents",
		"home/alice/x":             "home/alice",
		"home/1000/Documents/x":    "home/1000/Documents",
		"shared/.x/y":              "shared/.x",
	} {
		_, dir := place(t, file)
		if got, err := Foreign(dir); got != want || err != nil {
			t.Errorf("with %s: %q, %v, want %q", file, got, err, want)
		}
	}
}

func TestStraysAreMovedAcrossDisks(t *testing.T) {
	for _, other := range []bool{false, true} {
		store, dir := place(t)
		if other {
			if os.Getuid() != 0 {
				t.Skip("mounting needs root")
			}
			if err := unix.Mount("disk", dir, "tmpfs", 0, ""); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
		}
		fill(t, dir, strayLog, "home/1000/agent/a/notes.md")
		if err := os.MkdirAll(filepath.Join(dir, "home/1001/agent"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc", filepath.Join(dir, "home/1000/agent/link")); err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(dir, strayLog)
		if os.Getuid() == 0 {
			if err := os.Chown(log, 1000, 1001); err != nil {
				t.Fatal(err)
			}
		}
		b, err := openBare(store, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		to, err := b.Collect()
		if err != nil || filepath.Dir(to) != filepath.Join(store, "stray") {
			t.Fatal(to, err)
		}
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(to, strayLog), &st); err != nil || st.Mode&0o777 != 0o640 || st.Size != 3 || os.Getuid() == 0 && (st.Uid != 1000 || st.Gid != 1001) {
			t.Errorf("another disk: %t: the log is %+v, %v", other, st, err)
		}
		if target, err := os.Readlink(filepath.Join(to, "home/1000/agent/link")); target != "/etc" {
			t.Errorf("another disk: %t: the link leads to %q, %v", other, target, err)
		}
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("another disk: %t: there is still %v, %v", other, left, err)
		}
		if _, err := os.Stat(filepath.Join(to, "home/1001")); err == nil {
			t.Error("a directory without a file is kept")
		}
		found := Strays(to)
		if len(found) != 1 || found[0].Session != filepath.Dir(strayLog) || found[0].Records != 1 {
			t.Errorf("the strays are %+v", found)
		}
		if to, err := b.Collect(); to != "" || err != nil {
			t.Errorf("of nothing: %q, %v", to, err)
		}
	}
}

func TestLiftRestoresTheDirectory(t *testing.T) {
	for _, mode := range []os.FileMode{0o755, 0o700, 0o775 | os.ModeSetgid} {
		store, dir := place(t)
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		for range 2 { // a daemon, and one after a crash
			b, err := openBare(store, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Protect(); err != nil {
				t.Fatal(err)
			}
			b.Close()
			if err := os.Mkdir(filepath.Join(dir, "home"), 0o755); err == nil {
				if os.Remove(filepath.Join(dir, "home")); os.Getuid() != 0 {
					t.Errorf("mode %v: it can be written to", mode)
				} else if IsImmutable(dir) {
					t.Errorf("mode %v: it is immutable and can be written to", mode)
				}
			}
		}
		if Protected(store) != dir {
			t.Errorf("the note names %q", Protected(store))
		}
		if lifted, err := Lift(store, filepath.Dir(dir)); lifted || err != nil {
			t.Errorf("another directory: %t, %v", lifted, err)
		}
		if lifted, err := Lift(store, dir); !lifted || err != nil {
			t.Errorf("mode %v: lifted %t, %v", mode, lifted, err)
		}
		if fi, err := os.Stat(dir); err != nil || fi.Mode()&^os.ModeDir != mode {
			t.Errorf("mode %v is %v, %v", mode, fi.Mode(), err)
		}
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
		if entries, _ := os.ReadDir(store); len(entries) > 0 {
			t.Errorf("the store has %v", entries)
		}
	}
}
