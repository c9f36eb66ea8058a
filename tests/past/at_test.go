package past

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// Every rendering of every earlier moment is what it was then, by number and by time, in any order, and after a restart.
func TestAnEarlierMomentShowsWhatItShowedThen(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--budget", "1500"}})
	s := m.NewSession(t)
	s.Write("context/todo.md", "- [x] begin\n- [ ] end\n")
	s.Write("context/pinned/rule.md", "Be careful.\n")
	const all = 40
	var then [all + 1]map[string]string
	var when [all + 1]time.Time
	read := func(dir string) map[string]string {
		t.Helper()
		got := map[string]string{}
		for _, name := range packs {
			got[name] = s.Read(dir + name)
		}
		return got
	}
	same := func(dir string, n int) {
		t.Helper()
		for name, got := range read(dir) {
			if got != then[n][name] {
				t.Errorf("%s%s is not what it was with %d messages:\n%s\n-- then:\n%s", dir, name, n, got, then[n][name])
			}
		}
	}
	random := rand.New(rand.NewPCG(1, suite.Seed()))
	then[0], when[0] = read("context/"), time.Now()
	for i := 1; i <= all; i++ {
		s.Append("messages.jsonl", turn(i))
		if i%5 == 0 {
			s.Append("events.jsonl", fmt.Sprintf(`{"type":"tool_call","id":"c%d","name":"run","arguments":"make %d"}`+"\n", i, i)+
				fmt.Sprintf(`{"type":"tool_result","tool_call_id":"c%d","content":"made %d"}`+"\n", i, i))
		}
		then[i], when[i] = read("context/"), time.Now()
		same(fmt.Sprintf("context/at/%d/", i), i)
		if i%6 == 0 {
			n := random.IntN(i)
			same(fmt.Sprintf("context/at/%d/", n), n)
		}
	}
	if strings.Contains(then[all]["pack.json"], `"compactions":0`) || !strings.Contains(then[all]["pack.json"], `"compactions":`) {
		t.Fatal("nothing was compacted")
	}
	check := func() {
		t.Helper()
		for _, n := range []int{0, 39, 1, 20, 21, 5, 40, 20} {
			same(fmt.Sprintf("context/at/%d/", n), n)
			same("context/at/"+when[n].UTC().Format(time.RFC3339Nano)+"/", n)
			same("context/at/"+when[n].In(time.FixedZone("", 5*3600+1800)).Format(time.RFC3339Nano)+"/", n)
		}
		same("context/at/1999-12-31T23:59:59Z/", 0)
		same("context/at/0001-01-01T00:00:01Z/", 0)
		same("context/at/"+time.Now().Add(time.Hour).Format(time.RFC3339)+"/", all)
		same("context/at/9999-12-31T23:59:59,5-07:00/", all) // as date -Ins writes it
		same("context/at/9999-12-31T23:59:59.5-07:00/", all)
	}
	check()
	m.Restart()
	check()
	// Today's files stand in earlier packs, too.
	s.Write("context/pinned/rule.md", "Be bold.\n")
	if got := s.Read("context/at/7/pack.md"); !strings.Contains(got, "Be bold.") || strings.Contains(got, "Be careful.") || !strings.Contains(got, "turn7 says") || strings.Contains(got, "turn8 says") {
		t.Errorf("with another pin:\n%s", got)
	}
	for _, attr := range []string{"pack_id", "sha256", "tokens", "origin"} {
		now, err := s.Xattr("context/pack.md", attr)
		got, err2 := s.Xattr(fmt.Sprintf("context/at/%d/pack.md", all), attr)
		if err != nil || err2 != nil || got != now {
			t.Errorf("%s of the present by its number: %q, %v; by its name %q, %v", attr, got, err2, now, err)
		}
		got, err = s.Xattr("context/at/3/pack.md", attr)
		if err != nil || got == "" || got == now && attr != "origin" {
			t.Errorf("%s of an earlier one: %q, %v; the present has %q", attr, got, err, now)
		}
	}
}

