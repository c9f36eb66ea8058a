package searchtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestAnswers(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	if got := find(t, s, "anything"); got != "# nothing found for \"anything\" (no messages, no events): there are no records yet\n" {
		t.Errorf("an empty session: %q", got)
	}
	talk(s)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"platypus", []string{"messages:3"}},
		{"zebra", []string{"messages:2"}},
		{"日本語", []string{"messages:4"}},
		{"größe", []string{"messages:4"}},
		{"auth%2Frefresh_token.go?n=1", []string{"messages:1"}},
		{`"token refresh"`, []string{"messages:1"}},
		{"refresh?role=tool", []string{"messages:3"}},
		{"staging?in=events&tool=deploy", []string{"events:2", "events:1"}},
		{"refresh?range=4-6", []string{"messages:4"}},
		{"thank you", []string{"messages:6"}},
		{"the", nil},
		{"unheard of", nil},
		{"what is zebra?", []string{"messages:2"}},
	} {
		got := hits(find(t, s, c.query))
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.query, got, c.want)
		}
	}
	answer := find(t, s, "thank you?n=3")
	if want := "## messages:6 user · context/line/6.txt · also messages:5\nok, thank you very much\n"; !strings.Contains(answer, want) {
		t.Errorf("%s\nwant in it %s", answer, want)
	}
	answer = find(t, s, "platypus E4711?tokens=120")
	for _, line := range []string{"exit status E4711", "the platypus line", "…", "## messages:3 tool bash · context/line/3.txt"} {
		if !strings.Contains(answer, line) {
			t.Errorf("%q is not in %s", line, answer)
		}
	}
	if len(answer) > 1200 {
		t.Errorf("%d bytes within 120 tokens", len(answer))
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "a quagga, a moment ago"))
	if got := hits(find(t, s, "quagga")); !slices.Equal(got, []string{"messages:7"}) {
		t.Errorf("what was appended a moment ago: %q", got)
	}
	var j struct {
		Count int
		Hits  []struct{ Source, Path, Text string }
	}
	if err := json.Unmarshal([]byte(find(t, s, "quagga?format=json")), &j); err != nil || len(j.Hits) != 1 || j.Hits[0].Source != "messages:7" {
		t.Errorf("%+v, %v", j, err)
	}
	if got := s.Read(j.Hits[0].Path); !strings.Contains(got, j.Hits[0].Text) {
		t.Errorf("%s holds %q, the hit says %q", j.Hits[0].Path, got, j.Hits[0].Text)
	}
}

// Programs agree about a query's file, whatever they call.
func TestPrograms(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s)
	out := s.Bash(`cd context/search
q='token refresh?n=2'
test "$(stat -c %s "$q")" = "$(cat "$q" | wc -c)" && test "$(wc -c < "$q")" = "$(stat -c %s "$q")" && echo one size
stat -c '%A %F' "$q" | cut -c1-10
cp "$q" /tmp/answer.$$ && cmp "$q" /tmp/answer.$$ && echo copied; rm /tmp/answer.$$
grep -c '^## messages:1 ' "$q"
for bad in 'x?n=0' 'x?n=a' 'x?role=king' 'x?in=here' 'x?range=9-1' 'x?colour=red'; do cat "$bad" 2>&1 | grep -o 'Invalid argument'; done
cat .git .hidden 2>&1 | grep -c 'No such file'
touch new 2>/dev/null || echo no touch; echo x 2>/dev/null > new2 || echo no write; mkdir d 2>/dev/null || echo no mkdir; rm "$q" 2>/dev/null || echo no rm`).OK()
	want := "one size\n-r--------\ncopied\n1\n" + strings.Repeat("Invalid argument\n", 6) + "2\nno touch\nno write\nno mkdir\nno rm\n"
	if out = strings.ReplaceAll(out, "-r--r-----", "-r--------"); out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	if n := len(s.Errors()); n != 6 {
		t.Errorf("%d rows in errors.jsonl", n)
	}
	for _, row := range s.Errors() {
		if row.Errno != "EINVAL" || !strings.Contains(row.Reason, "role=system|developer|user|assistant|tool|event") {
			t.Errorf("%+v", row)
		}
	}
	if got := s.Python(`
import os
p = "context/search/platypus"
st = os.stat(p)
with open(p, "rb") as f:
    whole = f.read()
    assert os.fstat(f.fileno()).st_size == len(whole) == st.st_size, (st, len(whole))
    f.seek(5); assert f.read(7) == whole[5:12]
print(whole.decode().count("platypus"))
`).OK(); got != "2\n" {
		t.Errorf("python: %q", got)
	}
	if err := unix.Access(s.Path(ctxabi.SearchDir+"/x"), unix.W_OK); err == nil && harness.Self() != 0 {
		t.Error("an answer can be written")
	}
}

