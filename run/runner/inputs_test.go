package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func fingerprint(t *testing.T, c *Client, dir string, globs ...string) string {
	t.Helper()
	uid := uint32(os.Getuid())
	f, stale, reason := c.Inputs(t.Context(), uid, uid, dir, globs, long)
	if stale || reason != "" || len(f) != 64 {
		t.Fatalf("%v in %s: %q, stale %v, reason %q", globs, dir, f, stale, reason)
	}
	return f
}

func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), name)
	}
	return dir
}

func TestInputsMatchAsGlobsSay(t *testing.T) {
	dir := tree(t, "a.go", "b.txt", "src/a.go", "src/.hidden.go", "src/x/a.go", "src/x/y/b.go", "src/x/y/c.md", ".git/HEAD", "lib/a.go", "odd/[x].go", "odd/x.go")
	for _, err := range []error{os.Symlink("src", filepath.Join(dir, "link")), os.Symlink("../a.go", filepath.Join(dir, "lib/link.go")), os.Symlink("nowhere", filepath.Join(dir, "lib/gone.go"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for glob, want := range map[string]string{
		"*.go": "a.go", "src/*.go": "src/.hidden.go src/a.go", "src/**/*.go": "src/.hidden.go src/a.go src/x/a.go src/x/y/b.go",
		"**/*.md": "src/x/y/c.md", "src/*/a.go": "src/x/a.go", "b.txt": "b.txt", "nowhere": "", "nowhere/**": "", "**": "*",
		"src": "src/.hidden.go src/a.go src/x/a.go src/x/y/b.go src/x/y/c.md", "src/x/y/": "src/x/y/b.go src/x/y/c.md", "src/x*": "",
		"{a.go,src/x/*.go}": "a.go src/x/a.go", "src/{x,z}/**": "src/x/a.go src/x/y/b.go src/x/y/c.md", "lib/*.go": "lib/a.go lib/gone.go lib/link.go",
		"link/*.go": "link/.hidden.go link/a.go", "*/HEAD": ".git/HEAD", "./src/../b.txt": "b.txt", `odd/\[x\].go`: "odd/[x].go", "odd/[x].go": "odd/x.go",
		filepath.Join(dir, "src/a.go"): "src/a.go",
	} {
		s := search{seen: make(map[string]bool)}
		if err := s.find(dir, glob); err != nil {
			t.Errorf("%s: %v", glob, err)
		}
		var got []string
		for _, row := range s.rows {
			name, _, _ := strings.Cut(row, "\x00")
			rel, _ := filepath.Rel(dir, name)
			got = append(got, rel)
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want && (want != "*" || len(got) != 13) {
			t.Errorf("%s: %q, want %q", glob, text, want)
		}
	}
	if s := (search{seen: make(map[string]bool)}); s.find(filepath.Join(dir, "src"), "../b.txt") != nil || len(s.rows) != 1 {
		t.Errorf("beside the directory: %q", s.rows)
	}
}

// rewrite writes a file until its times tell: a filesystem counts time in steps, and two changes may come within one.
func rewrite(name, text string) error {
	times := func() (id identity) {
		var st unix.Stat_t
		unix.Stat(name, &st)
		return identity{Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}
	}
	for before := times(); times() == before; {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func TestFingerprintChangesWithTheInputsAlone(t *testing.T) {
	c, dir := start(t), tree(t, "src/a.go", "src/x/b.go", "README.md")
	globs := []string{"src/**/*.go", "src/*.go"}
	at := func(name string) string { return filepath.Join(dir, name) }
	last := fingerprint(t, c, dir, globs...)
	for _, step := range []struct {
		name    string
		changes bool
		do      func() error
	}{
		{"nothing", false, func() error { return nil }},
		{"a file beside", false, func() error { return os.WriteFile(at("README.md"), []byte("new"), 0o644) }},
		{"a file that does not match", false, func() error { return os.WriteFile(at("src/x/c.md"), nil, 0o644) }},
		{"an edit", true, func() error { return os.WriteFile(at("src/x/b.go"), []byte("longer than before"), 0o644) }},
		{"an edit of the same length", true, func() error { return rewrite(at("src/x/b.go"), "lonGer than before") }},
		{"a new file", true, func() error { return os.WriteFile(at("src/x/c.go"), nil, 0o644) }},
		{"a rename", true, func() error { return os.Rename(at("src/x/c.go"), at("src/c.go")) }},
		{"a removal", true, func() error { return os.Remove(at("src/a.go")) }},
		{"a symlink", true, func() error { return os.Symlink("../README.md", at("src/r.go")) }},
		{"an edit behind it", true, func() error { return os.WriteFile(at("README.md"), []byte("newer!"), 0o644) }},
		{"nothing again", false, func() error { return nil }},
		{"a touch", false, func() error { return os.Chtimes(at("src/x/b.go"), time.Time{}, time.Now().Add(time.Hour)) }},
		{"the same bytes again", false, func() error { return os.WriteFile(at("src/x/b.go"), []byte("lonGer than before"), 0o644) }},
		{"a file of the same bytes in its place", false, func() error {
			return errors.Join(os.WriteFile(at("src/x/new"), []byte("lonGer than before"), 0o644), os.Rename(at("src/x/new"), at("src/x/b.go")))
		}},
		{"other bytes after it settled", true, func() error {
			old := time.Now().Add(-time.Hour)
			return errors.Join(os.WriteFile(at("src/x/b.go"), []byte("lonGer than BEFORE"), 0o644), os.Chtimes(at("src/x/b.go"), old, old))
		}},
		{"a large file", true, func() error { return os.WriteFile(at("src/x/large.go"), make([]byte, maxHashed+1), 0o644) }},
		{"a touch of a large file", true, func() error { return os.Chtimes(at("src/x/large.go"), time.Time{}, time.Now().Add(time.Hour)) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		now := fingerprint(t, c, dir, globs...)
		if (now != last) != step.changes {
			t.Errorf("%s: changed %v", step.name, now != last)
		}
		last = now
	}
	if fingerprint(t, c, dir) != fingerprint(t, c, "/etc") {
		t.Error("no globs differ from no globs")
	}
}

func TestInputsThatCannotBeKnown(t *testing.T) {
	c, dir := start(t), tree(t, "f", "open/f")
	uid := uint32(os.Getuid())
	for want, x := range map[string][2]string{
		"no such directory":    {"/nowhere", "*"},
		"not a directory":      {filepath.Join(dir, "f"), "*"},
		"not an absolute path": {"x", "*"},
		"not a pattern: a[":    {dir, "a["},
		"not a pattern: {a,b":  {dir, "{a,b"},
		"file name too long":   {dir, strings.Repeat("x", 300) + "/*"},
	} {
		if f, stale, reason := c.Inputs(t.Context(), uid, uid, x[0], x[1:], long); reason != want || stale || f != "" {
			t.Errorf("%q: %q, %v, %q, want %q", x, f, stale, reason, want)
		}
	}
	if _, _, reason := c.Inputs(t.Context(), uid, uid, dir, []string{strings.Repeat("x", maxText)}, long); reason != "too many patterns" {
		t.Errorf("%q", reason)
	}
	if os.Getuid() != 0 {
		t.Skip("only root has files that another user may not see")
	}
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	of := func(glob string) (string, string) {
		f, _, reason := c.Inputs(t.Context(), uint32(other), uint32(other), dir, []string{glob}, long)
		return f, reason
	}
	before, _ := of("**")
	if err := os.Chmod(filepath.Join(dir, "open"), 0o700); err != nil {
		t.Fatal(err)
	}
	if after, reason := of("**"); reason != "" || after == before {
		t.Errorf("a directory below that is closed: %q, %q", after, reason)
	}
	if _, reason := of("open/*"); reason != "permission denied" {
		t.Errorf("a directory that is closed: %q", reason)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, reason := of("*"); reason != "permission denied" {
		t.Errorf("closed itself: %q", reason)
	}
}

func TestSearchForInputsIsBounded(t *testing.T) {
	dir := tree(t, "a/f", "a/g", "b")
	s := search{seen: make(map[string]bool), entries: maxInputs - 3}
	if err := s.find(dir, "*"); err != nil {
		t.Error(err)
	}
	if err := s.find(dir, "**/f"); err == nil || err.Error() != tooManyInputs {
		t.Errorf("%v", err)
	}
	if want := fmt.Sprintf("more than %d files", maxInputs); !strings.HasPrefix(tooManyInputs, want) {
		t.Errorf("%q does not say %d", tooManyInputs, maxInputs)
	}
}

func TestDeepInputs(t *testing.T) {
	c, deep := start(t), strings.Repeat("d/", 200)
	dir := tree(t, deep+"f")
	before := fingerprint(t, c, dir, "**/f")
	write(t, filepath.Join(dir, deep, "f"), "changed")
	if fingerprint(t, c, dir, "**/f") == before {
		t.Error("the change is not seen")
	}
}

func TestSlowInputsAreStaleThenFresh(t *testing.T) {
	c, dir := start(t), tree(t, "a.go")
	uid := uint32(os.Getuid())
	before := fingerprint(t, c, dir, "*.go")
	pid := onlyReader(t, c)
	stop(t, pid)
	write(t, filepath.Join(dir, "b.go"), "b")
	if f, stale, reason := c.Inputs(t.Context(), uid, uid, dir, []string{"*.go"}, short); f != before || !stale || reason != "" {
		t.Errorf("while it hangs: %q, %v, %q", f, stale, reason)
	}
	if f, stale, reason := c.Inputs(t.Context(), uid, uid, dir, []string{"*.md"}, short); f != "" || !stale || reason != reasonLate {
		t.Errorf("never asked before: %q, %v, %q", f, stale, reason)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, "the new file is seen", func() bool { // as in TestSlowReadIsStaleThenFresh
		f, stale, _ := c.Inputs(t.Context(), uid, uid, dir, []string{"*.go"}, long)
		return !stale && f != before
	})
}

// A pipe among the inputs is looked at, not opened.
func TestInputsDoNotOpenWhatMatches(t *testing.T) {
	c, dir := start(t), tree(t, "a")
	before := fingerprint(t, c, dir, "*")
	if err := errors.Join(unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644), os.Symlink("loop", filepath.Join(dir, "loop"))); err != nil {
		t.Fatal(err)
	}
	if fingerprint(t, c, dir, "*") == before {
		t.Error("they are not seen")
	}
}

func BenchmarkInputs(b *testing.B) {
	c, err := Start(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	dir := b.TempDir()
	for i := range 1000 {
		d := filepath.Join(dir, "src", strconv.Itoa(i%50))
		if err := errors.Join(os.MkdirAll(d, 0o755), os.WriteFile(filepath.Join(d, strconv.Itoa(i)+".go"), nil, 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	uid := uint32(os.Getuid())
	for b.Loop() {
		if _, stale, reason := c.Inputs(b.Context(), uid, uid, dir, []string{"src/**/*.go"}, long); stale || reason != "" {
			b.Fatal(stale, reason)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	c, err := Start(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	uid := uint32(os.Getuid())
	cmd, _ := marked("/", "")
	cmd.Args = []string{"true"}
	for b.Loop() {
		if o, err := c.Run(b.Context(), uid, uid, cmd); err != nil || o.Failed != "" {
			b.Fatal(o, err)
		}
	}
}