func TestOnlyMomentsAreNamesOfMoments(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	for i := range 3 {
		s.Append("messages.jsonl", turn(i))
	}
	for _, name := range []string{"4", "01", "00", "-0", "-1", "+1", "1.0", "1e0", "0x1", " 1", "1 ", "x", ".1", ".hidden", "99999999999999999999", "१",
		"2026-05-04", "2026-05-04T10:00:00", "2026-05-04 10:00:00Z", "2026-13-04T10:00:00Z", "2026-05-04T25:00:00Z", "2026-05-04T1:00:00Z", "2026-05-04T10:00:00+25:00", "2026-05-04T10:00:00+0200", "2026-05-04t10:00:00z", "10:00:00Z", "now", "pack.md"} {
		harness.WantAbsent(t, s.Path("context/at/"+name))
	}
	harness.WantAbsent(t, s.Path("context/at/2/pack.xml"))
	harness.WantAbsent(t, s.Path("context/at/2/packs.jsonl"))
	harness.WantAbsent(t, s.Path("context/at/2/at"))
	if got := s.Bash("ls -A context/at; ls context/at/2; stat -c '%a %F' context/at context/at/2 context/at/2/pack.md context/at/2020-01-01T00:00:00Z").OK(); got != strings.Join([]string{
		"pack.anthropic.json", "pack.gemini.json", "pack.genai.json", "pack.json", "pack.md", "pack.openai.json", "pack.report.md", "pack.responses.json",
		"500 directory", "500 directory", "400 regular file", "500 directory", ""}, "\n") {
		t.Errorf("got:\n%s", got)
	}
	// A moment that is not there yet comes to be.
	s.Append("messages.jsonl", turn(3))
	if got := s.Read("context/at/4/pack.md"); got != s.Read("context/pack.md") {
		t.Errorf("at 4:\n%s", got)
	}
	for what, err := range map[string]error{
		"open for writing": func() error { _, err := unix.Open(s.Path("context/at/2/pack.md"), unix.O_WRONLY, 0); return err }(),
		"truncate":         unix.Truncate(s.Path("context/at/2/pack.md"), 1),
	} {
		if err != unix.EACCES {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, script := range []string{"mkdir context/at/x", "mkdir context/at/9", "touch context/at/2/x", "rm context/at/2/pack.md", "rmdir context/at/2", "rmdir context/at",
		"mv context/at context/past", "mv context/at/2/pack.md .", "ln context/at/2/pack.md context/at/2/x", "rm -r context/served", "touch context/served/x", "rm context/packs.jsonl", "echo x >> context/packs.jsonl"} {
		if r := s.Bash(script); r.Code == 0 {
			t.Errorf("%s was done", script)
		}
	}
}

// An inode of an earlier pack is of its bytes: who holds it keeps them when a file changes.
func TestAnOldHandleOfAnEarlierMomentKeepsItsBytes(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	for i := range 6 {
		s.Append("messages.jsonl", turn(i))
	}
	inode := func() uint64 {
		var st unix.Stat_t
		if err := unix.Stat(s.Path("context/at/3/pack.md"), &st); err != nil {
			t.Fatal(err)
		}
		return st.Ino
	}
	old, err := os.Open(s.Path("context/at/3/pack.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	before, first := s.Read("context/at/3/pack.md"), inode()
	s.Append("messages.jsonl", turn(6))
	if now := inode(); now != first || s.Read("context/at/3/pack.md") != before {
		t.Errorf("a record that came changed an earlier moment: inode %d and %d", first, now)
	}
	s.Write("context/pinned/rule", "A rule.\n")
	if now := inode(); now == first || s.Read("context/at/3/pack.md") == before {
		t.Errorf("a pin changed nothing: inode %d and %d", first, now)
	}
	if b, err := io.ReadAll(old); err != nil || string(b) != before {
		t.Errorf("an old handle: %q, %v; want %q", b, err, before)
	}
}

// Readers of many moments beside a writer: each gets what that moment was, and the present goes on.
func TestManyMomentsAreReadBesideAWriter(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--budget", "1500"}})
	s := m.NewSession(t)
	const all = 60
	var then [all + 1]string
	var at atomic.Int64
	then[0] = s.Read("context/pack.md")
	var wg sync.WaitGroup
	for reader := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(7, uint64(reader)))
			for reads := 0; at.Load() < all || reads < 20; reads++ {
				n := rnd.IntN(int(at.Load()) + 1)
				got, err := os.ReadFile(s.Path(fmt.Sprintf("context/at/%d/pack.md", n)))
				if err != nil || string(got) != then[n] {
					t.Errorf("at %d: %v\n%s\n-- then:\n%s", n, err, got, then[n])
					return
				}
				if _, err := os.ReadFile(s.Path(fmt.Sprintf("context/at/%d/pack.anthropic.json", n))); err != nil {
					t.Errorf("at %d: %v", n, err)
				}
			}
		})
	}
	for i := 1; i <= all; i++ {
		s.Append("messages.jsonl", turn(i))
		then[i] = s.Read("context/pack.md")
		at.Store(int64(i))
	}
	wg.Wait()
	if list := rows(t, s); len(list) != all+1 {
		t.Errorf("%d rows for %d packs that were read", len(list), all+1)
	}
}

