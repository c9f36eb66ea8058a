package clients

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// What a control file takes and refuses.
var controls = []struct {
	file      string
	initially string
	good, bad []string
}{
	{"state", "idle", []string{"active", "done\n", "error", "cancelled", "idle\n"}, []string{"busy", "done error", "DONE", "act\x00ive"}},
	{"cwd", "", []string{"/work\n", "/"}, []string{"work", "/a\n/b", "../x", "/a\x00b"}},
	{"meta.json", "", []string{`{"model":"gpt-4o","custom":[1]}`, "{}\n"}, []string{"[]", "{", "nope", `{"a":1}{}`}},
	{"context/budget", "", []string{"8000\n", " 12000 ", "0", "", "\n"}, []string{"-1", "8k", "8000 9000", "+5", "1e4", "99999999999999999999"}},
	{"context/gc.policy", "", []string{"pack_ttl=2d\n# note\nkeep_messages=1\n", "", "swap_ttl = 4w"}, []string{"pack_ttl=x", "nope=1", "pack_ttl", "keep_messages=2", "pack_ttl=1d\nnope"}},
	{"context/facts.jsonl", "", []string{`{"id":"f1","text":"t","source":"messages:1"}` + "\n"}, []string{"nope\n", `{"id":"f1"}` + "\n", "[]\n", `{"id":"f1","text":"t","source":"messages:x"}` + "\n"}},
	{"context/decisions.jsonl", "", []string{`{"id":"d1","decision":"t","source":"messages:1-2"}` + "\n"}, []string{"nope\n", `{"decision":1}` + "\n"}},
	{"context/refs.jsonl", "", []string{`{"id":"r1","path":"/a","kind":"file","summary":"s"}` + "\n"}, []string{"nope\n", `{"id":"r1","path":"/a","kind":"moon","summary":"s"}` + "\n"}},
	{"context/plan.json", "", []string{`{"goal":"g","tasks":[]}`}, []string{"nope"}},
}

func TestControlFilesAreCheckedAtCommit(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for _, c := range controls {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			s := m.NewSession(t)
			path := s.Path(c.file)
			if c.initially != "" && strings.TrimSpace(s.Read(c.file)) != c.initially {
				t.Errorf("initially %q, want %q", s.Read(c.file), c.initially)
			}
			for _, good := range c.good {
				if call, err := replace(path, good); err != nil {
					t.Errorf("%q: %s: %v", good, call, err)
				}
				harness.WantFile(t, s, c.file, good)
				if fi, err := os.Stat(path); err != nil || fi.Size() != int64(len(good)) {
					t.Errorf("size %v, %v of %q", fi.Size(), err, good)
				}
			}
			for _, good := range c.good {
				if call, err := rename(path, good); err != nil {
					t.Errorf("%q: %s: %v", good, call, err)
				}
				harness.WantFile(t, s, c.file, good)
			}
			kept := c.good[len(c.good)-1]
			for _, bad := range c.bad {
				call, err := replace(path, bad)
				if call == "open" {
					t.Errorf("%q was refused by open", bad)
				}
				harness.WantErrno(t, strconv.Quote(bad)+": "+call, err, unix.EINVAL)
				harness.WantFile(t, s, c.file, kept)
				call, err = rename(path, bad)
				if call != "rename" {
					t.Errorf("%q: %s failed before the rename: %v", bad, call, err)
				}
				harness.WantErrno(t, strconv.Quote(bad)+": rename", err, unix.EINVAL)
				harness.WantFile(t, s, c.file, kept)
				rows := s.Errors()
				if len(rows) == 0 || rows[len(rows)-1].Errno != "EINVAL" || rows[len(rows)-1].Path != c.file {
					t.Errorf("%q: errors.jsonl says %+v", bad, rows)
				}
			}
			// A refused handle does not spoil the next one.
			if call, err := replace(path, c.good[0]); err != nil {
				t.Errorf("%q: %s: %v", c.good[0], call, err)
			}
			harness.WantFile(t, s, c.file, c.good[0])
		})
	}
}

func TestOthersSeeTheOldContentUntilTheCommit(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "9000\n")
	fd, err := unix.Open(s.Path("context/budget"), unix.O_RDWR|unix.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	harness.WantFile(t, s, "context/budget", "9000\n")
	for _, piece := range []string{"12", "0", "00"} {
		if _, err := unix.Write(fd, []byte(piece)); err != nil {
			t.Fatal(err)
		}
		harness.WantFile(t, s, "context/budget", "9000\n")
	}
	buf := make([]byte, 16)
	if n, err := unix.Pread(fd, buf, 0); err != nil || string(buf[:n]) != "12000" {
		t.Errorf("the writer reads %q, %v", buf[:max(n, 0)], err)
	}
	harness.WantErrno(t, "close", unix.Close(fd), 0)
	harness.WantFile(t, s, "context/budget", "12000")
}

