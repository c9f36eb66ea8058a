package exam

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestParseFiles(t *testing.T) {
	questions := []Question{{"q1", Why, "Why?", "So."}, {"q2", Now, "What?", "That."}}
	parse := map[string]func(string) error{
		"questions": func(s string) error { _, err := ParseQuestions([]byte(s)); return err },
		"answers":   func(s string) error { _, err := ParseAnswers([]byte(s), questions); return err },
		"grades":    func(s string) error { _, err := ParseGrades([]byte(s), questions, 2); return err },
	}
	const q = `{"id":"q1","kind":"why","question":"Why?","reference":"So."}`
	for _, c := range []struct{ file, data, want string }{
		{"questions", `[` + q + `]`, ""},
		{"questions", ``, "no list"},
		{"questions", `[]`, "empty"},
		{"questions", `{"id":"q1"}`, "no list"},
		{"questions", `[` + q + `] []`, "more behind"},
		{"questions", `[` + q + `,` + q + `]`, "question 2 (q1): another"},
		{"questions", strings.Replace(`[`+q+`]`, "why", "how", 1), "the kinds are asked, files, why, open, now"},
		{"questions", strings.Replace(`[`+q+`]`, "So.", " ", 1), "question 1 needs"},
		{"questions", strings.Replace(`[`+q+`]`, "reference", "answer", 1), "unknown field"},
		{"answers", `[{"id":"q1","answer":"a"},{"id":"q2","answer":""}]`, ""},
		{"answers", `[{"id":"q1","answer":"a"}]`, "no answer to q2"},
		{"answers", `[{"id":"q1","answer":"a"},{"id":"q1","answer":"b"}]`, "two answers to q1"},
		{"answers", `[{"id":"q3","answer":"a"}]`, "was not asked"},
		{"grades", `[{"id":"q1","name":"a","grade":1},{"id":"q1","name":"b","grade":0},{"id":"q2","name":"a","grade":0.5},{"id":"q2","name":"b","grade":0}]`, ""},
		{"grades", `[{"id":"q1","name":"a","grade":1}]`, "no grade of answer b to q1"},
		{"grades", `[{"id":"q1","name":"c","grade":1}]`, "the answers are a, b"},
		{"grades", `[{"id":"q1","name":"a","grade":0.7}]`, "1, 0.5 or 0"},
		{"grades", `[{"id":"q1","name":"a","grade":1},{"id":"q1","name":"a","grade":1}]`, "two grades"},
		{"grades", `[{"id":"q9","name":"a","grade":1}]`, "was not asked"},
	} {
		err := parse[c.file](c.data)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.file, c.data, err, c.want)
		}
	}
}

func FuzzParseQuestions(f *testing.F) {
	f.Add([]byte(`[{"id":"q","kind":"now","question":"?","reference":"!"}]`))
	f.Add([]byte(`[null]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseQuestions(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseQuestions(again)
		if err != nil || !slices.Equal(got, list) {
			t.Fatalf("%s: %v", again, err)
		}
		// Grades and answers of any bytes end, too.
		_, _ = ParseAnswers(data, list)
		_, _ = ParseGrades(data, list, 3)
	})
}
