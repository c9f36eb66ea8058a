package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/section"
)

var update = flag.Bool("update", false, "write the golden files")

func example(t *testing.T) []*Session {
	t.Helper()
	sessions, err := Load([]string{filepath.Join("..", "examples", "session")}, "", func(why string) { t.Error(why) })
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

func mustRun(t *testing.T, sessions []*Session, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), sessions, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The table of the example session. Rows of ctxfs are left out, so that the file shows
// the harness and its baselines, not what the compiler chooses today.
func TestGoldenTable(t *testing.T) {
	o := Options{Budgets: []int{4000, 32000}, Cuts: 6, Jobs: 2}
	r := mustRun(t, example(t), o)
	r.Builds = nil
	for _, row := range r.Rows {
		if row.Over > 0 || row.WrongPacks > 0 {
			t.Errorf("%s at %d: %d packs are over the budget, %d break promises: %s", row.Method, row.Budget, row.Over, row.WrongPacks, row.Wrong)
		}
		if row.Method == Ctxfs && (row.Cuts != 6 || row.Compactions == 0 || row.Figures[Prefix].Mean < 0.5 || row.Figures[FRC].Mean < 0.3) {
			t.Errorf("%+v", row)
		}
	}
	var b bytes.Buffer
	if err := r.WriteMarkdown(&b, &o); err != nil {
		t.Fatal(err)
	}
	table := ""
	promises := false
	for l := range strings.Lines(b.String()) {
		if strings.HasPrefix(l, "## ") {
			promises = strings.Contains(l, "promises")
		}
		if !promises && !strings.HasPrefix(l, "| ctxfs ") {
			table += l
		}
	}
	const golden = "testdata/example.md"
	if *update {
		if err := os.WriteFile(golden, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if table != string(want) {
		t.Errorf("the table differs from %s; go test ./eval -update writes it anew\n%s", golden, table)
	}
}

func TestFiguresDoNotDependOnJobs(t *testing.T) {
	sessions := append(example(t), numbered(t, 300))
	var last []byte
	for _, jobs := range []int{1, 3} {
		calls := 0
		r := mustRun(t, sessions, Options{Budgets: []int{4000}, Cuts: 3, Jobs: jobs, Lost: true, Progress: func(done, of int) {
			if calls++; done != calls || of != 2 {
				t.Errorf("progress %d of %d", done, of)
			}
		}})
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && !bytes.Equal(b, last) {
			t.Error("figures differ")
		}
		last = b
		if len(r.Lost) == 0 || r.Lost[0].Identifier == "" || r.Lost[0].Record == 0 || r.Lost[0].Back < 1 {
			t.Errorf("lost: %+v", r.Lost)
		}
	}
}

// Only what is asked for is measured, and it is the same as with all else.
func TestOnly(t *testing.T) {
	sessions := example(t)
	all := mustRun(t, sessions, Options{Budgets: []int{4000}, Cuts: 3, Jobs: 2})
	one := mustRun(t, sessions, Options{Budgets: []int{4000}, Cuts: 3, Jobs: 2, Only: []Figure{FarCtx}})
	for i, row := range one.Rows {
		if row.Figures[FarCtx] != all.Rows[i].Figures[FarCtx] || row.Figures[Prefix].N != 0 || row.Packs != 3 {
			t.Errorf("%+v", row)
		}
	}
	if one.Outputs != nil {
		t.Error("outputs were shortened")
	}
	o := Options{Budgets: []int{4000}, Cuts: 3, Jobs: 2, Only: []Figure{ToolOutputs}}
	var b bytes.Buffer
	if err := mustRun(t, sessions, o).WriteMarkdown(&b, &o); err != nil || strings.Count(b.String(), "\n## ") != 1 {
		t.Errorf("%v\n%s", err, b.String())
	}
	for name, want := range map[string]Figure{"FRCctx": FRCctx, "outputs": ToolOutputs} {
		if got, err := ParseFigure(name); got != want || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := ParseFigure("nice"); err == nil {
		t.Error("any word is a figure")
	}
}

// Where the history fits there is nothing to compare.
func TestAHistoryThatFits(t *testing.T) {
	o := Options{Budgets: []int{1 << 20}, Jobs: 1}
	r := mustRun(t, []*Session{numbered(t, 20)}, o)
	for _, row := range r.Rows {
		if row.Cuts != 0 || row.Packs != 0 || len(row.Figures) != 0 {
			t.Errorf("%+v", row)
		}
	}
	var b bytes.Buffer
	if err := r.WriteMarkdown(&b, &o); err != nil || strings.Contains(b.String(), "NaN") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// Its figures are those that it has beside the others.
func TestCtxfsMeasuredAlone(t *testing.T) {
	o := Options{Budgets: []int{2000, 4000}, Cuts: 2, Jobs: 1, Only: []Figure{FRC, FarCtx}}
	all := mustRun(t, example(t), o)
	o.Alone = true
	alone := mustRun(t, example(t), o)
	var want []Row
	for _, row := range all.Rows {
		if row.Method == Ctxfs {
			want = append(want, row)
		}
	}
	if len(want) != 2 || want[0].Cuts == 0 || !reflect.DeepEqual(alone.Rows, want) {
		t.Errorf("alone:\n%+v\nbeside others:\n%+v", alone.Rows, want)
	}
	if err := alone.WriteMarkdown(io.Discard, &o); err != nil {
		t.Error(err)
	}
}

func TestCutsAreSpreadEvenly(t *testing.T) {
	s := numbered(t, 101) // the agent speaks at odd places
	for most, want := range map[int]string{2: "[26 76]", 5: "[12 32 52 72 92]", 0: fmt.Sprint(evens(2, 100)), 1000: fmt.Sprint(evens(2, 100))} {
		r := &replay{s: s, first: 2, options: &Options{Cuts: most}}
		if got := fmt.Sprint(r.cuts()); got != want {
			t.Errorf("%d cuts: %s, want %s", most, got, want)
		}
	}
}

func evens(from, to int) (list []int) {
	for ; from <= to; from += 2 {
		list = append(list, from)
	}
	return list
}

// A provider is asked once for each message of the agent: what it has in its cache is the pack of the call before, however
// many records came since.
func TestPrefixShareIsThatOfCallsOfTheModel(t *testing.T) {
	c := counterOf(t)
	r := &replay{s: numbered(t, 7), budget: 100, first: 2, counter: c, options: &Options{}} // the model is asked behind 2, 4 and 6
	s := &state{Row: Row{Method: "x", Figures: map[Figure]Mean{}}}
	for n, text := range []string{2: "# a\nb\n", "# a\nb\n## c\n", "# a\nb\n## c\n## d\n", "# a\nx\n", "# a\nb\n## x\n", "# x\n"} {
		if n >= 2 {
			s.step(r, Pack{Text: text, Tokens: c.Count(text)}, n)
		}
	}
	shared := 2 * c.Count("# a\nb\n")
	shared += c.Count("## ")
	of := c.Count("# a\nb\n## c\n## d\n") + c.Count("# a\nb\n## x\n")
	want := float64(shared) / float64(of)
	if got := s.Figures[Prefix]; got != (Mean{want, 1}) {
		t.Errorf("%+v, want %f", got, want)
	}
	if got := s.Figures[Cost].Mean; got != 0.1*want+1.25*(1-want) {
		t.Errorf("cost %f", got)
	}
	if got, want := s.Figures[Effective], (0.1*float64(shared)+1.25*float64(of-shared))/2; got.N != 2 || math.Abs(got.Mean-want) > 1e-9 || s.Calls != 2 {
		t.Errorf("%+v effective tokens in %d calls, want %f", got, s.Calls, want)
	}
}

// A compaction counts where the history exceeds the budget, in whichever pack it is seen; the mean is over calls.
func TestCompactionsOfACall(t *testing.T) {
	r := &replay{s: numbered(t, 9), budget: 100, first: 3, counter: counterOf(t), options: &Options{}} // the model is asked behind 2, 4, 6 and 8
	s := &state{Row: Row{Method: Ctxfs, Figures: map[Figure]Mean{}}}
	for n, compactions := range []int{2: 1, 1, 2, 2, 2, 3, 4} {
		if n >= 2 {
			s.step(r, Pack{Text: "x", Tokens: 1, Compactions: compactions}, n)
		}
	}
	s.finish()
	if got := s.Figures[Compacting]; got != (Mean{1, 3}) || s.Compactions != 3 || s.Calls != 3 {
		t.Errorf("%+v: %d compactions in %d calls", got, s.Compactions, s.Calls)
	}
	other := &state{Row: Row{Method: "x", Calls: 3, Figures: map[Figure]Mean{}}}
	if other.finish(); len(other.Figures) != 0 {
		t.Errorf("%+v", other.Figures)
	}
}

// The call before the first that exceeds the budget is what that one is compared with.
func TestPacksAreComparedFromTheLastCallThatFits(t *testing.T) {
	r := &replay{s: numbered(t, 9)} // the model is asked behind 2, 4, 6 and 8
	for first, want := range map[int]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 6} {
		if r.first = first; r.begin() != want {
			t.Errorf("first %d: from %d, want %d", first, r.begin(), want)
		}
	}
}

// What breaks a promise is seen: packs over the budget, and those that account wrongly.
func TestBrokenPromisesAreSeen(t *testing.T) {
	r := &replay{s: numbered(t, 5), budget: 10, first: 1, counter: counterOf(t), options: &Options{}}
	s := &state{Row: Row{Method: Ctxfs, Figures: map[Figure]Mean{}}}
	s.step(r, Pack{Text: "x", Tokens: 11, Wrong: []string{"record 3 is accounted for 2 times"}}, 5)
	if s.Over != 1 || s.WrongPacks != 1 || s.Wrong[0] != "s, 5 records: record 3 is accounted for 2 times" {
		t.Errorf("%+v", s.Row)
	}
	m := &compiled{s: numbered(t, 5), counter: counterOf(t), budget: 1000}
	if _, err := m.Pack(5); err != nil {
		t.Fatal(err)
	}
	p := Pack{Text: string(m.last.Markdown), Tokens: m.last.Tokens}
	m.check(&p, m.last, 6) // of a history that is one longer
	if !slices.Contains(p.Wrong, "record 6 is accounted for 0 times") || len(p.Wrong) != 1 {
		t.Errorf("%q", p.Wrong)
	}
}

func TestQuestions(t *testing.T) {
	var records [][]byte
	records = append(records, recordOf("role", "user", "content", "My sister Ada lives in Ghent since the spring."))
	for range 100 {
		records = append(records, recordOf("role", "assistant", "content", strings.Repeat("We talk of other things for a while. ", 3)))
	}
	records = append(records, recordOf("role", "user", "content", "My brother Bo keeps bees."))
	s := sessionOf(t, records...)
	s.Questions = []Question{
		{Question: "Where does the sister live?", Evidence: []int{1}, Answers: []string{"Bruges", "in  GHENT"}},
		{Question: "What does Bo keep?", Evidence: []int{1, 102}, Answers: []string{"bees"}},
		{Question: "Who?", Evidence: []int{102}},
	}
	r := mustRun(t, []*Session{s}, Options{Budgets: []int{600}, Jobs: 1, Only: []Figure{EvR, AnsIn}})
	for _, row := range r.Rows {
		want := map[string][2]float64{"last N": {1.5 / 3, 0.5}, "BM25 half + tail": {1, 1}, "head + tail": {1, 1}}
		if w, ok := want[row.Method]; ok && (row.Figures[EvR].Mean != w[0] || row.Figures[AnsIn].Mean != w[1]) {
			t.Errorf("%s: %+v, want %v", row.Method, row.Figures, w)
		}
	}
}

func TestRecipesWithoutTheirFiles(t *testing.T) {
	r := FromRecords(recipe.Default())
	if len(r.Sources) == 0 || len(r.Sources) >= len(recipe.Default().Sources) {
		t.Errorf("%d sources", len(r.Sources))
	}
	for _, s := range r.Sources {
		if s.Type == recipe.TypeFile {
			t.Error("a file is left")
		}
	}
	mustRun(t, []*Session{numbered(t, 80)}, Options{Budgets: []int{1000}, Cuts: 2, Jobs: 1, Recipe: r})
}

// TestRealSessions holds the packs of all real sessions at hand to their promises, and prints the table with -v.
func TestRealSessions(t *testing.T) {
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	step := suite.Pick(t, 9, 1) // from one session to the next
	if _, err := os.Stat(filepath.Join(dir, "sessions")); err != nil {
		t.Skip("no real sessions here; set CTXFS_TESTDATA")
	}
	sessions, err := Load([]string{filepath.Join(dir, "sessions")}, "", func(why string) { t.Log(why) })
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Budgets: []int{4000, 8000, 16000, 32000}, Cuts: 10, Jobs: 2}
	var some []*Session
	for i := step / 2; i < len(sessions); i += step {
		some = append(some, sessions[i])
	}
	r := mustRun(t, some, o)
	for _, row := range r.Rows {
		if row.Over > 0 || row.WrongPacks > 0 {
			t.Errorf("%s at %d: %d packs are over the budget, %d break promises: %s", row.Method, row.Budget, row.Over, row.WrongPacks, row.Wrong)
		}
	}
	var b strings.Builder
	if err := r.WriteMarkdown(&b, &o); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
}

// The packs of a run lack the blocks of the sections that it is without, and are full nevertheless.
func TestWithoutSections(t *testing.T) {
	const cut = 5
	headings := map[string][]string{
		section.Requests: {"user's words (messages"}, section.Conclusions: {"summary (messages"},
		section.Quotes: {"key lines (messages"}, section.Files: nil, section.Runs: nil, section.Folded: {" assistant (folded) "},
	}
	s := example(t)[0]
	text := func(names ...string) string {
		set, err := section.SetOf(names...)
		if err != nil {
			t.Fatal(err)
		}
		m := &compiled{s: s, counter: counterOf(t), budget: 6000, without: set}
		p, err := m.Pack(s.Messages.Len() - cut)
		if err != nil || len(p.Wrong) > 0 || p.Tokens > 6000 {
			t.Fatal(names, err, p.Wrong, p.Tokens)
		}
		return p.Text
	}

	all := text()
	for name, list := range headings {
		without := text(name)
		if without == all {
			t.Errorf("without %s the pack is the same", name)
		}
		for _, heading := range list {
			if !strings.Contains(all, heading) || strings.Contains(without, heading) {
				t.Errorf("%s: %q in the whole pack: %v, without the section: %v", name, heading,
					strings.Contains(all, heading), strings.Contains(without, heading))
			}
		}
	}
	if none := text(section.Files, section.Runs); strings.Contains(none, "files and runs (as of") {
		t.Errorf("files and runs in %s", none)
	}
	bare := text(section.Names()...)
	if strings.Contains(bare, "key lines (messages") || strings.Contains(bare, "summary (messages") {
		t.Errorf("sections in %s", bare)
	}
}
