package builder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

func TestSameBuildWhileNothingChanged(t *testing.T) {
	d := newDesk(t, Config{Budget: 2000})
	d.append(packtest.Message("user", "hi"))
	first := d.pack()
	if again := d.pack(); again != first {
		t.Error("another build though nothing changed")
	}
	d.write("context/notes", "not part of any pack")
	if again := d.pack(); again != first {
		t.Error("another build after a change of a file that is not in the pack")
	}
	d.append(packtest.Message("assistant", "hello"))
	if d.pack() == first {
		t.Error("the same build after an append")
	}
	if compiled, reused := d.b.Counts(); compiled != 2 || reused != 2 {
		t.Errorf("%d compiled, %d reused, want 2 and 2", compiled, reused)
	}
}

// Each file that a pack is made of brings another build when it changes, also
// within one tick of the disk's clock and with the same size.
func TestEachFileCounts(t *testing.T) {
	d := newDesk(t, Config{Budget: 4000})
	d.append(packtest.Message("user", "hi"))
	for _, name := range []string{
		"../../system_prompt.md", "context/pinned/a.md", "context/facts.jsonl",
		"context/decisions.jsonl", "context/refs.jsonl", "context/todo.md",
	} {
		for i := range 10 {
			content := fmt.Sprintf("{\"text\":\"%s %d\"}\n", name, i)
			d.write(name, content)
			if got := string(d.pack().Markdown); !strings.Contains(got, content) {
				t.Fatalf("%s: change %d is not in the pack:\n%s", name, i, got)
			}
		}
	}
	if err := os.Remove(filepath.Join(d.x.Dir(), "context/pinned/a.md")); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(d.pack().Markdown), "pinned/a.md") {
		t.Error("a removed pin stayed")
	}
	d.write(ctxabi.BudgetFile, "1234\n")
	if p := accountOf(t, d.pack()); p.BudgetTokens != 1234 {
		t.Errorf("budget %d", p.BudgetTokens)
	}
	d.write(ctxabi.BudgetFile, "")
	if p := accountOf(t, d.pack()); p.BudgetTokens != 4000 {
		t.Errorf("budget %d after the file was emptied", p.BudgetTokens)
	}
}

func TestEditorsFilesAreNotPins(t *testing.T) {
	d := newDesk(t, Config{Budget: 4000})
	for _, name := range []string{".rules.md.swp", "rules.md~", "4913", "sedAbC123"} {
		d.write("context/pinned/"+name, "not a pin\n")
	}
	d.write("context/pinned/sedate", "a pin\n")
	got := string(d.pack().Markdown)
	if strings.Contains(got, "not a pin") || !strings.Contains(got, "a pin\n") {
		t.Error(got)
	}
}

// The owner of a session may plant links; a daemon that runs as root must not follow them.
func TestLinksAreNotFollowed(t *testing.T) {
	d := newDesk(t, Config{Budget: 4000})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.write("context/pinned/ok.md", "fine\n")
	for _, name := range []string{"context/pinned/link.md", "context/summary.md", "../../system_prompt.md"} {
		if err := os.Symlink(secret, filepath.Join(d.x.Dir(), name)); err != nil {
			t.Fatal(err)
		}
	}
	b := d.pack()
	if strings.Contains(string(b.Markdown), "secret") {
		t.Errorf("followed a link:\n%s", b.Markdown)
	}
	if p := accountOf(t, b); len(p.Omitted) != 3 {
		t.Errorf("the links are not listed as left out: %+v", p.Omitted)
	}
}

func TestRestartGivesTheSameBytes(t *testing.T) {
	c := Config{Budget: 1500}
	d := newDesk(t, c)
	d.write("context/pinned/rules.md", "Never delete the ledger.\n")
	l := packtest.LongLog(90)
	for line := 1; line <= l.Len(); line++ {
		d.append(l.Records()[line-1])
		d.pack()
	}
	before := d.pack()
	d.restart(c)
	after := d.pack()
	if before == after {
		t.Fatal("not a restart")
	}
	same(t, before, after)
}

