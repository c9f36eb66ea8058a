package clients

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// long makes a log of n records.
func long(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(harness.Message("user", fmt.Sprintf("message %d of the log – ü %s", i, strings.Repeat("x", i%700))))
	}
	return b.String()
}

func TestProgramsReadALog(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	want := long(3000)
	s.Append("messages.jsonl", want)
	sum := sha256.Sum256([]byte(want))
	for _, c := range []struct{ need, script, want string }{
		{"cat", "cat messages.jsonl | sha256sum", hex.EncodeToString(sum[:]) + "  -\n"},
		{"sha256sum", "sha256sum messages.jsonl", hex.EncodeToString(sum[:]) + "  messages.jsonl\n"},
		{"wc", "wc -lc < messages.jsonl | tr -s ' ' ,", fmt.Sprintf(",3000,%d\n", len(want))},
		{"head", "head -c 100 messages.jsonl", want[:100]},
		{"tail", "tail -c 100 messages.jsonl", want[len(want)-100:]},
		{"tail", "tail -n 1 messages.jsonl", want[strings.LastIndex(want[:len(want)-1], "\n")+1:]},
		{"grep", "grep -c 'message 1[0-9] of' messages.jsonl", "10\n"},
		{"jq", "jq -r 'select(.role==\"user\").content' messages.jsonl | grep -c '^message'", "3000\n"},
		{"sed", "sed -n 2p messages.jsonl", strings.SplitAfterN(want, "\n", 3)[1]},
		{"dd", "dd if=messages.jsonl bs=777 skip=3 count=1 status=none", want[3*777 : 4*777]},
		{"python3", `python3 -c 'import json; print(sum(1 for l in open("messages.jsonl") if json.loads(l)))'`, "3000\n"},
		{"python3", `python3 -c 'import mmap; f=open("messages.jsonl","rb"); m=mmap.mmap(f.fileno(),0,flags=mmap.MAP_PRIVATE,prot=mmap.PROT_READ); print(m[:].count(b"\n"))'`, "3000\n"},
		{"node", `node -e 'console.log(require("fs").readFileSync("messages.jsonl","utf8").split("\n").length)'`, "3001\n"},
		{"node", `node -e 'let n=0; require("fs").createReadStream("messages.jsonl").on("data",(d)=>n+=d.length).on("end",()=>console.log(n))'`, fmt.Sprintln(len(want))},
		{"cp", "cp messages.jsonl ../../copy && cmp messages.jsonl ../../copy && stat -c %s ../../copy", fmt.Sprintln(len(want))},
		{"cp", "cp -a messages.jsonl ../../copy-a && cmp messages.jsonl ../../copy-a && stat -c %y messages.jsonl ../../copy-a | uniq | wc -l", "1\n"},
		{"rsync", "rsync -a messages.jsonl ../../synced && cmp messages.jsonl ../../synced && rsync -ai messages.jsonl ../../synced", ""},
		{"tar", "tar cf - messages.jsonl | tar xOf - | cmp - messages.jsonl", ""},
		{"gzip", "gzip -c messages.jsonl | gunzip | cmp - messages.jsonl", ""},
		{"git", "git hash-object messages.jsonl >../../h1; cat messages.jsonl | git hash-object --stdin | cmp - ../../h1", ""},
		{"vim", "vim -es -u NONE -i NONE -n -R -c 'echo line(\"$\")' -c 'redir! > /dev/stdout' -c 'silent! echo line(\"$\")' -c 'redir END' -c q! messages.jsonl </dev/null 2>&1 | tr -dc 0-9 | tail -c 4", "3000"},
	} {
		t.Run(c.script[:min(30, len(c.script))], func(t *testing.T) {
			harness.Need(t, c.need)
			r := s.Bash("set -o pipefail; " + c.script)
			if r.Stdout != c.want || r.Code != 0 {
				t.Errorf("%s\nprinted %q, want %q\nstatus %d, stderr: %s", c.script, r.Stdout, c.want, r.Code, r.Stderr)
			}
		})
	}
	if got := s.Read("messages.jsonl"); got != want {
		t.Error("reading changed the log")
	}
}

