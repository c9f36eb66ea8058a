package exam

import (
	"embed"
	"path/filepath"
	"slices"
)

//go:embed sheets
var sheets embed.FS

// writeSheet writes what authors, readers or graders are told.
func writeSheet(file, name string) error {
	text, err := sheets.ReadFile("sheets/" + name)
	if err != nil {
		return err
	}
	return writeFile(file, text)
}

// askedQuestion is what a reader sees of a question.
type askedQuestion struct {
	ID       string `json:"id"`
	Question string `json:"question"`
}

// writeReaderSheets writes the prompts of all methods for a prefix, each with the questions into the folder of its reader.
func (k *Key) writeReaderSheets(p *Prefix, questions []Question, o *Options) error {
	var asked []askedQuestion
	for _, q := range questions {
		asked = append(asked, askedQuestion{q.ID, q.Question})
	}
	for r := range k.Readers {
		reader := &k.Readers[r]
		for i := range reader.Prompts {
			of := &reader.Prompts[i]
			if of.Prefix != p.ID {
				continue
			}
			m := slices.IndexFunc(o.Methods, func(m Method) bool { return m.Name == of.Method })
			text, err := o.Methods[m].prompt(p, o)
			if err != nil {
				return err
			}
			of.SHA256 = hashOf([]byte(text))
			folder := filepath.Join(o.Out, readersDir, reader.ID, p.ID)
			if err := writeFile(filepath.Join(folder, promptFile), []byte(text)); err != nil {
				return err
			}
			if err := writeJSON(filepath.Join(folder, askedFile), asked); err != nil {
				return err
			}
		}
	}
	return nil
}

// readAnswers returns the answers of each reader about each prefix, by the ids of all three.
func (k *Key) readAnswers(dir string, questions map[string][]Question, status *Status) (map[string]map[string]map[string]string, error) {
	out := map[string]map[string]map[string]string{}
	for _, reader := range k.Readers {
		out[reader.ID] = map[string]map[string]string{}
		for _, p := range reader.Prompts {
			file := filepath.Join(dir, readersDir, reader.ID, p.Prefix, answersFile)
			answers, ok, err := readFile(file, func(data []byte) (map[string]string, error) { return ParseAnswers(data, questions[p.Prefix]) })
			if err != nil {
				return nil, err
			}
			if !ok {
				status.Missing = append(status.Missing, file)
			}
			out[reader.ID][p.Prefix] = answers
		}
	}
	return out, nil
}

// gradedQuestion is what a grader sees: the reference, and the answers under names that hide whose they are.
type gradedQuestion struct {
	Question
	Answers []namedAnswer `json:"answers"`
}

type namedAnswer struct {
	Name   string `json:"name"`
	Answer string `json:"answer"`
}

// writeGraderSheets writes a sheet for each prefix.
func (k *Key) writeGraderSheets(dir string, questions map[string][]Question, answers map[string]map[string]map[string]string) error {
	for prefix, list := range questions {
		var sheet []gradedQuestion
		for _, q := range list {
			g := gradedQuestion{Question: q}
			names := answerNames(len(k.Methods))
			for i, reader := range k.Names[prefix][q.ID] {
				g.Answers = append(g.Answers, namedAnswer{names[i], answers[reader][prefix][q.ID]})
			}
			sheet = append(sheet, g)
		}
		if err := writeJSON(filepath.Join(dir, gradersDir, prefix, sheetFile), sheet); err != nil {
			return err
		}
	}
	return writeSheet(filepath.Join(dir, gradersDir, readmeFile), "grader.md")
}