// With tool events, too: step by step, after a restart and without its caches a session's pack is the same,
// and the one that the plain meaning of the words gives.
func TestToolEventsGiveTheSameBytesEverywhere(t *testing.T) {
	c := Config{Budget: 1500}
	d := newDesk(t, c)
	h := packtest.NewHistory()
	l := packtest.LongLog(90)
	for i, raw := range l.Records() {
		d.append(raw)
		h.Message(raw)
		for _, e := range []string{
			fmt.Sprintf(`{"type":"usage","n":%d}`, i),
			fmt.Sprintf(`{"type":"tool_call","id":"own%d","name":"run","args":{"n":%d}}`, i, i),
			fmt.Sprintf(`{"type":"tool_result","id":"own%d","output":%s}`, i-i%2, packtest.QuoteJSON(packtest.Weighing(i*10))),
			fmt.Sprintf(`{"type":"tool_result","id":"c%s","output":"a twin, most of the time"}`, strings.Repeat("i", i)),
		}[:i%5] {
			d.event([]byte(e))
			h.Event([]byte(e))
			d.pack()
		}
	}
	before := d.pack()
	in := inputFrom(h, h.Len(), 1500)
	in.Session, in.Agent, in.Opening = deskRef.Session, deskRef.Agent, d.x.Opening()
	if want := compiled(t, in); string(before.Markdown) != string(want.Markdown) {
		t.Errorf("got\n%s\nwant\n%s", before.Markdown, want.Markdown)
	}
	if p := accountOf(t, before); p.Compactions == 0 || len(p.Omitted) < 2 {
		t.Errorf("%d compactions, omitted %+v", p.Compactions, p.Omitted)
	}
	d.restart(c)
	same(t, before, d.pack())
	for _, name := range []string{"index", "index.events"} {
		if err := os.Remove(filepath.Join(d.x.Dir(), ".ctxfs", name)); err != nil {
			t.Fatal(err)
		}
	}
	d.restart(c)
	same(t, before, d.pack())
	d.event([]byte(`{"type":"usage"}`))
	if d.pack().ID != before.ID {
		t.Error("an event that is in no pack made another one")
	}
}

// A look at the store beside the daemon that serves it gives the daemon's bytes.
func TestReaderBesideTheDaemon(t *testing.T) {
	d := newDesk(t, Config{Budget: 1500})
	d.write("context/todo.md", "- [ ] test\n")
	d.append(packtest.LongLog(90).Records()...)
	served := d.pack()
	store, err := session.Open(d.dir, session.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	x, err := store.Session(deskRef)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(Config{Budget: 1500})
	if err != nil {
		t.Fatal(err)
	}
	build, err := b.Current(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	same(t, served, build)
}

// A persisted count belongs to one encoding; a reader with another one must not use it.
func TestCountsOfAnotherEncodingAreNotUsed(t *testing.T) {
	d := newDesk(t, Config{Budget: 2000, Encoding: "o200k_base"})
	l := packtest.LongLog(40)
	d.append(l.Records()...)
	d.pack()
	for _, encoding := range []string{"cl100k_base", "o200k_base", "cl100k_base"} {
		d.restart(Config{Budget: 2000, Encoding: encoding})
		b := d.pack()
		if n := countedTokens(t, encoding, b.Markdown); n != b.Tokens {
			t.Errorf("%s: %d tokens stated, %d counted", encoding, b.Tokens, n)
		}
	}
}

func TestOneBuildAtATime(t *testing.T) {
	d := newDesk(t, Config{Budget: 2000})
	d.append(packtest.LongLog(50).Records()...)
	var wg sync.WaitGroup
	builds := make([]*pack.Build, 16)
	for i := range builds {
		wg.Go(func() {
			b, err := d.b.Current(context.Background(), d.x)
			if err != nil {
				t.Error(err)
			}
			builds[i] = b
		})
	}
	wg.Wait()
	for _, b := range builds {
		if b != builds[0] {
			t.Fatal("the same inputs were compiled twice")
		}
	}
}

// gate is a workspace that answers when the test wants it to.
type gate struct {
	asked chan struct{}
	open  chan struct{}
}

func (g *gate) ReadFiles(_ context.Context, _, _ uint32, paths []string, _ int64, _ time.Duration) ([]source.WorkspaceFile, error) {
	g.asked <- struct{}{}
	<-g.open
	return make([]source.WorkspaceFile, len(paths)), nil
}

// However many wait behind a slow workspace, they share one build after it.
func TestWaitersShareTheNextBuild(t *testing.T) {
	d := newDesk(t, Config{})
	d.write("cwd", "/work\n")
	synctest.Test(t, func(t *testing.T) {
		g := &gate{asked: make(chan struct{}, 100), open: make(chan struct{}, 100)}
		d.builder(Config{Budget: 2000, Workspace: g})
		var wg sync.WaitGroup
		read := func() {
			if _, err := d.b.Current(context.Background(), d.x); err != nil {
				t.Error(err)
			}
		}
		wg.Go(read)
		<-g.asked // the first is under way
		for range 20 {
			wg.Go(read)
		}
		synctest.Wait() // all others wait for it
		for range 21 {
			g.open <- struct{}{}
		}
		wg.Wait()
		if n := d.b.entry(d.x.ID()).begun.Load(); n != 2 {
			t.Errorf("%d builds, want the first and one for all who waited", n)
		}
	})
}

func TestWaiterGivesUpWithItsContext(t *testing.T) {
	d := newDesk(t, Config{Budget: 2000})
	e := d.b.entry(d.x.ID())
	e.busy <- struct{}{} // a build that does not end
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.b.Current(ctx, d.x); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-e.busy
}

func TestDropAndForget(t *testing.T) {
	d := newDesk(t, Config{Budget: 2000})
	d.append(packtest.Message("user", "hi"))
	first := d.pack()
	d.b.Drop(d.x)
	second := d.pack()
	if first == second {
		t.Error("Drop kept the build")
	}
	same(t, first, second)
	d.b.Forget(d.x.ID())
	if d.b.sessions.Size() != 0 || d.b.sessions.Len() != 0 {
		t.Errorf("Forget left %d bytes", d.b.sessions.Size())
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for name, limit := range map[string]*memory.Limit{"a limit": memory.New(80 << 20), "no limit": nil} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, Config{Budget: 2000, Memory: limit})
			for i := range maxRememberedCount + 10 {
				e := d.b.entry(fmt.Sprint(i))
				d.b.weigh(e, 1<<20)
			}
			size, n := d.b.sessions.Size(), d.b.sessions.Len()
			if size > d.b.config.Memory.CacheBound(minRemembered) || n > maxRememberedCount || n < 10 {
				t.Errorf("%d bytes in %d entries", size, n)
			}
		})
	}
}

