package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/log"
)

// setEnding is what a file of histories with questions is called at its end.
const setEnding = ".json"

// oneHistory is an object of such a file; docs/eval.md describes it. Other keys are ignored.
type oneHistory struct {
	Name      string            `json:"name"`
	History   []json.RawMessage `json:"history"`
	Questions []json.RawMessage `json:"questions"`
}

// parseSet returns the sessions of a file of histories: one JSON object, several one after another, or a list
// of them. A history without a name gets the file's, with its number if it is not the only one. It returns an
// error that names the history, and the message or question, if one is not as the format wants it.
func parseSet(set, name string, data []byte) ([]*Session, error) {
	all, err := histories(data)
	if err != nil {
		return nil, err
	}
	out := make([]*Session, 0, len(all))
	for i := range all {
		h := &all[i]
		if h.Name == "" {
			h.Name = name
			if len(all) > 1 {
				h.Name = fmt.Sprintf("%s-%d", name, i+1)
			}
		}
		s, err := h.session(set)
		if err != nil {
			return nil, fmt.Errorf("history %d (%s): %w", i+1, h.Name, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// histories decodes the objects of a file.
func histories(data []byte) (all []oneHistory, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("history %d is no JSON: %w", len(all)+1, err)
		}
		var some []oneHistory
		if raw[0] == '[' {
			err = json.Unmarshal(raw, &some)
		} else {
			some = make([]oneHistory, 1)
			err = json.Unmarshal(raw, &some[0])
		}
		if err != nil {
			return nil, fmt.Errorf("history %d: %w", len(all)+1, err)
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, errors.New("it has no history")
	}
	return all, nil
}

// session checks a history and its questions.
func (h *oneHistory) session(set string) (*Session, error) {
	if len(h.History) == 0 {
		return nil, errors.New(`it needs a "history", a list of messages`)
	}
	s := &Session{Set: set, Name: h.Name, Messages: &log.MemLog{}}
	for i, raw := range h.History {
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		if err := ctxabi.CheckMessage(line.Bytes()); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		s.Messages.Append(line.Bytes())
	}
	at, err := s.ids()
	if err != nil {
		return nil, err
	}
	for i, raw := range h.Questions {
		q, err := at.question(raw)
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		s.Questions = append(s.Questions, q)
	}
	return s, nil
}

// recordIDs are the records of a session by their ids.
type recordIDs struct {
	records int
	lines   map[string]int // 0: two records have that id
}

func (s *Session) ids() (recordIDs, error) {
	out := recordIDs{s.Messages.Len(), map[string]int{}}
	for line := 1; line <= out.records; line++ {
		raw, err := s.Messages.Record(line)
		if err != nil {
			return recordIDs{}, err
		}
		var m struct {
			ID any `json:"id"`
		}
		if json.Unmarshal(raw, &m) != nil {
			continue
		}
		id, ok := m.ID.(string)
		if _, twice := out.lines[id]; twice {
			out.lines[id] = 0
		} else if ok && id != "" {
			out.lines[id] = line
		}
	}
	return out, nil
}

// question decodes a question about the records. Evidence is named by number, from 1, or by id.
func (n recordIDs) question(raw []byte) (q Question, err error) {
	var in struct {
		Question string            `json:"question"`
		Answer   answer            `json:"answer"`
		Answers  []answer          `json:"answers"`
		Evidence []json.RawMessage `json:"evidence"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Question{}, err
	}
	if q.Question = in.Question; strings.TrimSpace(q.Question) == "" {
		return Question{}, errors.New(`it needs a "question"`)
	}
	for _, a := range append(in.Answers, in.Answer) {
		if folded(string(a)) != "" {
			q.Answers = append(q.Answers, string(a))
		}
	}
	for _, e := range in.Evidence {
		line, err := n.line(e)
		if err != nil {
			return Question{}, err
		}
		q.Evidence = append(q.Evidence, line)
	}
	if len(q.Answers) == 0 && len(q.Evidence) == 0 {
		return Question{}, errors.New(`it needs an "answer", "answers" or "evidence"`)
	}
	return q, nil
}

// line returns the record that evidence names.
func (n recordIDs) line(evidence []byte) (int, error) {
	var line int
	if json.Unmarshal(evidence, &line) == nil && line >= 1 && line <= n.records {
		return line, nil
	}
	var id string
	if json.Unmarshal(evidence, &id) == nil {
		line, known := n.lines[id]
		if line > 0 {
			return line, nil
		}
		if known {
			return 0, fmt.Errorf("evidence %q is the id of two messages", id)
		}
	}
	return 0, fmt.Errorf("evidence %s is neither one of the numbers 1 to %d nor the id of a message", evidence, n.records)
}

// answer is a text, or a number as it is written.
type answer string

func (a *answer) UnmarshalJSON(raw []byte) error {
	var number json.Number
	if json.Unmarshal(raw, (*string)(a)) == nil {
		return nil
	}
	if json.Unmarshal(raw, &number) != nil {
		return fmt.Errorf("an answer is a text or a number, not %.60s", raw)
	}
	*a = answer(number)
	return nil
}
