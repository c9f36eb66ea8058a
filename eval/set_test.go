package eval

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// The example of the documents: a chat with questions, whose evidence is named by number and by id.
func TestHistoriesWithQuestions(t *testing.T) {
	sessions, err := Load([]string{filepath.Join("testdata", "chat.json")}, "", func(why string) { t.Error(why) })
	if err != nil {
		t.Fatal(err)
	}
	if len(sessions) != 2 || sessions[0].Name != "garden" || sessions[1].Name != "chat-2" || sessions[0].Set != "testdata" {
		t.Fatalf("%d sessions, the first is %s/%s", len(sessions), sessions[0].Set, sessions[0].Name)
	}
	r := mustRun(t, sessions, Options{Budgets: []int{500}, Jobs: 1})
	for _, row := range r.Rows {
		if row.Over > 0 || row.WrongPacks > 0 || row.Figures[EvR].N != 2 || row.Figures[AnsIn].N != 2 || row.Figures[FRC].N != 1 {
			t.Errorf("%+v", row)
		}
	}
	if row := r.Rows[0]; row.Questions != 8 || row.Packs != 38+8 {
		t.Errorf("%d questions and %d packs", row.Questions, row.Packs)
	}
	if got := r.Rows[0].Figures[AnsIn].Mean; got >= 1 || got <= 0 {
		t.Errorf("the last messages hold %.3f of the answers: the example shows nothing", got)
	}
}

// Of a chat in which the agent says nothing, the questions alone are asked.
func TestQuestionsAlone(t *testing.T) {
	var records [][]byte
	for i := range 40 {
		records = append(records, recordOf("role", "user", "content", fmt.Sprintf("On day %d we walked from the village to lake %d and back again, and it rained.", i, i*i)))
	}
	s := sessionOf(t, records...)
	s.Questions = []Question{{Question: "To which lake did we walk on day 5?", Answers: []string{"lake 25"}}}
	o := Options{Budgets: []int{500}, Jobs: 1}
	var b strings.Builder
	r := mustRun(t, []*Session{s}, o)
	if err := r.WriteMarkdown(&b, &o); err != nil || !strings.Contains(b.String(), "500 tokens: 0 cuts and 1 question through 1 session") || r.Rows[4].Figures[AnsIn] != (Mean{1, 1}) {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestParseSet(t *testing.T) {
	const hi = `{"role":"user","id":"a","content":"hi"}`
	for data, want := range map[string][]Question{
		`{"history":[` + hi + `]}`: nil,
		`{"history":[` + hi + `],"questions":[{"question":"Q","answer":"x"}]}`:                                                      {{"Q", nil, []string{"x"}}},
		`[{"history":[` + hi + `],"questions":[{"question":"Q","answers":["x",12],"evidence":[1,"a"],"category":3}],"source":"y"}]`: {{"Q", []int{1, 1}, []string{"x", "12"}}},
		`{"history":[` + hi + `,` + hi + `],"questions":[{"question":"Q","answer":2.50,"evidence":[2]}]}`:                           {{"Q", []int{2}, []string{"2.50"}}},
	} {
		sessions, err := parseSet("set", "name", []byte(data))
		if err != nil || len(sessions) != 1 || sessions[0].Name != "name" || !reflect.DeepEqual(sessions[0].Questions, want) {
			t.Errorf("%s: %+v, %v", data, sessions, err)
		}
	}
	for data, want := range map[string]string{
		``:                              "no history",
		`[]`:                            "no history",
		`{"history":`:                   "history 1 is no JSON",
		`{"history":[` + hi + `]} {`:    "history 2 is no JSON",
		`7`:                             "history 1: ",
		`{}`:                            `history 1 (name): it needs a "history"`,
		`{"history":[{"role":"king"}]}`: "message 1: ",
		`[{"history":[` + hi + `]},{"history":[]}]`:                                                       "history 2 (name-2): ",
		`{"history":[` + hi + `],"questions":[{"answer":"x"}]}`:                                           `question 1: it needs a "question"`,
		`{"history":[` + hi + `],"questions":[{"question":"Q"}]}`:                                         `needs an "answer"`,
		`{"history":[` + hi + `],"questions":[{"question":"Q","answer":" "}]}`:                            `needs an "answer"`,
		`{"history":[` + hi + `],"questions":[{"question":"Q","answer":["x"]}]}`:                          "an answer is a text or a number",
		`{"history":[` + hi + `],"questions":[{"question":"Q","evidence":[2]}]}`:                          "evidence 2 is neither",
		`{"history":[` + hi + `],"questions":[{"question":"Q","evidence":["b"]}]}`:                        `evidence "b" is neither`,
		`{"history":[` + hi + `,` + hi + `],"questions":[{"question":"Q","evidence":["a"]}]}`:             "the id of two messages",
		`{"name":"n","history":[` + hi + `],"questions":[{"question":"Q","answer":"x"},{"question":""}]}`: "history 1 (n): question 2: ",
	} {
		if _, err := parseSet("set", "name", []byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}

func FuzzParseSet(f *testing.F) {
	for _, s := range []string{`{"history":[{"role":"user","id":"a","content":"hi"}],"questions":[{"question":"Q","answers":[1e3],"evidence":["a"]}]}`, `[]`, `{"history":[null]}`, `{"history":[{"id":{},"role":"user","content":""}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sessions, err := parseSet("set", "name", data)
		if (err == nil) != (len(sessions) > 0) {
			t.Fatalf("%d sessions, %v", len(sessions), err)
		}
		for _, s := range sessions {
			for line := 1; line <= s.Messages.Len(); line++ {
				raw, err := s.Messages.Record(line)
				if err != nil {
					t.Fatal(err)
				}
				if err := ctxabi.CheckMessage(raw); err != nil {
					t.Fatal(err)
				}
			}
			for _, q := range s.Questions {
				if q.Question == "" || len(q.Answers)+len(q.Evidence) == 0 {
					t.Errorf("%+v", q)
				}
				for _, n := range q.Evidence {
					if n < 1 || n > s.Messages.Len() {
						t.Errorf("evidence %d of %d records", n, s.Messages.Len())
					}
				}
			}
		}
	})
}
