package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/mounts"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// What users see on two hosts: a test for each row of the table in docs/cluster.md.
func TestWhatUsersSeeOnTwoHosts(t *testing.T) {
	suite.Matrix(t, slow)
	hosts := mounts.Start(t, servers.Start(t), "a", "b")
	for i, one := range []struct {
		name string
		test func(t *testing.T, p pair)
	}{
		{"records of any host are whole and in one order", appendsOnBoth},
		{"a write at an offset is one at the end of the journal", writesAtAnOffset},
		{"bytes without a newline are of their host and handle", halfRecords},
		{"reads are of a prefix and have what was acknowledged here", readsGoForward},
		{"the last write of a setting counts and names what it replaced", lastWriteCounts},
		{"a setting that is not as it was expected is not written", expectations},
		{"what is added to a note on two hosts stands there", notesOfBoth},
		{"an ordinary file is the last that was closed, and the other one stays beside it", ordinaryFiles},
		{"names are made, changed and removed once", namesAreExclusive},
	} {
		t.Run(one.name, func(t *testing.T) {
			p := pair{a: hosts[0].Session(t, harness.Self(), "coder", fmt.Sprint("s", i))}
			p.b, p.hosts = hosts[1].Await(t, p.a), hosts
			one.test(t, p)
		})
	}
}

// pair is a session as two hosts show it.
type pair struct {
	a, b  *harness.Session
	hosts []*mounts.Host
}

func (p pair) both() []*harness.Session { return []*harness.Session{p.a, p.b} }