func TestCheckFits(t *testing.T) {
	d := newDesk(t, Config{Budget: 1000})
	d.write("../../system_prompt.md", strings.Repeat("Be careful. ", 50))
	d.write("context/pinned/a.md", strings.Repeat("Never delete the ledger. ", 50))
	for _, c := range []struct {
		name, data string
		want       error
	}{
		{"context/budget", "1000", nil},
		{"context/budget", "", nil},
		{"context/budget", "0", nil},
		{"context/budget", "300", ctxabi.ErrOverBudget},
		{"context/budget", "many", ctxabi.ErrMalformed},
		{"context/pinned/b.md", "short", nil},
		{"context/pinned/b.md", strings.Repeat("word ", 700), ctxabi.ErrOverBudget},
		{"context/pinned/a.md", strings.Repeat("word ", 500), nil}, // replaces what is there
		{"context/pinned/.b.md.swp", strings.Repeat("word ", 5000), nil},
		{"context/todo.md", strings.Repeat("word ", 5000), nil},
	} {
		if err := d.b.CheckFits(d.x, c.name, []byte(c.data)); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s %.10q: %v", c.name, c.data, err)
		}
	}
}

// A budget lowered behind our back.
func TestRequiredPartsAboveTheBudget(t *testing.T) {
	d := newDesk(t, Config{Budget: 1000})
	d.append(packtest.Message("user", "hi"))
	d.write("context/pinned/a.md", strings.Repeat("Never delete the ledger. ", 50))
	d.pack()
	d.write("context/budget", "200")
	_, err := d.b.Current(context.Background(), d.x)
	if !errors.Is(err, ctxabi.ErrOverBudget) || !strings.Contains(err.Error(), "of 200 tokens") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(string(d.x.Errors()), "EFBIG") {
		t.Errorf("not in errors.jsonl: %s", d.x.Errors())
	}
	d.write("context/budget", "1000")
	d.pack()
}

// A reserve above the budget is named as the cause, where the pack is read and where a budget is written.
func TestAReserveThatLeavesNothingIsNamed(t *testing.T) {
	d := newDesk(t, Config{Budget: 1000})
	d.append(packtest.Message("user", "hi"))
	d.write("../../context.yaml", "total_max_tokens: 300\nreserve_tokens: 400\nsources: [{type: journal}]\n")
	const want = "the 1 tokens that reserve_tokens, which is 400, leaves"
	if _, err := d.b.Current(context.Background(), d.x); !errors.Is(err, ctxabi.ErrOverBudget) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if err := d.b.CheckFits(d.x, ctxabi.BudgetFile, []byte("350")); !errors.Is(err, ctxabi.ErrOverBudget) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}