// A session's directory can be walked and copied whole, by programs that know nothing of it.
func TestTreesAreCopiedWhole(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", long(200))
	s.Append("events.jsonl", `{"type":"usage","tokens":1}`+"\n")
	s.Write("context/pinned/rule.md", "A rule.\n")
	s.Write("context/todo.md", "- [ ] write\n")
	s.Write("context/summary.md", "So far.\n")
	s.Write("context/facts.jsonl", `{"id":"f","text":"a fact","source":"messages:3"}`+"\n")
	s.Write("../../system_prompt.md", "You are careful.\n")
	for _, c := range []struct{ need, copies string }{{"cp", "cp -a"}, {"rsync", "rsync -a"}, {"cp", "cp -r"}} {
		harness.Need(t, c.need)
		out := t.TempDir()
		m.Run(t, harness.Client{UID: s.UID, Dir: "/", Argv: []string{"bash", "-c", c.copies + " " + s.AgentHome() + " " + out + "/"}}).OK()
		copied := filepath.Join(out, "coder", "session", s.Name)
		for _, name := range []string{"messages.jsonl", "events.jsonl", "latest.md", "state", "cwd", "meta.json", "context/budget", "context/gc.policy",
			"context/pack.md", "context/pack.json", "context/journal.jsonl", "context/pinned/rule.md", "context/todo.md", "context/summary.md", "context/facts.jsonl", "../../system_prompt.md"} {
			got, err := os.ReadFile(filepath.Join(copied, name))
			if err != nil {
				t.Errorf("%s: %v", c.copies, err)
			} else if want := s.Read(name); string(got) != want {
				t.Errorf("%s: %s has %d bytes, want %d", c.copies, name, len(got), len(want))
			}
		}
	}
	for _, walk := range []string{"find . -type f | xargs stat -c '%n %s' > /dev/null", "grep -rl 'message 17 of' .", "ls -laR . > /dev/null", "du -s . > /dev/null"} {
		if r := s.Bash(walk); r.Code != 0 {
			t.Errorf("%s: %+v", walk, r)
		}
	}
	// What is listed is there, with a true size.
	err := filepath.WalkDir(s.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fi, err := os.Stat(path)
		if err == nil && fi.Size() != int64(len(b)) {
			t.Errorf("%s: size %d, %d bytes read", path, fi.Size(), len(b))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTailFollowsALog(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", rec1)
	next := s.Follow("messages.jsonl")
	if got := next(); got != rec1 {
		t.Fatalf("tail -f printed %q; want %q", got, rec1)
	}
	f, err := os.OpenFile(s.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 10 {
		rec := harness.Message("user", fmt.Sprint("new ", i))
		f.WriteString(rec[:10]) // half a record must not come out
		f.WriteString(rec[10:])
		if got := next(); got != rec {
			t.Fatalf("tail -f printed %q; want %q", got, rec)
		}
	}
}

func TestGitHashesThePackThatIsRead(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	harness.Need(t, "git")
	s := m.NewSession(t)
	s.Append("messages.jsonl", long(50))
	got := s.Bash("git hash-object context/pack.md").OK()
	if want := s.Bash("cat context/pack.md | git hash-object --stdin").OK(); got != want {
		t.Errorf("git hash-object of the file %s, of its bytes %s", got, want)
	}
	if empty := "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"; got == empty {
		t.Error("git took the pack for empty")
	}
}

// Many readers open, stat, map and read the pack while it changes: each sees one whole pack.
func TestConcurrentReadersOfAChangingPack(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append("messages.jsonl", long(20))
	done := make(chan struct{})
	var wg sync.WaitGroup
	for r := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				if n, err := readWhole(s.Path("context/pack.md"), r%2 == 0); err != nil || n == 0 {
					t.Errorf("reader %d, read %d: %d bytes, %v", r, i, n, err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 60 {
		s.Append("messages.jsonl", harness.Message("user", fmt.Sprintf("another %d %s", i, strings.Repeat("y", i*50))))
		if i%5 == 0 {
			s.Read("context/pack.md")
		}
	}
	close(done)
	wg.Wait()
}

// readWhole opens a pack and reads it by size, mapped or not; it must be one whole pack.
func readWhole(path string, mapped bool) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	for err == unix.EINTR { // a build that took long when a signal came
		fd, err = unix.Open(path, unix.O_RDONLY, 0)
	}
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, err
	}
	b := make([]byte, st.Size+100)
	if mapped {
		if b, err = unix.Mmap(fd, 0, int(st.Size), unix.PROT_READ, unix.MAP_SHARED); err != nil {
			return 0, fmt.Errorf("mmap: %w", err)
		}
		defer unix.Munmap(b)
	} else {
		n := 0
		for {
			k, err := unix.Pread(fd, b[n:], int64(n))
			if err == unix.EINTR {
				continue
			}
			if err != nil {
				return 0, err
			}
			if n += k; k == 0 || n == len(b) {
				break
			}
		}
		b = b[:n]
	}
	if int64(len(b)) != st.Size || bytes.IndexByte(b, 0) >= 0 || !bytes.HasPrefix(b, []byte("# Context Block: ")) || !bytes.HasSuffix(b, []byte("\n")) {
		return 0, fmt.Errorf("a torn pack: size %d, %d bytes, begins %.40q", st.Size, len(b), b)
	}
	return len(b), nil
}

func TestDescriptorsAreGivenBack(t *testing.T) {
	m := harness.Start(t, harness.Options{MaxFDs: 200})
	s := m.NewSession(t)
	s.Append("messages.jsonl", long(20))
	names := []string{"messages.jsonl", "events.jsonl", "state", "context/pack.md", "context/pack.json", "context/budget", "context/line/3", "context/line/3.txt", "latest.md"}
	use := func() {
		for _, name := range names {
			s.Read(name)
			os.ReadDir(s.Path("context"))
		}
		s.Append("messages.jsonl", rec1)
		s.Write("state", "active")
	}
	use()
	before := len(m.OpenFiles())
	for range 100 {
		use()
	}
	harness.Eventually(t, "the descriptors of 100 rounds to be given back", func() bool { return len(m.OpenFiles()) <= before+10 })
}