// A shell's > closes the file once before its first write: nothing is judged
// then, and what comes of it is in errors.jsonl after the last close.
func TestAnEmptyStateIsRefusedAtTheLastClose(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("state", "active")
	s.Bash(": > state").OK()
	harness.Eventually(t, "a row about the empty state", func() bool {
		rows := s.Errors()
		return len(rows) > 0 && rows[len(rows)-1].Errno == "EINVAL" && rows[len(rows)-1].Path == "state"
	})
	harness.WantFile(t, s, "state", "active")
	s.Bash("echo done > state").OK()
	harness.WantFile(t, s, "state", "done\n")
	if rows := s.Errors(); len(rows) != 1 {
		t.Errorf("errors.jsonl: %+v", rows)
	}
}

func TestEditorsAndShellsOnControlFiles(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for _, c := range []struct {
		name, need, script, file, want string
	}{
		{"echo >", "bash", "echo 4000 > context/budget", "context/budget", "4000\n"},
		{"echo >>", "bash", "printf 4000 > context/budget; printf 0 >> context/budget", "context/budget", "40000"},
		{"sed -i", "sed", "echo 4000 > context/budget; sed -i s/4/9/ context/budget", "context/budget", "9000\n"},
		{"sed -i refused", "sed", "echo 4000 > context/budget; sed -i s/4/x/ context/budget && echo worked", "context/budget", "4000\n"},
		{"vim", "vim", "echo 4000 > context/budget; vim -es -u NONE -i NONE -c '%s/4/7/' -c wq context/budget </dev/null", "context/budget", "7000\n"},
		{"vim, with backup by copy", "vim", "echo 4000 > context/budget; vim -es -u NONE -i NONE -c 'set backup backupcopy=yes' -c '%s/4/7/' -c wq context/budget </dev/null", "context/budget", "7000\n"},
		{"vim, with backup by rename", "vim", "echo 4000 > context/budget; vim -es -u NONE -i NONE -c 'set writebackup backupcopy=no' -c '%s/4/7/' -c wq context/budget </dev/null", "context/budget", "7000\n"},
		{"vim on todo.md", "vim", "vim -es -u NONE -i NONE -c 'normal ggdGi- [ ] write tests' -c wq context/todo.md </dev/null", "context/todo.md", "- [ ] write tests\n"},
		{"sed -i on todo.md", "sed", "printf -- '- [ ] a\\n- [ ] b\\n' > context/todo.md; sed -i '1s/ /x/2' context/todo.md", "context/todo.md", "- [x] a\n- [ ] b\n"},
		{"cp over", "cp", "echo 5000 > ../../b-cp; cp ../../b-cp context/budget", "context/budget", "5000\n"},
		{"mv over", "mv", "echo 5000 > ../../b-mv; mv ../../b-mv context/budget", "context/budget", "5000\n"},
		{"install over", "install", "echo 5000 > ../../b-install; install -m 600 ../../b-install context/budget", "context/budget", "5000\n"},
		{"a look at its own output", "stat", "printf 5000 > context/budget; stat -c %s context/budget > context/budget", "context/budget", "0\n"},
		{"tee", "tee", "echo 6000 | tee context/budget >/dev/null", "context/budget", "6000\n"},
		{"dd notrunc", "dd", "echo 6000 > context/budget; printf 7 | dd of=context/budget conv=notrunc status=none", "context/budget", "7000\n"},
		{"truncate to empty", "truncate", "echo 6000 > context/budget; truncate -s0 context/budget", "context/budget", ""},
		{"truncate shorter", "truncate", "echo 60000 > context/budget; truncate -s4 context/budget", "context/budget", "6000"},
		{"touch", "touch", "echo 6000 > context/budget; touch context/budget", "context/budget", "6000\n"},
		{"jq through sponge-like mv", "jq", `echo '{"model":"a"}' > meta.json; jq -c '.model="b"' meta.json > meta.tmp && mv meta.tmp meta.json`, "meta.json", `{"model":"b"}` + "\n"},
		{"python write", "python3", `python3 -c 'open("state","w").write("active")'`, "state", "active"},
		{"python os.replace", "python3", `python3 -c 'import os; open("state.new","w").write("done"); os.replace("state.new","state")'`, "state", "done"},
		{"python close error", "python3", `python3 -c '
import errno
f = open("state","w"); f.write("nonsense")
try: f.close()
except OSError as e: open("../../said","w").write(errno.errorcode[e.errno])
'; cat ../../said > context/summary.md`, "context/summary.md", "EINVAL"},
		{"node writeFile", "node", `node -e 'require("fs").writeFileSync("state","active")'`, "state", "active"},
		{"ln -sf is refused or replaced, the content stays", "ln", "echo 5000 > context/budget; ln -sf /etc/passwd context/budget 2>/dev/null; cat context/budget > ../../seen; cp ../../seen context/budget", "context/budget", "5000\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			harness.Need(t, c.need)
			s := m.NewSession(t)
			s.Append("messages.jsonl", rec1)
			r := s.Bash(c.script)
			if got := s.Read(c.file); got != c.want {
				t.Errorf("%s holds %q, want %q\nstdout: %s\nstderr: %s", c.file, got, c.want, r.Stdout, r.Stderr)
			}
			if left := strings.TrimSpace(s.Bash("find . -name '*~' -o -name '.*.sw?' -o -name '4913' -o -name 'sed??????'").Stdout); left != "" {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

func TestSmallFilesOfASession(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	start := time.Now().Unix()
	s := m.NewSession(t)
	number := func(name string) int64 {
		t.Helper()
		n, err := strconv.ParseInt(strings.TrimSpace(s.Read(name)), 10, 64)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if n := number("created_at"); n < start-1 || n > time.Now().Unix() {
		t.Errorf("created_at %d, made at %d", n, start)
	}
	s.Append("messages.jsonl", rec1+rec2+rec3)
	harness.WantFile(t, s, "latest.md", "I will add RetryMax.\n")
	if c, u := number("created_at"), number("updated_at"); u < c {
		t.Errorf("created at %d, updated at %d", c, u)
	}
	for _, name := range []string{"created_at", "updated_at", "latest.md", "context/errors.jsonl", "context/pack.md", "context/pack.json", "context/pack.report.md"} {
		_, err := unix.Open(s.Path(name), unix.O_WRONLY, 0)
		harness.WantErrno(t, "open "+name+" for writing", err, unix.EACCES)
		harness.WantErrno(t, "truncate "+name, unix.Truncate(s.Path(name), 0), unix.EACCES)
	}
	for _, name := range []string{"README.md", "status"} {
		b, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		if fi, err := os.Stat(filepath.Join(m.Dir, name)); err != nil || name == "README.md" && fi.Size() != int64(len(b)) {
			t.Errorf("%s: size %v, %d bytes read, %v", name, fi, len(b), err)
		}
	}
	status, _ := os.ReadFile(filepath.Join(m.Dir, "status"))
	if m.Session(t, harness.Self(), "counted", "at-once"); !strings.Contains(string(status), "\nsessions=1\n") {
		t.Errorf("status before another session:\n%s", status)
	}
	if next, err := os.ReadFile(filepath.Join(m.Dir, "status")); err != nil || !strings.Contains(string(next), "\nsessions=2\n") {
		t.Errorf("status does not count a session that was just made: %v\n%s", err, next)
	}
	for line := range strings.Lines(string(status)) {
		if k, _, ok := strings.Cut(line, "="); !ok || k == "" {
			t.Errorf("status: %q is not KEY=VALUE", line)
		}
	}
	for _, name := range []string{".", "-x", "a b", "a/../b", strings.Repeat("x", 129), "ü", ".hidden"} {
		err := unix.Mkdir(filepath.Join(s.AgentHome(), "session")+"/"+name, 0o700)
		if err == nil {
			t.Errorf("mkdir of session %q worked", name)
		}
		if name == "-x" || name == "a b" || name == ".hidden" {
			harness.WantErrno(t, "mkdir of session "+name, err, unix.EINVAL)
		}
	}
	harness.WantErrno(t, "mkdir again", unix.Mkdir(s.Dir, 0o700), unix.EEXIST)
}

// The shell's printf writes line by line: the first lines of a diff do not say yet that it is one.
func TestDiffWrittenLineByLineIsTaken(t *testing.T) {
	s := harness.Start(t, harness.Options{}).NewSession(t)
	const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
	s.Run("bash", "-c", `printf '%s\n' '--- a/x' '+++ b/x' '@@ -1 +1 @@' '-a' '+b' > context/review.diff`).OK()
	harness.WantFile(t, s, "context/review.diff", diff)
	s.Run("bash", "-c", `{ echo looks good; echo to me; } > context/review.diff`) // refused at the close, of which no shell tells
	harness.WantFile(t, s, "context/review.diff", diff)
}

// tar removes what is in its way and makes it anew, as often as it takes: a session it unpacks over must not make it go on for ever.
func TestTarOverASessionEnds(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	from, to := m.NewSession(t), m.NewSession(t)
	from.Bash(`echo '{"role":"user","content":"hi"}' >> messages.jsonl; mkdir context/child/k; echo rev > context/child/k/agent; echo note > context/child/k/result.md
echo '{"id":"f","text":"F"}' > context/facts.jsonl`).OK()
	to.Bash("mkdir context/child/k")
	r := to.Run("bash", "-c", `tar cf - -C "$0" . | tar xf - 2>&1; cat context/child/k/agent context/child/k/result.md context/facts.jsonl`, from.Dir)
	if want := "rev\nnote\n{\"id\":\"f\",\"text\":\"F\"}\n"; !strings.HasSuffix(r.Stdout, want) {
		t.Errorf("it ended with\n%s", r.Stdout)
	}
	if !strings.Contains(r.Stdout, "pack.md: Cannot open: Permission denied") {
		t.Errorf("tar was not told of pack.md:\n%s", r.Stdout)
	}
}
