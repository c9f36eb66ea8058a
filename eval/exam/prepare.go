package exam

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ctxfs/ctxfs/eval"
)

// Options say which exam is prepared.
type Options struct {
	Out      string // its directory
	Budget   int    // tokens of a prompt
	Encoding string
	Methods  []Method
	Parts    int // into how many parts each session is cut; 0: by its length
}

// Status is how far an exam has come.
type Status struct {
	Dir      string
	Prefixes []Prefix
	Doubts   []string // why the exam may show little
	Readers  int      // 0: there are no prompts yet
	Graders  bool     // there are sheets for graders
	Done     bool     // all grades are there
	Missing  []string // the files that the next step waits for
}

// ErrOther means that a directory holds an exam of other sessions, another budget or other methods.
var ErrOther = errors.New("it holds another exam; choose another directory, or remove that one")

// Prepare goes on with the exam in o.Out as far as the files there allow. It returns [ErrOther], wrapped, if another
// exam is there, and an error if a file cannot be read or written, is not of its form, or if a prompt exceeds the budget.
func Prepare(sessions []*eval.Session, o Options) (*Status, error) {
	prefixes, err := makePrefixes(sessions, &o)
	if err != nil {
		return nil, err
	}
	status := &Status{Dir: o.Out, Prefixes: prefixes}
	for _, p := range prefixes {
		if float64(o.Budget) > mostShare*float64(p.Tokens) {
			status.Doubts = append(status.Doubts, fmt.Sprintf("%s has %d tokens: prompts of %d hold much of it, and will differ little", p.ID, p.Tokens, o.Budget))
		}
	}
	if err := writePlan(prefixes, &o); err != nil {
		return nil, err
	}
	questions, err := readQuestions(&o, status)
	if err != nil || len(status.Missing) > 0 {
		return status, err
	}
	key, err := makePrompts(questions, &o, status)
	if err != nil || len(status.Missing) > 0 {
		return status, err
	}
	status.Readers = len(key.Readers)
	answers, err := key.readAnswers(o.Out, questions, status)
	if err != nil || len(status.Missing) > 0 {
		return status, err
	}
	if err := key.writeGraderSheets(o.Out, questions, answers); err != nil {
		return nil, err
	}
	status.Graders = true
	for _, p := range prefixes {
		file := filepath.Join(o.Out, gradersDir, p.ID, gradesFile)
		_, ok, err := readFile(file, func(data []byte) (map[string]map[string]float64, error) {
			return ParseGrades(data, questions[p.ID], len(key.Methods))
		})
		if err != nil {
			return nil, err
		}
		if !ok {
			status.Missing = append(status.Missing, file)
		}
	}
	status.Done = len(status.Missing) == 0
	return status, nil
}

// writePlan writes the prefixes, unless they are there.
func writePlan(prefixes []Prefix, o *Options) error {
	plan := Plan{o.Budget, o.Encoding, prefixes}
	file := filepath.Join(o.Out, planFile)
	there, ok, err := readFile(file, parseObject[Plan])
	if err != nil {
		return err
	}
	if ok {
		if !there.equal(&plan) {
			return fmt.Errorf("%s: %w", o.Out, ErrOther)
		}
		return nil
	}
	for i := range prefixes {
		if err := prefixes[i].write(o.Out); err != nil {
			return err
		}
	}
	if err := writeSheet(filepath.Join(o.Out, questionsDir, readmeFile), "author.md"); err != nil {
		return err
	}
	return writeJSON(file, plan)
}

// equal reports whether two plans are about the same histories. How a program counts them does not matter.
func (p *Plan) equal(other *Plan) bool {
	return p.Budget == other.Budget && p.Encoding == other.Encoding && slices.EqualFunc(p.Prefixes, other.Prefixes, func(a, b Prefix) bool {
		return a.ID == b.ID && a.Set == b.Set && a.Session == b.Session && a.From == b.From && a.To == b.To && a.SHA256 == b.SHA256
	})
}

// readQuestions returns the questions of each prefix, by its id.
func readQuestions(o *Options, status *Status) (map[string][]Question, error) {
	out := map[string][]Question{}
	for _, p := range status.Prefixes {
		file := questionsFile(o.Out, p.ID)
		list, ok, err := readFile(file, ParseQuestions)
		if err != nil {
			return nil, err
		}
		if !ok {
			status.Missing = append(status.Missing, file)
		}
		out[p.ID] = list
	}
	return out, nil
}

func questionsFile(dir, prefix string) string {
	return filepath.Join(dir, questionsDir, prefix+".json")
}

// makePrompts writes the prompts and the sheets of readers, unless they are there, and returns who reads what.
func makePrompts(questions map[string][]Question, o *Options, status *Status) (*Key, error) {
	file := filepath.Join(o.Out, keyFile)
	key, ok, err := readFile(file, parseObject[*Key])
	if err != nil {
		return nil, err
	}
	names := make([]string, len(o.Methods))
	for i, m := range o.Methods {
		names[i] = m.Name
	}
	if ok {
		if !slices.Equal(names, key.Methods) {
			return nil, fmt.Errorf("%s: its methods are %q: %w", o.Out, key.Methods, ErrOther)
		}
		return key, key.checkQuestions(o.Out)
	}
	for _, m := range o.Methods {
		files, err := m.missing(status.Prefixes)
		if err != nil {
			return nil, err
		}
		status.Missing = append(status.Missing, files...)
	}
	if len(status.Missing) > 0 {
		return nil, nil
	}
	key = &Key{Methods: names, Readers: assign(status.Prefixes, names), Questions: map[string]string{}, Names: map[string]map[string][]string{}}
	for i := range status.Prefixes {
		p := &status.Prefixes[i]
		data, err := os.ReadFile(questionsFile(o.Out, p.ID))
		if err != nil {
			return nil, err
		}
		key.Questions[p.ID] = hashOf(data)
		key.Names[p.ID] = map[string][]string{}
		for _, q := range questions[p.ID] {
			key.Names[p.ID][q.ID] = shuffled(key.readersOf(p.ID), p.ID, q.ID)
		}
		if err := key.writeReaderSheets(p, questions[p.ID], o); err != nil {
			return nil, err
		}
	}
	if err := writeSheet(filepath.Join(o.Out, readersDir, readmeFile), "reader.md"); err != nil {
		return nil, err
	}
	return key, writeJSON(file, key) // last: without it all of this is done again
}

// checkQuestions returns an error if questions have changed since prompts were made.
func (k *Key) checkQuestions(dir string) error {
	for prefix, sum := range k.Questions {
		file := questionsFile(dir, prefix)
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if hashOf(data) != sum {
			return fmt.Errorf("%s was changed after the prompts were made; questions are written before", file)
		}
	}
	return nil
}