// agree waits until a file is the same on both hosts and has all of want, and returns it.
func (p pair) agree(t *testing.T, name string, want ...string) (text string) {
	t.Helper()
	harness.Eventually(t, "equal "+name, func() bool {
		text = p.a.Read(name)
		if p.b.Read(name) != text {
			return false
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	})
	return text
}

func record(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`+"\n", text) }

// tryAppend appends a record with one write and returns the error.
func tryAppend(s *harness.Session, text string) error {
	f, err := os.OpenFile(s.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(record(text))
	return errors.Join(err, f.Close())
}

func appendsOnBoth(t *testing.T, p pair) {
	const each = 15
	var all sync.WaitGroup
	for i, s := range p.both() {
		for w := range 2 {
			all.Go(func() {
				for n := range each {
					if err := tryAppend(s, fmt.Sprint(i, w, n)); err != nil {
						t.Errorf("%d %d %d: %v", i, w, n, err)
					}
				}
			})
		}
	}
	all.Wait()
	if t.Failed() {
		return
	}
	lines := harness.Lines(t, p.agree(t, "messages.jsonl", record(fmt.Sprint(1, 1, each-1)), record(fmt.Sprint(0, 0, each-1)),
		record(fmt.Sprint(0, 1, each-1)), record(fmt.Sprint(1, 0, each-1))))
	seen, next := map[string]bool{}, map[string]int{}
	for _, line := range lines {
		if seen[line] {
			t.Errorf("%q stands there twice", line)
		}
		seen[line] = true
		var i, w, n int
		if _, err := fmt.Sscanf(line, `{"role":"user","content":"%d %d %d"}`, &i, &w, &n); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		who := fmt.Sprint(i, w)
		if n != next[who] {
			t.Errorf("record %d of writer %s stands where %d should", n, who, next[who])
		}
		next[who]++
	}
	if len(lines) != 4*each {
		t.Errorf("%d records, want %d", len(lines), 4*each)
	}
}

func writesAtAnOffset(t *testing.T, p pair) {
	log := p.b.Path("messages.jsonl")
	write := func(text string, off int64) error {
		f, err := os.OpenFile(log, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte(record(text)), off)
		return errors.Join(err, f.Close())
	}
	p.a.Append("messages.jsonl", record("one"))
	p.agree(t, "messages.jsonl", "one")
	end := int64(len(record("one")))
	p.a.Append("messages.jsonl", record("two")) // whether or not b shows it, the journal does not end there any more
	for _, off := range []int64{0, end} {
		if err := write("not there", off); !errors.Is(err, syscall.EPERM) {
			t.Errorf("a write at byte %d of a log that goes on: %v", off, err)
		}
	}
	p.agree(t, "messages.jsonl", "two")
	if err := write("three", end+int64(len(record("two")))); err != nil {
		t.Errorf("a write at the end: %v", err)
	}
	if text := p.agree(t, "messages.jsonl", "three"); text != record("one")+record("two")+record("three") {
		t.Errorf("the log is %q", text)
	}
}

func halfRecords(t *testing.T, p pair) {
	f, err := os.OpenFile(p.a.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	half := record("of a")
	if _, err := f.WriteString(half[:10]); err != nil {
		t.Fatal(err)
	}
	p.b.Append("messages.jsonl", record("of b"))
	if text := p.agree(t, "messages.jsonl", "of b"); text != record("of b") {
		t.Errorf("the log is %q", text)
	}
	if _, err := f.WriteString(half[10:]); err != nil {
		t.Fatal(err)
	}
	if text := p.agree(t, "messages.jsonl", "of a"); text != record("of b")+half {
		t.Errorf("the log is %q", text)
	}
}

func readsGoForward(t *testing.T, p pair) {
	var all sync.WaitGroup
	reads := make([][]byte, 2) // the last of each host
	for i, s := range p.both() {
		all.Go(func() {
			for n := range 15 {
				text := fmt.Sprint("host ", i, " record ", n)
				if err := tryAppend(s, text); err != nil {
					t.Error(err)
					return
				}
				now, err := os.ReadFile(s.Path("messages.jsonl"))
				switch {
				case err != nil:
					t.Error(err)
				case !bytes.HasPrefix(now, reads[i]):
					t.Errorf("host %d has %q, and had %q", i, now, reads[i])
				case !bytes.Contains(now, []byte(record(text))):
					t.Errorf("host %d lacks %q, which it acknowledged", i, text)
				case now[len(now)-1] != '\n':
					t.Errorf("host %d shows a part of a record: %q", i, now)
				}
				reads[i] = now
			}
		})
	}
	all.Wait()
	whole := p.agree(t, "messages.jsonl", "host 0 record 14", "host 1 record 14")
	for i, read := range reads {
		if !strings.HasPrefix(whole, string(read)) {
			t.Errorf("what host %d showed is no beginning of the log", i)
		}
	}
}

func namesAreExclusive(t *testing.T, p pair) {
	other := func(s *harness.Session, name string) string { return filepath.Join(filepath.Dir(s.Dir), name) }
	for round := range 5 {
		name := fmt.Sprint("race-", round)
		errs := make([]error, 2)
		var all sync.WaitGroup
		for i, s := range p.both() {
			all.Go(func() { errs[i] = os.Mkdir(other(s, name), 0o700) })
		}
		all.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), syscall.EEXIST) {
			t.Errorf("two hosts make %s: %v, %v", name, errs[0], errs[1])
		}
	}
	seen := func(path string, want bool) {
		t.Helper()
		harness.Eventually(t, path, func() bool {
			_, err := os.Stat(path)
			return (err == nil) == want
		})
	}
	p.a.Append("messages.jsonl", record("before"))
	p.agree(t, "messages.jsonl", "before")
	open, err := os.OpenFile(p.b.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := os.Rename(p.a.Dir, other(p.a, "renamed")); err != nil {
		t.Fatal(err)
	}
	seen(other(p.b, "renamed"), true)
	seen(p.b.Dir, false)
	if _, err := open.WriteString(record("behind")); err != nil {
		t.Errorf("an append of who has it open on the other host: %v", err)
	}
	harness.Eventually(t, "the record behind the rename", func() bool {
		text, err := os.ReadFile(filepath.Join(other(p.a, "renamed"), "messages.jsonl"))
		return err == nil && string(text) == record("before")+record("behind")
	})
	if err := unix.Setxattr(other(p.a, "renamed"), "user.ctx.remove", []byte("renamed"), 0); err != nil {
		t.Fatal(err)
	}
	seen(other(p.b, "renamed"), false)
	if _, err := open.WriteString(record("too late")); !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ESTALE) {
		t.Errorf("an append to what was removed on the other host: %v", err)
	}
	if err := os.Rename(other(p.b, "race-0"), other(p.b, "race-1")); !errors.Is(err, syscall.EEXIST) && !errors.Is(err, syscall.ENOTEMPTY) {
		t.Errorf("a name that is taken: %v", err)
	}
}

func ordinaryFiles(t *testing.T, p pair) {
	a, b := filepath.Join(p.a.AgentHome(), "memory"), filepath.Join(p.b.AgentHome(), "memory")
	read := func(dir string) string { text, _ := os.ReadFile(filepath.Join(dir, "notes.md")); return string(text) }
	write := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "notes.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(a, 0o700); err != nil {
		t.Fatal(err)
	}
	write(a, "of a\n")
	harness.Eventually(t, "the file on b", func() bool { return read(b) == "of a\n" })
	write(b, "of b\n")
	harness.Eventually(t, "the file on a", func() bool { return read(a) == "of b\n" })
	// Both change what they have seen: the one that is closed last keeps its own beside the other.
	open := map[string]*os.File{}
	for _, dir := range []string{a, b} {
		f, err := os.OpenFile(filepath.Join(dir, "notes.md"), os.O_RDWR|os.O_TRUNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		open[dir] = f
	}
	for _, one := range []struct{ dir, text string }{{a, "first\n"}, {b, "second\n"}} {
		if _, err := open[one.dir].WriteString(one.text); err != nil {
			t.Fatal(err)
		}
		if err := open[one.dir].Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{a, b} {
		harness.Eventually(t, "both contents in "+dir, func() bool {
			beside, _ := filepath.Glob(filepath.Join(dir, "notes.md.ctxfs-conflict-*"))
			if len(beside) != 1 {
				return false
			}
			text, err := os.ReadFile(beside[0])
			return err == nil && string(text) == "second\n" && read(dir) == "first\n"
		})
	}
}
