package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

// Session is a history to replay.
type Session struct {
	Set, Name string // the directory it is in, and its own name
	Messages  *log.MemLog
	Questions []Question

	texts  []string         // each record as a pack shows it in full
	tokens []int            // exact, of these
	said   []ctxabi.Message // the records decoded
	count  func(string) int // tokens, exactly
}

// Question is asked at the end of a session whose evidence is known.
type Question struct {
	Question string
	Evidence []int    // records of the session, from 1
	Answers  []string // each is right as it is; none: there is none that could be looked for
}

// questionsEnding is what a file of questions is called after its session.
const questionsEnding = ".questions.jsonl"

// place is where a session is read from.
type place struct{ set, name, file string }

// Load reads the sessions below paths: a file of messages, a session's directory in a store or a mount,
// a directory with any number of both below it, or a .json file of histories with questions. What is no session
// is told to note and left out.
// It returns an error if a path cannot be read, a question is wrong, or no session is found.
func Load(paths []string, encoding string, note func(string)) ([]*Session, error) {
	counter, err := tokens.For(encoding)
	if err != nil {
		return nil, err
	}
	var places []place
	for _, p := range paths {
		found, err := find(p)
		if err != nil {
			return nil, err
		}
		places = append(places, found...)
	}
	var out []*Session
	for _, p := range places {
		some, err := load(p, counter)
		if problem := new(notASession); errors.As(err, &problem) {
			note(err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no sessions in %s", strings.Join(paths, ", "))
	}
	return out, nil
}

func find(root string) ([]place, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []place{placeOf(abs)}, nil
	}
	var out []place
	err = filepath.WalkDir(abs, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if d.Name() != filepath.Base(abs) && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, ctxabi.MessagesFile)); err == nil {
				out = append(out, placeOf(filepath.Join(p, ctxabi.MessagesFile)))
				return fs.SkipDir // all else in it is of that session
			}
		case strings.HasSuffix(p, ".jsonl") && !strings.HasSuffix(p, questionsEnding):
			out = append(out, placeOf(p))
		}
		return nil
	})
	slices.SortFunc(out, func(a, b place) int { return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(a.name, b.name)) })
	return out, err
}

func placeOf(file string) place {
	dir, name := filepath.Dir(file), filepath.Base(file)
	if name == ctxabi.MessagesFile {
		dir, name = filepath.Dir(dir), filepath.Base(dir)
		if filepath.Base(dir) == ctxabi.SessionDir {
			dir = filepath.Dir(dir) // the agent's home
		}
	}
	return place{set: filepath.Base(dir), name: strings.TrimSuffix(name, ".jsonl"), file: file}
}

// notASession is why a file is left out.
type notASession struct{ file, why string }

func (e *notASession) Error() string { return fmt.Sprintf("%s is left out: %s", e.file, e.why) }

func load(p place, counter *tokens.Counter) ([]*Session, error) {
	data, err := archive.ReadPlain(p.file)
	if err != nil {
		return nil, err
	}
	var out []*Session
	if strings.HasSuffix(p.file, setEnding) {
		if out, err = parseSet(p.set, strings.TrimSuffix(p.name, setEnding), data); err != nil {
			return nil, fmt.Errorf("%s: %w", p.file, err)
		}
	} else {
		s, err := loadOne(p, data)
		if err != nil {
			return nil, err
		}
		out = []*Session{s}
	}
	for _, s := range out {
		if err := s.prepare(counter); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// loadOne reads a file of messages, a JSON object a line, and the questions beside it.
func loadOne(p place, data []byte) (*Session, error) {
	s := &Session{Set: p.set, Name: p.name, Messages: &log.MemLog{}}
	for raw := range bytes.Lines(data) {
		raw = bytes.TrimRight(raw, "\r\n")
		if err := ctxabi.CheckMessage(raw); err != nil {
			return nil, &notASession{p.file, fmt.Sprintf("line %d is no message: %v", s.Messages.Len()+1, err)}
		}
		s.Messages.Append(raw)
	}
	if s.Messages.Len() == 0 {
		return nil, &notASession{p.file, "it is empty"}
	}
	return s, s.loadQuestions(strings.TrimSuffix(p.file, ".jsonl") + questionsEnding)
}

// prepare renders and counts the records that have not been yet.
func (s *Session) prepare(counter *tokens.Counter) error {
	s.count = counter.Count
	for line := len(s.texts) + 1; line <= s.Messages.Len(); line++ {
		text, err := record.RenderRecord(s.Messages, line, 0, nil)
		if err != nil {
			return err
		}
		raw, err := s.Messages.Record(line)
		if err != nil {
			return err
		}
		s.texts, s.tokens = append(s.texts, text), append(s.tokens, counter.CountCached(text))
		s.said = append(s.said, ctxabi.DecodeMessage(raw))
	}
	return nil
}

// asked is the session with a question as its last message.
func (s *Session) asked(question string, counter *tokens.Counter) (*Session, error) {
	raw, err := json.Marshal(map[string]string{"role": "user", "content": question})
	if err != nil {
		return nil, err
	}
	n := s.Messages.Len()
	out := &Session{Set: s.Set, Name: s.Name, Messages: s.Messages.Prefix(n), texts: s.texts[:n:n], tokens: s.tokens[:n:n], said: s.said[:n:n]}
	out.Messages.Append(raw)
	return out, out.prepare(counter)
}

func (s *Session) isResult(line int) bool {
	m := &s.said[line-1]
	return m.Role == ctxabi.Tool || len(m.Results) > 0
}

func (s *Session) isAgent(line int) bool { return s.said[line-1].Role == ctxabi.Assistant }

// spoken is what a message says: its text and its calls, whose arguments are unescaped.
func (s *Session) spoken(line int) string {
	m := &s.said[line-1]
	out := m.Text
	for _, c := range m.Calls {
		out += "\n" + c.Name + " " + unescaped(c.Arguments)
	}
	return out
}

// loadQuestions reads the questions beside a session; none where there is no such file.
func (s *Session) loadQuestions(file string) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	at, err := s.ids()
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bufio.NewReader(f))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var q Question
		if err == nil {
			q, err = at.question(raw)
		}
		if err != nil {
			return fmt.Errorf("%s: question %d: %w", file, len(s.Questions)+1, err)
		}
		s.Questions = append(s.Questions, q)
	}
}