// What was asked is listed, the last twenty, so that programs that walk a tree come to an end.
func TestRecentQueries(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s)
	if got := s.Bash("ls context/search; cat context/search.recent").OK(); got != "" {
		t.Errorf("before anything was asked: %q", got)
	}
	s.Bash("stat 'context/search/only looked at'").OK()
	for i := range 25 {
		find(t, s, fmt.Sprintf("refresh%d", i))
	}
	find(t, s, "refresh24")
	var want []string
	for i := 5; i < 25; i++ {
		want = append(want, fmt.Sprintf("refresh%d", i))
	}
	got := strings.Fields(s.Bash("cut -d' ' -f2- context/search.recent").OK())
	if !slices.Equal(got, want) {
		t.Errorf("search.recent: %q", got)
	}
	listed := strings.Fields(s.Bash("ls context/search").OK())
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("listed: %q", listed)
	}
	s.Bash("grep -r platypus . > /dev/null; find . > /dev/null; cp -a context/search /tmp/copy.$$; rm -r /tmp/copy.$$").OK()
	m.Restart()
	if got := len(strings.Fields(s.Bash("ls context/search").OK())); got != 20 {
		t.Errorf("%d queries after a start", got)
	}
}

func TestAgentAndHome(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	uid := harness.Self()
	a, b, c := m.Session(t, uid, "coder", "one"), m.Session(t, uid, "coder", "two"), m.Session(t, uid, "writer", "three")
	for i, s := range []*harness.Session{a, b, c} {
		s.Append(ctxabi.MessagesFile, harness.Message("user", fmt.Sprintf("the axolotl of session %d", i))+harness.Message("assistant", "fine"))
	}
	agent, home := filepath.Join(a.AgentHome(), "search"), filepath.Join(m.Dir, "home", fmt.Sprint(uid), "search")
	for dir, want := range map[string][]*harness.Session{agent: {a, b}, home: {a, b, c}} {
		for range 2 {
			data, err := os.ReadFile(filepath.Join(dir, "axolotl"))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(hits(string(data))); got != len(want) {
				t.Errorf("%s: %s", dir, data)
			}
			for _, s := range want {
				if !bytes.Contains(data, []byte("## messages:1 user · "+s.Ref()+"/context/line/1.txt\n")) {
					t.Errorf("%s does not name %s: %s", dir, s.Ref(), data)
				}
			}
			m.Restart()
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s lists %v, %v", dir, entries, err)
		}
		harness.WantAbsent(t, filepath.Join(dir, ".git"))
		if _, err := os.Stat(filepath.Join(dir, "x?in=nowhere")); err == nil {
			t.Error("a bad filter passes")
		}
	}
	// A session that was moved is found where it is, and one that was removed is not found.
	if err := os.Rename(c.Dir, filepath.Join(filepath.Dir(c.Dir), "moved")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(home, "axolotl?n=5"))
	if err != nil || !bytes.Contains(data, []byte("session/moved/context")) || bytes.Contains(data, []byte("session/three/")) {
		t.Errorf("%s, %v", data, err)
	}
}

// The verb prints what the files hold, mounted and unmounted, for people and for programs.
func TestVerb(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s)
	run := func(args ...string) harness.Result {
		t.Helper()
		return m.Run(t, harness.Client{UID: harness.Self(), Dir: "/", Env: []string{"PATH=" + harness.UserPath(t)}, Argv: append([]string{harness.Binary(t), "search", "--store", m.Store}, args...)})
	}
	mounted := run(s.Ref(), "token", "refresh").OK()
	if mounted != find(t, s, "token refresh") {
		t.Errorf("%s", mounted)
	}
	if got := run("--home", "platypus", "-n", "1").OK(); !strings.Contains(got, s.Ref()+"/context/line/3.txt") {
		t.Errorf("%s", got)
	}
	if got := run(s.Ref(), "--color", "always", "--role", "tool", "platypus").OK(); !strings.Contains(got, "\x1b[1;31mplatypus\x1b[0m line") {
		t.Errorf("%q", got)
	}
	if r := run(s.Ref(), "--role", "king", "x"); r.Code != 2 || !strings.Contains(r.Stderr, "no role") {
		t.Errorf("%+v", r)
	}
	m.Stop()
	if got := run(s.Ref(), "token", "refresh").OK(); got != mounted {
		t.Errorf("unmounted:\n%smounted:\n%s", got, mounted)
	}
	for _, args := range [][]string{{s.Ref(), "--json", "platypus"}, {"--agent", "coder", "--json", "platypus"}} {
		var j struct {
			Hits []struct{ Session, Source string }
		}
		if err := json.Unmarshal([]byte(run(args...).OK()), &j); err != nil || len(j.Hits) != 1 || j.Hits[0].Session != s.Ref() {
			t.Errorf("%q: %+v, %v", args, j, err)
		}
	}
	m.Restart()
}

// A record of the largest size is found by a word at its end.
func TestLargestRecord(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	head := harness.Message("tool", "x")
	text := strings.Repeat("many words of no use ", (16<<20-len(head)-30)/21) + "pangolin"
	f, err := os.OpenFile(s.Path(ctxabi.MessagesFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	record := `{"role":"tool","tool_call_id":"c","content":"` + text + `"}` + "\n"
	if _, err := f.WriteString(record); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "small"))
	answer := find(t, s, "pangolin")
	for range 100 {
		if !strings.HasPrefix(answer, "# incomplete") {
			break
		}
		answer = find(t, s, "pangolin")
	}
	if got := hits(answer); !slices.Equal(got, []string{"messages:1"}) {
		t.Errorf("%s", answer)
	}
}
