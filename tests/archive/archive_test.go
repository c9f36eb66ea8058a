package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// all that a session shows of its history, in one text.
const show = `
stat -c '%n %s %.9Y %a %u %h' messages.jsonl events.jsonl
for i in 1 2 77 399 400; do cat context/line/$i; done
tail -c 3000 messages.jsonl; tail -n 3 messages.jsonl; head -n 5 messages.jsonl; grep -c 'question 1' messages.jsonl; sed -n 200p messages.jsonl
dd if=messages.jsonl bs=1 skip=100001 count=333 status=none
sha256sum messages.jsonl
for f in pack.md pack.json pack.openai.json pack.anthropic.json at/200/pack.md at/399/pack.json; do sha256sum context/$f; done
ls context/swap/chunk | sort; cat context/swap/index.jsonl | sha256sum
for c in $(ls context/swap/chunk | head -n 5); do sha256sum context/swap/chunk/$c; done
getfattr -n user.ctx.head -n user.ctx.lines messages.jsonl 2>/dev/null | sort
getfattr --only-values -n user.ctx.head messages.jsonl; getfattr --only-values -n user.ctx.lines messages.jsonl
ls -a . context
`

// Nothing that is seen in a mount tells that a log was sealed: before it, after it, after a restart, and without the caches.
func TestASealedSessionLooksTheSame(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Write("context/budget", "6000\n")
	for i := 0; i < 400; i += 40 {
		s.Append("messages.jsonl", talk(i, 40))
		s.Append("events.jsonl", `{"type":"note","text":"n"}`+"\n")
		s.Read("context/pack.md") // it compacts at times
	}
	m.Restart() // the time of a log is from now on that of its file, not that of the append a moment later
	before := s.Bash(show).OK()
	whole := s.Read("messages.jsonl")
	archive(s)
	if len(parts(t, s)) != 1 {
		t.Fatalf("parts: %v", parts(t, s))
	}
	packed := size(t, parts(t, s)[0])
	if raw := size(t, filepath.Join(s.InStore(), "messages.jsonl")); raw != 0 || packed > int64(len(whole))/3 {
		t.Errorf("%d bytes are raw, and %d packed of %d", raw, packed, len(whole))
	}
	same := func(when string) {
		t.Helper()
		if after := s.Bash(show).OK(); after != before {
			t.Errorf("%s it looks otherwise:\n%s\n-- before:\n%s", when, after, before)
		}
	}
	same("after sealing")
	if got := s.Bash("getfattr --only-values -n user.ctx.sealed messages.jsonl").OK(); got != fmt.Sprint(len(whole)) {
		t.Errorf("user.ctx.sealed is %s", got)
	}
	if s.Bash("echo x > messages.jsonl.1.zst").Code == 0 || s.Bash("cat messages.jsonl.1.zst").Code == 0 || s.Bash("cp messages.jsonl context/x && mv context/x messages.jsonl.2.zst").Code == 0 {
		t.Error("a name of a sealed part can be used in the mount")
	}
	s.Bash("rm -f context/x").OK()
	m.Restart()
	same("after a restart")
	m.Stop()
	for _, cache := range []string{"index", "index.events", "tokens", "swap", "dedup", "segments"} {
		os.RemoveAll(filepath.Join(s.InStore(), ".ctxfs", cache))
	}
	m.Restart()
	same("without the caches")
	if got := onDisk(t, m, s); got != whole {
		t.Errorf("a person reads %d bytes from the store, not %d", len(got), len(whole))
	}
	s.Append("messages.jsonl", talk(400, 8))
	if got := s.Read("messages.jsonl"); got != whole+talk(400, 8) {
		t.Error("what is appended does not stand at the end")
	}
	if len(parts(t, s)) != 1 {
		t.Error("appending inflated something")
	}
	m.CLI(t, "verify", "--store", m.Store).OK()
}

