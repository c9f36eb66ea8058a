package exam

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/eval"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

func example(t *testing.T) []*eval.Session {
	t.Helper()
	sessions, err := eval.Load([]string{filepath.Join("..", "..", "examples", "session")}, "", func(why string) { t.Error(why) })
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

func exampleQuestions(t *testing.T) []Question {
	t.Helper()
	list, ok, err := readFile(filepath.Join("testdata", "example.questions.json"), ParseQuestions)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return list
}

// needles are what a prompt must hold word for word of each answer, for readers that cannot read.
func needles(t *testing.T) map[string][]string {
	t.Helper()
	out, ok, err := readFile(filepath.Join("testdata", "example.needles.json"), parseObject[map[string][]string])
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return out
}

func mustPrepare(t *testing.T, sessions []*eval.Session, o Options) *Status {
	t.Helper()
	s, err := Prepare(sessions, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = writeFile(to, data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// wrote writes a value as JSON.
func wrote(t *testing.T, file string, v any) {
	t.Helper()
	if err := writeJSON(file, v); err != nil {
		t.Fatal(err)
	}
}

// answerAll answers as a reader that knows a thing if its needles stand in the prompt, and reports how many of all it knew.
func answerAll(t *testing.T, dir string, missing []string) {
	t.Helper()
	keys := needles(t)
	for _, file := range missing {
		folder := filepath.Dir(file)
		prompt := read(t, filepath.Join(folder, promptFile))
		sheet := read(t, filepath.Join(folder, askedFile))
		for _, secret := range []string{"reference", "kind", eval.Ctxfs + `"`, "head-tail"} {
			if strings.Contains(sheet, secret) {
				t.Errorf("a reader's sheet has %q", secret)
			}
		}
		asked, err := parseList[askedQuestion]([]byte(sheet))
		if err != nil {
			t.Fatal(err)
		}
		var answers []Answer
		for _, q := range asked {
			a := "known"
			for _, needle := range keys[q.ID] {
				if !strings.Contains(prompt, needle) {
					a = "unknown"
				}
			}
			answers = append(answers, Answer{q.ID, a})
		}
		wrote(t, file, answers)
	}
}

// gradeAll grades what answerAll answered.
func gradeAll(t *testing.T, missing []string) {
	t.Helper()
	for _, file := range missing {
		text := read(t, filepath.Join(filepath.Dir(file), sheetFile))
		if strings.Contains(text, `"R0`) || strings.Contains(text, "head-tail") {
			t.Error("a grader sees whose an answer is")
		}
		sheet, err := parseList[gradedQuestion]([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var grades []Grade
		for _, q := range sheet {
			for _, a := range q.Answers {
				grades = append(grades, Grade{q.ID, a.Name, map[string]float64{"known": 1}[a.Answer]})
			}
		}
		wrote(t, file, grades)
	}
}

// An exam about the example, from its sessions to its score, step by step.
func TestExam(t *testing.T) {
	dir := t.TempDir()
	external := filepath.Join(dir, "made")
	methods, err := ParseMethods([]string{"last", "head-tail", eval.Ctxfs, "poem=" + external})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Out: filepath.Join(dir, "exam"), Budget: 8000, Methods: methods, Parts: 1}
	sessions := example(t)

	// 1. Histories.
	s := mustPrepare(t, sessions, o)
	questions := filepath.Join(o.Out, questionsDir, "P01.json")
	if len(s.Prefixes) != 1 || s.Readers != 0 || !slices.Equal(s.Missing, []string{questions}) || len(s.Doubts) > 0 {
		t.Fatalf("%+v", s)
	}
	history := read(t, filepath.Join(o.Out, historiesDir, "P01.md"))
	for id, all := range needles(t) {
		for _, needle := range all {
			if !strings.Contains(history, needle) && !strings.Contains(history, strings.Trim(fmt.Sprintf("%q", needle), `"`)) {
				t.Errorf("%s: %q is not in the history", id, needle)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(o.Out, readersDir)); !errors.Is(err, os.ErrNotExist) {
		t.Error("there are prompts before there are questions")
	}

	// 2. Prompts, when there are questions, and those that are made elsewhere.
	copyFile(t, filepath.Join("testdata", "example.questions.json"), questions)
	if s = mustPrepare(t, sessions, o); !slices.Equal(s.Missing, []string{filepath.Join(external, "P01.md")}) || s.Readers != 0 {
		t.Fatalf("%+v", s)
	}
	if err := writeFile(filepath.Join(external, "P01.md"), []byte("The gateway hums, the tokens flow.\n")); err != nil {
		t.Fatal(err)
	}
	if s = mustPrepare(t, sessions, o); s.Readers != 4 || s.Graders || len(s.Missing) != 4 {
		t.Fatalf("%+v", s)
	}

	// 3. Sheets for graders, when there are all answers.
	answerAll(t, o.Out, s.Missing[:3])
	if s = mustPrepare(t, sessions, o); s.Graders || len(s.Missing) != 1 {
		t.Fatalf("%+v", s)
	}
	answerAll(t, o.Out, s.Missing)
	if s = mustPrepare(t, sessions, o); !s.Graders || s.Done || len(s.Missing) != 1 {
		t.Fatalf("%+v", s)
	}
	if _, err := AddUp([]string{o.Out}, ""); err == nil || !strings.Contains(err.Error(), "not all answers are graded") {
		t.Errorf("a score without grades: %v", err)
	}
	gradeAll(t, s.Missing)
	if s = mustPrepare(t, sessions, o); !s.Done {
		t.Fatalf("%+v", s)
	}

	// 4. The score.
	score, err := AddUp([]string{o.Out}, "")
	if err != nil {
		t.Fatal(err)
	}
	all := score.Kinds[0]
	t.Logf("%+v", all.Means)
	if score.Against != eval.Ctxfs || all.Questions != len(exampleQuestions(t)) || all.Judged || all.Means["poem"] != 0 || all.Means["last"] >= all.Means[eval.Ctxfs] {
		t.Errorf("%+v", score)
	}
	twice, err := AddUp([]string{o.Out, o.Out}, "last")
	if err != nil {
		t.Fatal(err)
	}
	if k := twice.Kinds[0]; !k.Judged || k.Questions != 2*all.Questions || k.Means["last"] != all.Means["last"] || twice.Kinds[1].Judged {
		t.Errorf("%+v", k)
	}
	for _, d := range twice.Kinds[0].Differences {
		if d.Method == "poem" && (d.Verdict != Better || d.Mean != all.Means["last"] || d.Low >= d.Mean || d.High <= d.Mean) {
			t.Errorf("last against %s is %s: %+v", d.Method, d.Verdict, d)
		}
	}
	var b strings.Builder
	if err := score.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(), fmt.Sprintf("| ctxfs | %.3f |", all.Means[eval.Ctxfs])) || !strings.Contains(b.String(), "| last | all | 25 | +") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if _, err := AddUp([]string{o.Out}, "nobody"); err == nil {
		t.Error("methods are compared with one that is not there")
	}

	// What was there stays: questions may not change, nor sessions, budget or methods.
	wrote(t, questions, []Question{{"x", Why, "Why?", "So."}})
	if _, err := Prepare(sessions, o); err == nil || !strings.Contains(err.Error(), "was changed after the prompts were made") {
		t.Errorf("other questions: %v", err)
	}
	if _, err := AddUp([]string{o.Out}, ""); err == nil || !strings.Contains(err.Error(), "was changed after the prompts were made") {
		t.Errorf("a score with other questions: %v", err)
	}
	copyFile(t, filepath.Join("testdata", "example.questions.json"), questions)
	for name, other := range map[string]Options{
		"budget":  {Out: o.Out, Budget: 4000, Methods: methods, Parts: 1},
		"parts":   {Out: o.Out, Budget: 8000, Methods: methods, Parts: 2},
		"methods": {Out: o.Out, Budget: 8000, Methods: methods[:3], Parts: 1},
	} {
		if _, err := Prepare(sessions, other); !errors.Is(err, ErrOther) {
			t.Errorf("another exam by its %s: %v", name, err)
		}
	}
}

// A prompt that was made elsewhere may have as many tokens as the others.
func TestPromptsKeepTheBudget(t *testing.T) {
	dir := t.TempDir()
	o := Options{Out: filepath.Join(dir, "exam"), Budget: 8000, Methods: []Method{{"last", ""}, {"long", dir}}, Parts: 1}
	mustPrepare(t, example(t), o)
	copyFile(t, filepath.Join("testdata", "example.questions.json"), filepath.Join(o.Out, questionsDir, "P01.json"))
	if err := writeFile(filepath.Join(dir, "P01.md"), []byte(strings.Repeat("many words ", 5000))); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(example(t), o); err == nil || !strings.Contains(err.Error(), "may have 8000") {
		t.Errorf("a prompt over the budget: %v", err)
	}
	o = Options{Out: filepath.Join(dir, "small"), Budget: 100000, Methods: o.Methods}
	if _, err := Prepare(example(t), o); err == nil || !strings.Contains(err.Error(), "show nothing") {
		t.Errorf("a history that fits: %v", err)
	}
}

// Each prompt is read once, no reader reads about a session twice, and the readers of a group read each method as often as
// the number of its histories allows.
func TestTheSquareIsLatin(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var prefixes []Prefix
		for session := range 1 + rng.IntN(6) {
			for range 1 + rng.IntN(mostParts) {
				prefixes = append(prefixes, Prefix{ID: fmt.Sprintf("P%02d", len(prefixes)+1), session: session})
			}
		}
		methods := []string{"a", "b", "c", "d", "e"}[:2+rng.IntN(4)]
		readers := assign(prefixes, methods)
		read := map[string]int{}
		for _, r := range readers {
			sessions, times := map[int]bool{}, map[string]int{}
			for _, p := range r.Prompts {
				read[p.Prefix+p.Method]++
				times[p.Method]++
				of := prefixes[slices.IndexFunc(prefixes, func(f Prefix) bool { return f.ID == p.Prefix })].session
				if sessions[of] {
					t.Fatalf("%s reads session %d twice: %+v", r.ID, of, r)
				}
				sessions[of] = true
			}
			for _, m := range methods {
				if n := len(r.Prompts) / len(methods); times[m] < n || times[m] > n+1 {
					t.Fatalf("%s reads %s %d times in %d prompts", r.ID, m, times[m], len(r.Prompts))
				}
			}
		}
		for _, p := range prefixes {
			for _, m := range methods {
				if read[p.ID+m] != 1 {
					t.Fatalf("the prompt of %s for %s is read %d times", m, p.ID, read[p.ID+m])
				}
			}
		}
	}
}

// The parts of a session are all of its records, each once, of about the same size.
func TestPartsAreTheSession(t *testing.T) {
	s := example(t)[0]
	for n := 1; n <= mostParts; n++ {
		prefixes, err := makePrefixes([]*eval.Session{s}, &Options{Budget: 500, Parts: n})
		if err != nil {
			t.Fatal(err)
		}
		next := s.Lead() + 1
		for _, p := range prefixes {
			if p.From != next || !s.OpensHere(p.From) && p.From > s.Lead()+1 {
				t.Errorf("%d parts: %+v begins at %d", n, p.ID, p.From)
			}
			if p.Tokens < s.Tokens()/n/3 || p.Tokens > s.Tokens()*2/n {
				t.Errorf("%d parts: %s has %d of %d tokens", n, p.ID, p.Tokens, s.Tokens())
			}
			next = p.To + 1
		}
		if len(prefixes) != n || next != s.Messages.Len()+1 {
			t.Errorf("%d parts of %d records end at %d", len(prefixes), s.Messages.Len(), next-1)
		}
	}
	// By its length: 86,563 tokens hold one prompt of 8,000 with 15 % of its history, and six of 2,000.
	for budget, want := range map[int]int{50000: 1, 8000: 1, 5000: 2, 2000: 6, 500: 6} {
		if prefixes, err := makePrefixes([]*eval.Session{s}, &Options{Budget: budget}); err != nil || len(prefixes) != want {
			t.Errorf("%d tokens: %d parts, want %d; %v", budget, len(prefixes), want, err)
		}
	}
	if _, err := makePrefixes([]*eval.Session{s}, &Options{Budget: 500, Parts: 1000}); err == nil {
		t.Error("a session of 305 records has 1,000 parts")
	}
}

func TestParseMethods(t *testing.T) {
	got, err := ParseMethods([]string{"last", "ctxfs", "old-1.2=dir/x=y"})
	if want := []Method{{"last", ""}, {"ctxfs", ""}, {"old-1.2", "dir/x=y"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][]string{nil, {"last"}, {"last", "last"}, {"last", "nice"}, {"last", "x="}, {"last", "=x"}, {"last", "A b=x"}, {"last", "last=x"}} {
		if _, err := ParseMethods(bad); err == nil {
			t.Errorf("%q are methods", bad)
		}
	}
}

func TestIntervals(t *testing.T) {
	repeat := func(values []float64, n int) (out []float64) {
		for range n {
			out = append(out, values...)
		}
		return out
	}
	for _, c := range []struct {
		differences     []float64
		mean, low, high float64 // of the interval within .03, from the normal approximation
	}{
		{nil, 0, 0, 0},
		{[]float64{.5}, .5, .5, .5},
		{repeat([]float64{1}, 50), 1, 1, 1},
		{repeat([]float64{1, 0}, 50), .5, .402, .598},
		{repeat([]float64{1, 0, 0, -1}, 25), 0, -.139, .139},
		{repeat([]float64{.5, .5, 0, 0, -.5}, 20), .1, .022, .178},
	} {
		mean, low, high := interval(c.differences)
		for _, pair := range [][2]float64{{mean, c.mean}, {low, c.low}, {high, c.high}} {
			if d := pair[0] - pair[1]; d > .03 || d < -.03 {
				t.Errorf("%d differences: %.3f, %.3f to %.3f; want %+v", len(c.differences), mean, low, high, c)
				break
			}
		}
		if again, l, h := interval(c.differences); again != mean || l != low || h != high {
			t.Error("an interval differs from itself")
		}
	}
	for want, bounds := range map[Verdict][2]float64{Better: {.01, .2}, Worse: {-.2, -.01}, Unclear: {-.01, .2}} {
		if got := verdictOf(bounds[0], bounds[1]); got != want {
			t.Errorf("%v is %s, want %s", bounds, got, want)
		}
	}
}
