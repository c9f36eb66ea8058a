package exam

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ctxfs/ctxfs/eval"
)

// leastJudged is how many questions of a kind it takes to judge by them; fewer are shown alone.
const leastJudged = 40

// AllKinds stands for the questions of all kinds in a [Score].
const AllKinds Kind = "all"

// Score is what the methods of one or several exams reached.
type Score struct {
	Prefixes int         `json:"prefixes"`
	Methods  []string    `json:"methods"`
	Against  string      `json:"against"` // the method that the others are compared with
	Kinds    []KindScore `json:"kinds"`   // all of them first
}

// KindScore is what they reached at the questions of one kind.
type KindScore struct {
	Kind        Kind               `json:"kind"`
	Questions   int                `json:"questions"`
	Judged      bool               `json:"judged"` // there are enough of them
	Means       map[string]float64 `json:"means"`  // of grades, by method
	Differences []Difference       `json:"differences,omitempty"`
}

// Difference is how much better Score.Against did than a method, at the same questions.
type Difference struct {
	Method  string  `json:"method"`
	Mean    float64 `json:"mean"`
	Low     float64 `json:"low"` // of an interval of 95 %
	High    float64 `json:"high"`
	Verdict Verdict `json:"verdict"`
}

// Verdict is what a difference proves.
type Verdict string

// The verdicts.
const (
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	Unclear   Verdict = "unclear"
	NotJudged Verdict = "not judged" // too few questions
)

// graded is one question with the grades of all methods.
type graded struct {
	kind   Kind
	grades map[string]float64
}

// AddUp adds up the grades of finished exams. The others are compared with the method against; if it is "", with ctxfs,
// or the first one. It returns an error if a directory holds no finished exam, or if their methods differ.
func AddUp(dirs []string, against string) (*Score, error) {
	var out *Score
	var all []graded
	for _, dir := range dirs {
		plan, ok, err := readFile(filepath.Join(dir, planFile), parseObject[Plan])
		if err != nil {
			return nil, err
		}
		key, prompts, err := readFile(filepath.Join(dir, keyFile), parseObject[*Key])
		if err != nil {
			return nil, err
		}
		if !ok || !prompts {
			return nil, fmt.Errorf("%s: no exam with prompts is there", dir)
		}
		if out == nil {
			out = &Score{Methods: key.Methods}
		}
		if !slices.Equal(slices.Sorted(slices.Values(out.Methods)), slices.Sorted(slices.Values(key.Methods))) {
			return nil, fmt.Errorf("%s compares %q, the one before %q", dir, key.Methods, out.Methods)
		}
		out.Prefixes += len(plan.Prefixes)
		for _, p := range plan.Prefixes {
			some, err := key.gradesOf(dir, p.ID)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	if out == nil {
		return nil, errors.New("no exam was named")
	}
	return out, out.add(all, against)
}

// gradesOf returns the questions about a prefix with their grades.
func (k *Key) gradesOf(dir, prefix string) (out []graded, err error) {
	if err := k.checkQuestions(dir); err != nil {
		return nil, err
	}
	questions, _, err := readFile(questionsFile(dir, prefix), ParseQuestions)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, gradersDir, prefix, gradesFile)
	grades, ok, err := readFile(file, func(data []byte) (map[string]map[string]float64, error) {
		return ParseGrades(data, questions, len(k.Methods))
	})
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s is missing: not all answers are graded", file)
	}
	names := answerNames(len(k.Methods))
	for _, q := range questions {
		g := graded{q.Kind, map[string]float64{}}
		for i, reader := range k.Names[prefix][q.ID] {
			g.grades[k.methodOf(reader, prefix)] = grades[q.ID][names[i]]
		}
		if len(g.grades) != len(k.Methods) {
			return nil, fmt.Errorf("%s: the key names %d readers of %s in %s, and there are %d methods", dir, len(g.grades), q.ID, prefix, len(k.Methods))
		}
		out = append(out, g)
	}
	return out, nil
}

// add computes the figures of each kind.
func (s *Score) add(all []graded, against string) error {
	s.Against = against
	if s.Against == "" {
		s.Against = s.Methods[0]
		if slices.Contains(s.Methods, eval.Ctxfs) {
			s.Against = eval.Ctxfs
		}
	}
	if !slices.Contains(s.Methods, s.Against) {
		return fmt.Errorf("no method is named %q; there are %q", against, s.Methods)
	}
	for _, kind := range append([]Kind{AllKinds}, Kinds...) {
		of := all
		if kind != AllKinds {
			of = slices.DeleteFunc(slices.Clone(all), func(g graded) bool { return g.kind != kind })
		}
		if len(of) > 0 {
			s.Kinds = append(s.Kinds, s.kind(kind, of))
		}
	}
	return nil
}

func (s *Score) kind(kind Kind, of []graded) KindScore {
	k := KindScore{Kind: kind, Questions: len(of), Judged: len(of) >= leastJudged, Means: map[string]float64{}}
	for _, method := range s.Methods {
		var grades, differences []float64
		for _, g := range of {
			grades = append(grades, g.grades[method])
			differences = append(differences, g.grades[s.Against]-g.grades[method])
		}
		k.Means[method] = meanOf(grades)
		if method == s.Against {
			continue
		}
		d := Difference{Method: method, Verdict: NotJudged}
		d.Mean, d.Low, d.High = interval(differences)
		if k.Judged {
			d.Verdict = verdictOf(d.Low, d.High)
		}
		k.Differences = append(k.Differences, d)
	}
	return k
}

func verdictOf(low, high float64) Verdict {
	switch {
	case low > 0:
		return Better
	case high < 0:
		return Worse
	}
	return Unclear
}
