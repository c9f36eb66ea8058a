package memorytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const mib = 1 << 20

var words = strings.Fields(`agent reads file config server request timeout retry error token refresh session cache index module function value
	pointer slice channel deadlock mutex build test passes deploy cluster node replica shard query latency budget prompt record message commit`)

// turn is record i of a coding session that goes on for ever, a quarter of a kilobyte on average.
func turn(i int) []byte {
	rnd := rand.New(rand.NewPCG(uint64(i), 7))
	text := func(size int) string {
		var b strings.Builder
		for b.Len() < size {
			fmt.Fprintf(&b, "%s ", words[rnd.IntN(len(words))])
		}
		return fmt.Sprintf("%sid%d", b.String(), rnd.IntN(1e6))
	}
	switch file := fmt.Sprintf("src/mod%d/f%d.go", rnd.IntN(400), rnd.IntN(1000)); {
	case i%16 == 0:
		return fmt.Appendf(nil, `{"role":"user","content":"Never change %s without a test. %s"}`+"\n", file, text(120))
	case i%16 == 15:
		return fmt.Appendf(nil, `{"role":"assistant","content":"Done. We decided to use port %d for service%d. %s"}`+"\n", rnd.IntN(60000), rnd.IntN(300), text(150))
	case i%2 == 1:
		return fmt.Appendf(nil, `{"role":"assistant","content":"%s","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"%s\"}"}}]}`+"\n", text(30), i, file)
	}
	return fmt.Appendf(nil, `{"role":"tool","tool_call_id":"call_%d","content":"%s"}`+"\n", i-1, text(200+rnd.IntN(100)))
}

// storeWith makes a store with a session of n messages.
func storeWith(t *testing.T, n int) (dir string, ref ctxabi.Ref) {
	t.Helper()
	dir, ref = filepath.Join(t.TempDir(), "store"), ctxabi.Ref{UID: harness.Self(), Agent: "coder", Session: "long"}
	st, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := st.Create(ref, disk.Owner{UID: ref.UID, GID: ref.UID, Mode: 0o700})
	for i := 0; i < n && err == nil; {
		var data []byte
		for range min(64, n-i) {
			data = append(data, turn(i)...)
			i++
		}
		_, err = x.Messages().Append(context.Background(), log.Batch{Data: data})
	}
	if err = errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	return dir, ref
}

// limited starts a daemon on a store with a session of n messages, in a control group of so many bytes.
func limited(t *testing.T, messages int, group int64) (m *harness.Mount, long *harness.Session) {
	t.Helper()
	dir, ref := storeWith(t, messages)
	o, _ := harness.LimitMemory(t, harness.Options{Store: dir}, group)
	m = harness.Start(t, o)
	return m, m.Session(t, ref.UID, ref.Agent, ref.Session)
}

// heavy are reads of all of a session.
var heavy = []string{"context/pack.md", "context/pack.json", "context/summary.md", "context/facts.jsonl", "context/decisions.jsonl", "context/todo.md",
	"context/refs.jsonl", "context/swap/index.jsonl", "context/at/50000/pack.md", "context/search/deadlock", "context/line/77", "context/journal.jsonl"}