// Another user sees nothing of it.
func TestThePastIsItsOwners(t *testing.T) {
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, alice, "coder", "s1")
	id := strings.TrimSpace(s.Bash(`echo '{"role":"user","content":"secret"}' >> messages.jsonl; cat context/pack.md >&2; tail -n 1 context/packs.jsonl | grep -o 'sha256-[0-9a-f]*'`).OK())
	for _, name := range []string{"context/at", "context/at/1", "context/at/1/pack.md", "context/at/x", "context/served", "context/served/" + id + ".md", "context/packs.jsonl"} {
		r := m.Run(t, harness.Client{UID: bob, Argv: []string{"bash", "-c", "stat " + s.Path(name) + " || ls " + s.Path(name) + " || cat " + s.Path(name)}})
		if r.Code == 0 || !strings.Contains(r.Stderr, "Permission denied") || strings.Contains(r.Stdout, "secret") {
			t.Errorf("bob at %s: %+v", name, r)
		}
	}
	if got := s.Bash("cat context/at/1/pack.md context/served/" + id + ".md; stat -c '%U %a' context/at/1/pack.md context/served context/packs.jsonl context/served/*").OK(); strings.Count(got, "secret") != 2 || strings.Count(got, "UNKNOWN 400") != 3 || strings.Count(got, "UNKNOWN 500") != 1 {
		t.Errorf("alice: %s", got)
	}
	if got := s.Bash("tail -n 1 context/packs.jsonl").OK(); !strings.Contains(got, fmt.Sprintf(`"uid":%d,`, alice)) {
		t.Errorf("the row says %s", got)
	}
}

// A generator that reads the past of its own session does not wait for itself.
func TestAGeneratorReadsThePast(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/context.yaml", `
wait_ms: 60000
sources:
  - type: computed_file
    id: past
    generator: {command: [sh, -c, 'cd "$CTX_SESSION/context" && grep -c "^## " at/1/pack.md at/3/pack.md && wc -l < packs.jsonl'], timeout_ms: 60000}
    refresh: turn
  - {type: journal}
`)
	for i := range 3 {
		s.Append("messages.jsonl", turn(i))
	}
	for range 2 {
		if got := s.Read("context/pack.md"); !strings.Contains(got, "at/1/pack.md:1\nat/3/pack.md:3\n") {
			t.Errorf("the pack:\n%s\n%s\n%s", got, s.Read("context/pack.report.md"), s.Read("context/errors.jsonl"))
		}
		s.Append("messages.jsonl", turn(9))
	}
}