// Handles that are open before, readers that follow, and writers that write meanwhile notice nothing.
func TestSealingUnderOpenHandles(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "s1")
	want := talk(0, 300)
	s.Append("messages.jsonl", want)
	held, err := os.Open(s.Path("messages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	begin := make([]byte, 1000)
	if _, err := held.Read(begin); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(s.Path("messages.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	followed := filepath.Join(harness.TempDir(t), "followed")
	follow := m.Command(ctx, harness.Client{UID: s.UID, Dir: s.Dir, Argv: []string{"bash", "-c", "exec tail -n +1 -f messages.jsonl > " + followed}})
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { follow.Process.Kill(); follow.Wait() }()
	arrived := func() bool { b, _ := os.ReadFile(followed); return string(b) == want }
	harness.Eventually(t, "tail -f has what is there", arrived)
	inode := func() uint64 {
		var st unix.Stat_t
		if err := unix.Stat(s.Path("messages.jsonl"), &st); err != nil || st.Size != int64(len(want)) {
			t.Fatalf("stat: %v, %d bytes of %d", err, st.Size, len(want))
		}
		return st.Ino
	}
	was := inode()
	for i := 300; i < 1500; i += 300 {
		half := talk(i, 300)
		if _, err := writer.WriteString(half[:len(half)/2]); err != nil { // ends within a record
			t.Fatal(err)
		}
		archive(s)
		if _, err := writer.WriteString(half[len(half)/2:]); err != nil {
			t.Fatal(err)
		}
		want += half
		if inode() != was {
			t.Error("the log became another file")
		}
	}
	if n := len(parts(t, s)); n < 3 {
		t.Fatalf("%d parts", n)
	}
	harness.Eventually(t, "tail -f has what came meanwhile", arrived)
	rest := make([]byte, len(want))
	if n, _ := held.ReadAt(rest, 0); string(rest[:n]) != want {
		t.Error("a handle that was open reads other bytes")
	}
	if n, _ := held.Read(rest); string(rest[:n]) != want[1000:1000+n] || n == 0 {
		t.Error("a handle that was open goes on elsewhere")
	}
}

// A daemon that is killed while it seals, again and again, loses nothing that was acknowledged and doubles nothing.
func TestKilledWhileSealing(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "s1")
	want := ""
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	for i := range rounds {
		more := talk(i*1200, 1200)
		s.Append("messages.jsonl", more)
		want += more
		ctx, cancel := context.WithCancel(context.Background())
		seal := m.Command(ctx, harness.Client{UID: s.UID, Dir: s.Dir, Argv: []string{"setfattr", "-n", "user.ctx.archive", "-v", "1", "."}})
		if err := seal.Start(); err != nil {
			t.Fatal(err)
		}
		// Each round it dies a little later: when the part is begun, when it has its name, when the list is written.
		sign := []string{"tmp/*", "home/*/agent/coder/session/s1/messages.jsonl.*.zst", "home/*/agent/coder/session/s1/.ctxfs/segments"}[i%3]
		count := func() int { found, _ := filepath.Glob(filepath.Join(m.Store, sign)); return len(found) }
		before := count()
		ended := make(chan struct{})
		go func() { seal.Wait(); close(ended) }()
		harness.Eventually(t, "it seals", func() bool {
			select {
			case <-ended:
				return true
			default:
				return count() > before
			}
		})
		m.Kill()
		<-ended
		cancel()
		m.Restart()
		if got := s.Read("messages.jsonl"); got != want {
			t.Fatalf("round %d: the log has %d bytes, not %d", i, len(got), len(want))
		}
		if got := onDisk(t, m, s); got != want {
			t.Fatalf("round %d: a person reads %d bytes, not %d", i, len(got), len(want))
		}
		m.CLI(t, "verify", "--store", m.Store).OK()
	}
}

// A part that rots costs what it held, and is named.
func TestARottenPartInAMount(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "s1")
	want := talk(0, 3000)
	s.Append("messages.jsonl", want)
	archive(s)
	m.Stop()
	part := parts(t, s)[0]
	b, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	b[100] ^= 1
	if err := os.WriteFile(part, b, 0o600); err != nil {
		t.Fatal(err)
	}
	m.Restart()
	if r := s.Bash("cat messages.jsonl"); r.Code == 0 || !strings.Contains(r.Stderr, "Input/output error") {
		t.Errorf("cat: %d %s", r.Code, r.Stderr)
	}
	if got := s.Bash("tail -n 500 messages.jsonl").OK(); !strings.HasSuffix(want, got) || got == "" {
		t.Error("what is whole is not served")
	}
	if got := s.Bash("cat context/line/2999").OK(); !strings.HasSuffix(want, got+talk(2999, 1)) {
		t.Errorf("line 2999 is %.80q", got)
	}
	if r := s.Bash("cat context/line/1"); r.Code == 0 {
		t.Errorf("line 1 is %.80q", r.Stdout)
	}
	if got := s.Bash("cat context/pack.md").OK(); !strings.Contains(got, "answer 2999") {
		t.Errorf("the pack is %.300q", got)
	}
	s.Append("messages.jsonl", talk(3000, 1))
	if rows := s.Errors(); len(rows) == 0 || !strings.Contains(rows[0].Reason, "messages.jsonl.1.zst is damaged: bytes 0 to ") {
		t.Errorf("reported %+v", rows)
	}
	if r := m.CLI(t, "verify", "--store", m.Store); r.Code == 0 || !strings.Contains(r.Stdout+r.Stderr, "messages.jsonl.1.zst") {
		t.Errorf("verify: %d %s%s", r.Code, r.Stdout, r.Stderr)
	}
}

// What one user archives is his: another sees no part of it, and cannot ask for it.
func TestAnotherUserSeesNothingOfAnArchive(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, alice, "coder", "s1")
	s.Append("messages.jsonl", talk(0, 400))
	for _, try := range []string{"setfattr -n user.ctx.archive -v 1 " + s.Dir, "getfattr -n user.ctx.sealed " + s.Path("messages.jsonl"),
		"cat " + s.InStore() + "/messages.jsonl.1.zst", "ls " + s.InStore()} {
		if r := m.Run(t, harness.Client{UID: bob, Argv: []string{"bash", "-c", try}}); r.Code == 0 {
			t.Errorf("bob: %s: %+v", try, r)
		}
	}
	if n := len(parts(t, s)); n != 0 {
		t.Errorf("bob made %d parts", n)
	}
	archive(s)
	var st unix.Stat_t
	if err := unix.Stat(parts(t, s)[0], &st); err != nil || st.Uid != alice || st.Mode&0o777 != 0o600 {
		t.Errorf("the part belongs to %d, mode %o (%v)", st.Uid, st.Mode, err)
	}
	if err := unix.Stat(filepath.Join(s.InStore(), "messages.jsonl"), &st); err != nil || st.Uid != alice || st.Mode&0o777 != 0o600 {
		t.Errorf("the tail belongs to %d, mode %o (%v)", st.Uid, st.Mode, err)
	}
	for _, try := range []string{"cat " + parts(t, s)[0], "cat " + s.InStore() + "/.ctxfs/segments", "cat " + s.Path("messages.jsonl")} {
		if r := m.Run(t, harness.Client{UID: bob, Argv: []string{"bash", "-c", try}}); r.Code == 0 {
			t.Errorf("bob: %s: %+v", try, r)
		}
	}
	if got := s.Read("messages.jsonl"); got != talk(0, 400) {
		t.Error("alice reads other bytes")
	}
}