// One user's read of a session for which there is not enough memory fails or works; the daemon serves the others either way.
func TestAHeavyReadDoesNotKillTheDaemonOfAll(t *testing.T) {
	m, long := limited(t, suite.Pick(t, 80_000, 300_000), 64*mib)
	other := m.Session(t, harness.Self(), "other", "small")
	pid := m.PID()
	for i, name := range heavy {
		data, err := os.ReadFile(long.Path(name))
		if err != nil && !errors.Is(err, syscall.ENOMEM) {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes, %v", name, len(data), err)
		said := fmt.Sprintf("word %d", i)
		other.Append("messages.jsonl", fmt.Sprintf(`{"role":"user","content":%q}`+"\n", said))
		if pack := other.Read("context/pack.md"); !strings.Contains(pack, said) {
			t.Fatalf("the other session's pack lacks %q after %s:\n%s", said, name, pack)
		}
	}
	if m.PID() != pid || !harness.Mounted(m.Dir) {
		t.Error("it is another daemon")
	}
}

// Files that a recipe names are read into memory, too.
func TestAHeavyRecipeDoesNotKillTheDaemonOfAll(t *testing.T) {
	o, _ := harness.LimitMemory(t, harness.Options{}, 128*mib)
	m := harness.Start(t, o)
	greedy, other := m.Session(t, harness.Self(), "greedy", "s1"), m.Session(t, harness.Self(), "other", "s1")
	recipe := "sources:\n"
	text := bytes.Repeat([]byte("a line of a file that is much too long\n"), 15*mib/39)
	for i := range 12 {
		name := fmt.Sprintf("file%d.md", i)
		if err := os.WriteFile(filepath.Join(greedy.AgentHome(), name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		recipe += fmt.Sprintf("  - {type: file, path: \"${AGENT_HOME}/%s\", id: f%d, max_tokens: 100}\n", name, i)
	}
	if err := os.WriteFile(filepath.Join(greedy.AgentHome(), "context.yaml"), []byte(recipe), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*harness.Session{greedy, other} {
		s.Append("messages.jsonl", `{"role":"user","content":"hello"}`+"\n")
	}
	if _, err := os.ReadFile(greedy.Path("context/pack.md")); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("the pack of 12 files of 15 MiB: %v, want ENOMEM", err)
	}
	if pack := other.Read("context/pack.md"); !strings.Contains(pack, "hello") {
		t.Errorf("the other session's pack:\n%s", pack)
	}
	if rows := greedy.Read("context/errors.jsonl"); !strings.Contains(rows, "ENOMEM") {
		t.Errorf("errors.jsonl: %s", rows)
	}
}

func TestAReadWithoutEnoughMemoryIsENOMEMWithARow(t *testing.T) {
	_, long := limited(t, 300_000, 40*mib)
	for _, name := range []string{"context/pack.md", "context/facts.jsonl"} {
		before := len(long.Read("context/errors.jsonl"))
		if _, err := os.ReadFile(long.Path(name)); !errors.Is(err, syscall.ENOMEM) {
			t.Errorf("%s: %v, want ENOMEM", name, err)
		}
		row, found := disk.ErrorRow{}, false
		for line := range strings.Lines(long.Read("context/errors.jsonl")[before:]) {
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			found = found || row.Errno == "ENOMEM" && strings.Contains(row.Reason, "memory")
		}
		if !found {
			t.Errorf("%s: no row with ENOMEM in errors.jsonl, the last one is %+v", name, row)
		}
	}
}

// served reads all that is made of a long session until it is whole. A read that finds no memory while other work of the
// daemon has it is made again.
func served(t *testing.T, long *harness.Session, messages int) {
	t.Helper()
	read := func(name string) (text string) {
		t.Helper()
		harness.Eventually(t, "memory for "+name, func() bool {
			data, err := os.ReadFile(long.Path(name))
			if err != nil && !errors.Is(err, syscall.ENOMEM) {
				t.Fatal(err)
			}
			text = string(data)
			return err == nil
		})
		return text
	}
	last := fmt.Sprintf("(messages:%d)", messages)
	for _, name := range heavy {
		read(name)
	}
	harness.Eventually(t, "notes of the whole session", func() bool {
		var places []string
		for line := range strings.Lines(read("context/facts.jsonl")) {
			var row ctxabi.FactRow
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			places = append(places, row.Source)
		}
		return len(places) > 0
	})
	for name, want := range map[string]string{"context/pack.md": "Never change", "context/summary.md": last, "context/decisions.jsonl": "We decided", "context/refs.jsonl": "swap"} {
		if got := read(name); !strings.Contains(got, want) {
			t.Errorf("%s has no %q:\n%.300s", name, want, got)
		}
	}
	harness.Eventually(t, "a search of the whole session", func() bool {
		return !bytes.HasPrefix([]byte(read("context/search/deadlock?in=messages")), []byte("# incomplete"))
	})
}

func TestALongSessionIsServedWithLittleMemory(t *testing.T) {
	const messages = 100_000
	_, long := limited(t, messages, 72*mib)
	served(t, long, messages)
}

func TestAMillionMessagesAreServedWith128MiB(t *testing.T) {
	suite.Matrix(t, "it takes a minute")
	const messages = 1_000_000
	_, long := limited(t, messages, 128*mib)
	served(t, long, messages)
}

func TestStatusShowsTheLimitOfMemory(t *testing.T) {
	limit := func(o harness.Options) string {
		t.Helper()
		m := harness.Start(t, o)
		status, err := os.ReadFile(filepath.Join(m.Dir, ctxabi.StatusFile))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			if value, ok := strings.CutPrefix(line, "memory_limit="); ok {
				return strings.TrimSpace(value)
			}
		}
		t.Fatalf("no memory_limit in\n%s", status)
		return ""
	}
	o, _ := harness.LimitMemory(t, harness.Options{}, 64*mib)
	if got, want := limit(o), fmt.Sprint(memory.OfGroup(64*mib)); got != want {
		t.Errorf("in a group of 64 MiB: %s, want %s", got, want)
	}
	o, _ = harness.LimitMemory(t, harness.Options{}, 64*mib)
	o.Env = append(o.Env, "GOMEMLIMIT=50MiB")
	if got, want := limit(o), fmt.Sprint(50*mib); got != want {
		t.Errorf("with GOMEMLIMIT=50MiB: %s, want %s", got, want)
	}
}
