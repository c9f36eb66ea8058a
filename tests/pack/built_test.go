package packtest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

var builtFiles = []string{"context/pack.md", "context/pack.json", "context/pack.report.md",
	"context/pack.openai.json", "context/pack.anthropic.json", "context/pack.responses.json", "context/pack.gemini.json", "context/pack.genai.json"}

func TestSizeOfABuiltFileIsWhatIsRead(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	for i := range 30 {
		s.Append("messages.jsonl", harness.Message("user", strings.Repeat(fmt.Sprint("m", i, " "), i*20)))
		for _, name := range builtFiles {
			f, err := os.Open(s.Path(name))
			if err != nil {
				t.Fatal(err)
			}
			by, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(f)
			if err != nil || int64(len(b)) != by.Size() {
				t.Errorf("%s: size %d, %d bytes read, %v", name, by.Size(), len(b), err)
			}
			f.Close()
			if !by.Mode().IsRegular() || by.Mode().Perm()&0o222 != 0 {
				t.Errorf("%s has mode %v", name, by.Mode())
			}
		}
	}
}

func TestAnOldHandleKeepsTheOldBytes(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	old, err := os.Open(s.Path("context/pack.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	before := s.Read("context/pack.md")
	mapped, err := unix.Mmap(int(old.Fd()), 0, len(before), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatalf("mmap: %v", err)
	}
	defer unix.Munmap(mapped)
	for i := range 5 {
		s.Append("messages.jsonl", rec2)
		if after := s.Read("context/pack.md"); after == before {
			t.Errorf("append %d changed nothing", i)
		}
		b, err := io.ReadAll(io.NewSectionReader(old, 0, 1<<20))
		if err != nil || string(b) != before || string(mapped) != before {
			t.Errorf("append %d changed what an old handle reads: %v", i, err)
		}
		if fi, err := old.Stat(); err != nil || fi.Size() != int64(len(before)) {
			t.Errorf("append %d: an old handle has size %v, %v", i, fi, err)
		}
	}
}

func TestAnUnchangedPackIsOneInode(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	stat := func() (st unix.Stat_t) {
		t.Helper()
		if err := unix.Stat(s.Path("context/pack.md"), &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	a := stat()
	s.Read("context/pack.md")
	if b := stat(); a.Ino != b.Ino || a.Mtim != b.Mtim || a.Size != b.Size {
		t.Errorf("nothing changed, but inode %d became %d, mtime %v %v", a.Ino, b.Ino, a.Mtim, b.Mtim)
	}
	s.Append("messages.jsonl", rec2)
	if b := stat(); a.Ino == b.Ino || a.Size == b.Size {
		t.Errorf("after an append: inode %d and %d, size %d and %d", a.Ino, b.Ino, a.Size, b.Size)
	}
}

func TestBuiltFilesAreReadOnly(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	for _, name := range builtFiles {
		before := s.Read(name)
		for _, flags := range []int{unix.O_WRONLY, unix.O_RDWR, unix.O_WRONLY | unix.O_APPEND, unix.O_WRONLY | unix.O_TRUNC, unix.O_WRONLY | unix.O_CREAT} {
			_, err := unix.Open(s.Path(name), flags, 0)
			harness.WantErrno(t, fmt.Sprintf("open %s with %#x", name, flags), err, unix.EACCES)
		}
		harness.WantErrno(t, "truncate "+name, unix.Truncate(s.Path(name), 3), unix.EACCES)
		harness.WantErrno(t, "chmod "+name, unix.Chmod(s.Path(name), 0o666), unix.EACCES)
		temp := filepath.Join(s.AgentHome(), "temp")
		if err := os.WriteFile(temp, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		harness.WantErrno(t, "rename over "+name, unix.Rename(temp, s.Path(name)), unix.EACCES)
		harness.WantErrno(t, "rename of "+name, unix.Rename(s.Path(name), temp), unix.EACCES)
		harness.WantErrno(t, "rm "+name, unix.Unlink(s.Path(name)), 0)
		if after := s.Read(name); after != before {
			t.Errorf("%s is another after rm:\n%s\n%s", name, before, after)
		}
	}
}

func TestLinesGiveRecordsBack(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	long := strings.Repeat("a long line of output\n", 5000)
	records := []string{rec1, rec2, harness.Message("tool", long), `{"role":"user","content":[{"type":"text","text":"part one"},{"type":"text","text":"part two"}]}` + "\n"}
	for i, r := range records {
		s.Append("messages.jsonl", r)
		name := fmt.Sprintf("context/line/%d", i+1)
		if got := s.Read(name); got != r {
			t.Errorf("%s: %.100q, want %.100q", name, got, r)
		}
	}
	for i, want := range []string{"Make the retry configurable.", "I will add RetryMax.", long, "part one\npart two"} {
		name := fmt.Sprintf("context/line/%d.txt", i+1)
		got := s.Read(name)
		if strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("%s: %.100q, want %.100q", name, got, want)
		}
		if fi, err := os.Stat(s.Path(name)); err != nil || fi.Size() != int64(len(got)) {
			t.Errorf("%s: size %v, %d bytes, %v", name, fi, len(got), err)
		}
	}
	for _, name := range []string{"0", "5", "01", "-1", "1.md", "x", ".1", "99999999999999999999", "1-2", ".txt"} {
		_, err := os.Stat(s.Path("context/line/" + name))
		if !os.IsNotExist(err) {
			t.Errorf("line/%s: %v, want ENOENT", name, err)
		}
	}
	_, err := unix.Open(s.Path("context/line/1"), unix.O_WRONLY, 0)
	harness.WantErrno(t, "line/1 for writing", err, unix.EACCES)
	// Each path that a pack cites gives the record back.
	s.Write("context/budget", "2000")
	b := read(t, s)
	if !strings.Contains(b.md, "context/line/3") {
		t.Errorf("the shortened record is not cited:\n%s", b.md)
	}
	b.account(t, len(records))
}

func TestExtendedAttributes(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1+rec2)
	b := read(t, s)
	sha := func(s string) string { return strings.TrimPrefix(ctxabi.ContentID([]byte(s)), "sha256-") }
	for _, c := range []struct{ file, attr, want string }{
		{"context/pack.md", "pack_id", b.PackID},
		{"context/pack.md", "tokens", fmt.Sprint(b.Tokens)},
		{"context/pack.md", "sha256", sha(b.md)},
		{"messages.jsonl", "lines", "2"},
		{"events.jsonl", "lines", "0"},
		{"latest.md", "origin", "derived"},
	} {
		got, err := s.Xattr(c.file, c.attr)
		if err != nil || strings.TrimPrefix(got, "sha256-") != strings.TrimPrefix(c.want, "sha256-") {
			t.Errorf("%s %s: %q, %v; want %q", c.file, c.attr, got, err, c.want)
		}
	}
	if head, err := s.Xattr("messages.jsonl", "head"); err != nil || len(head) != 64 {
		t.Errorf("head of the log: %q, %v", head, err)
	}
	head := func() string { h, _ := s.Xattr("messages.jsonl", "head"); return h }
	before := head()
	s.Append("messages.jsonl", rec1)
	if head() == before {
		t.Error("an append did not move the head")
	}
	_, err := s.Xattr("messages.jsonl", "no_such")
	harness.WantErrno(t, "an unknown attribute", err, unix.ENODATA)
	if err := unix.Setxattr(s.Path("messages.jsonl"), "user.ctx.lines", []byte("9"), 0); err == nil {
		t.Error("user.ctx.lines can be written")
	}
	list := make([]byte, 1024)
	n, err := unix.Listxattr(s.Path("context/pack.md"), list)
	if err != nil || !strings.Contains(string(list[:n]), "user.ctx.pack_id\x00") {
		t.Errorf("listxattr: %q, %v", list[:n], err)
	}
}

func TestRestartGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{Args: []string{"--budget", "3000"}})
	s := m.NewSession(t)
	for i := range 120 {
		s.Append("messages.jsonl", harness.Message([]string{"user", "assistant"}[i%2], strings.Repeat(fmt.Sprint("word", i, " "), 20+i%7*30)))
		if i%11 == 0 {
			s.Read("context/pack.md") // an incremental build goes through other states than one at the end
		}
	}
	before := read(t, s)
	m.Restart()
	after := read(t, s)
	if before.md != after.md || before.PackID != after.PackID || string(before.Epoch) != string(after.Epoch) {
		t.Errorf("restart: %s epoch %s became %s epoch %s", before.PackID, before.Epoch, after.PackID, after.Epoch)
	}
	m.Kill()
	m.Restart()
	if again := read(t, s); again.md != before.md {
		t.Error("another pack after a crash")
	}
	m.Stop()
	if cli := m.CLI(t, "pack", "--store", m.Store, "--budget", "3000", s.Ref()).OK(); cli != before.md {
		t.Error("ctxfs pack without a daemon gives other bytes")
	}
}

// An inode that was looked up does not keep its build in the daemon's memory: opening it finds the build again.
func TestABuildOpensLongAfterItsNameWasLookedUp(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	want, err := os.ReadFile(s.Path("context/pack.md"))
	if err != nil {
		t.Fatal(err)
	}
	held, err := unix.Open(s.Path("context/pack.md"), unix.O_PATH, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(held)
	for i := range 5 { // more than the daemon keeps, so that it lets go of the first
		other := m.Session(t, harness.Self(), "coder", fmt.Sprint("large", i))
		other.Write("context/budget", "0")
		other.Append("messages.jsonl", harness.Message("user", strings.Repeat("1234567890", 1<<20)))
		if _, err := os.Stat(other.Path("context/pack.md")); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", held)); err != nil || string(got) != string(want) {
		t.Errorf("the build looked up first: %q, %v; want %q", got, err, want)
	}
}

// A program that reads pack.md as text, as Python's open does, failed for good once a pin was not.
func TestAPackIsTextWhateverItsFilesHold(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	for _, name := range []string{"context/pinned/rule", "context/summary.md", "context/todo.md"} {
		for _, data := range []string{`\xff\xfer\x00u\x00`, `Gr\xc3`, `a\x00b`} {
			s.Bash("printf '" + data + "' > " + name)
			s.Bash("printf '" + data + "' > new; mv new " + name)
		}
		s.Bash(`{ printf 'Gr\xc3'; printf '\xb6\xc3\x9fe\n'; } > ` + name).OK() // a character in two writes
		if got := s.Read(name); got != "Größe\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
	s.Bash(`printf '\xff\n' > ../../system_prompt.md`).OK()
	for _, name := range builtFiles {
		if got := s.Read(name); !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%s is not text: %q", name, got)
		}
	}
	if got := s.Read("context/pack.report.md"); !strings.Contains(got, "not text") {
		t.Errorf("the report does not say that system_prompt.md is left out:\n%s", got)
	}
	for _, row := range s.Errors() {
		if row.Errno != "EINVAL" || !strings.Contains(row.Reason, "UTF-8") {
			t.Errorf("errors.jsonl: %+v", row)
		}
	}
}
