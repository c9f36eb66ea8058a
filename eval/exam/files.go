package exam

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files of an exam, below its directory. An N stands for the name of a prefix, an R for that of a reader.
const (
	planFile     = "exam.json"
	keyFile      = "key.json"
	historiesDir = "histories" // N.jsonl, N.md
	questionsDir = "questions" // N.json
	readersDir   = "readers"   // R/N/prompt.md, R/N/questions.json, R/N/answers.json
	gradersDir   = "graders"   // N/sheet.json, N/grades.json
	readmeFile   = "README.md"
	promptFile   = "prompt.md"
	askedFile    = "questions.json"
	answersFile  = "answers.json"
	sheetFile    = "sheet.json"
	gradesFile   = "grades.json"
)

// Kind is what a question asks for.
type Kind string

// The kinds of questions.
const (
	Asked Kind = "asked" // what was asked for, and facts
	Files Kind = "files" // files and their state
	Why   Kind = "why"   // decisions and their reasons
	Open  Kind = "open"  // what is open, the last state
	Now   Kind = "now"   // what holds now
)

// Kinds are all kinds, in the order of the tables.
var Kinds = []Kind{Asked, Files, Why, Open, Now}

// Question is what readers are asked about one prefix. Kind and Reference are not shown to them.
type Question struct {
	ID        string `json:"id"`
	Kind      Kind   `json:"kind"`
	Question  string `json:"question"`
	Reference string `json:"reference"`
}

// Answer is what a reader answered to a question.
type Answer struct {
	ID     string `json:"id"`
	Answer string `json:"answer"`
}

// Grade is what an answer is worth. Name is the neutral name of the answer among those to the question.
type Grade struct {
	ID    string  `json:"id"`
	Name  string  `json:"name"`
	Grade float64 `json:"grade"`
}

// ParseQuestions returns the questions of a file. It returns an error that names the question if one lacks something,
// is of no kind, or has the id of another.
func ParseQuestions(data []byte) ([]Question, error) {
	all, err := parseList[Question](data)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, q := range all {
		switch {
		case strings.TrimSpace(q.ID) == "" || strings.TrimSpace(q.Question) == "" || strings.TrimSpace(q.Reference) == "":
			return nil, fmt.Errorf("question %d needs an id, a kind, a question and a reference", i+1)
		case !slices.Contains(Kinds, q.Kind):
			return nil, fmt.Errorf("question %d (%s): %q is no kind; the kinds are %s", i+1, q.ID, q.Kind, joined(Kinds))
		case seen[q.ID]:
			return nil, fmt.Errorf("question %d (%s): another question has that id", i+1, q.ID)
		}
		seen[q.ID] = true
	}
	return all, nil
}

// ParseAnswers returns the answers of a file, by the id of their question. It returns an error that names the question
// unless each has one answer.
func ParseAnswers(data []byte, questions []Question) (map[string]string, error) {
	all, err := parseList[Answer](data)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, a := range all {
		if !slices.ContainsFunc(questions, func(q Question) bool { return q.ID == a.ID }) {
			return nil, fmt.Errorf("an answer to %q, which was not asked", a.ID)
		}
		if _, twice := out[a.ID]; twice {
			return nil, fmt.Errorf("two answers to %s", a.ID)
		}
		out[a.ID] = a.Answer
	}
	for _, q := range questions {
		if _, ok := out[q.ID]; !ok {
			return nil, fmt.Errorf("no answer to %s", q.ID)
		}
	}
	return out, nil
}

// ParseGrades returns the grades of a file, by the id of the question and the name of the answer, of which there are so
// many to each question. It returns an error that names the answer unless each has one grade, which is 1, 0.5 or 0.
func ParseGrades(data []byte, questions []Question, answers int) (map[string]map[string]float64, error) {
	all, err := parseList[Grade](data)
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]float64{}
	for _, q := range questions {
		out[q.ID] = map[string]float64{}
	}
	for _, g := range all {
		of, asked := out[g.ID]
		_, twice := of[g.Name]
		switch {
		case !asked:
			return nil, fmt.Errorf("a grade of %q, which was not asked", g.ID)
		case !slices.Contains(answerNames(answers), g.Name):
			return nil, fmt.Errorf("a grade of answer %q to %s; the answers are %s", g.Name, g.ID, strings.Join(answerNames(answers), ", "))
		case twice:
			return nil, fmt.Errorf("two grades of answer %s to %s", g.Name, g.ID)
		case g.Grade != 0 && g.Grade != 0.5 && g.Grade != 1:
			return nil, fmt.Errorf("answer %s to %s: a grade is 1, 0.5 or 0, not %v", g.Name, g.ID, g.Grade)
		}
		of[g.Name] = g.Grade
	}
	for _, q := range questions {
		for _, name := range answerNames(answers) {
			if _, ok := out[q.ID][name]; !ok {
				return nil, fmt.Errorf("no grade of answer %s to %s", name, q.ID)
			}
		}
	}
	return out, nil
}

// answerNames returns the neutral names of n answers.
func answerNames(n int) (names []string) {
	for i := range n {
		names = append(names, string(rune('a'+i)))
	}
	return names
}

func joined(kinds []Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// parseList decodes a JSON list of at least one object, and nothing behind it.
func parseList[T any](data []byte) (list []T, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("no list of the form that is wanted: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the list")
	}
	if len(list) == 0 {
		return nil, errors.New("the list is empty")
	}
	return list, nil
}

// readFile returns what parse makes of a file; ok is false if there is no such file. Errors name the file.
func readFile[T any](file string, parse func([]byte) (T, error)) (out T, ok bool, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return out, false, nil
	}
	if err == nil {
		out, err = parse(data)
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	return out, err == nil, err
}

// parseObject decodes a file that this package wrote.
func parseObject[T any](data []byte) (out T, err error) {
	err = json.Unmarshal(data, &out)
	return out, err
}

// writeJSON writes a value as a file that people can read, with the directories above it.
func writeJSON(file string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return writeFile(file, b.Bytes())
}

func writeFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o666)
}
