package eval

import (
	"fmt"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/session/log"
)

// Text returns record line, from 1, as a pack shows it in full.
func (s *Session) Text(line int) string { return s.texts[line-1] }

// Size returns the tokens of record line, from 1, as a pack shows it in full.
func (s *Session) Size(line int) int { return s.tokens[line-1] }

// Tokens returns the tokens of all records as a pack shows them in full.
func (s *Session) Tokens() int { return sum(s.tokens) }

// Lead returns how many system and developer records stand before all others.
func (s *Session) Lead() int {
	n := 0
	for n < len(s.said) && (s.said[n].Role == ctxabi.System || s.said[n].Role == ctxabi.Developer) {
		n++
	}
	return n
}

// AsksHere reports whether record line, from 1, is a user's message, and OpensHere whether the history may be cut before
// it: it is no tool's result, which would be parted from its call.
func (s *Session) AsksHere(line int) bool {
	return s.said[line-1].Role == ctxabi.User && !s.isResult(line)
}

// OpensHere is described at [Session.AsksHere].
func (s *Session) OpensHere(line int) bool { return !s.isResult(line) }

// Part returns the session of the leading records and the records from to to, both included, counted by the tokens of an
// encoding or a model. Its records are numbered from 1. It returns an error if there are no such records.
func (s *Session) Part(name string, from, to int, encoding string) (*Session, error) {
	lead := s.Lead()
	if from <= lead || to < from || to > s.Messages.Len() {
		return nil, fmt.Errorf("%s/%s has no records %d to %d behind its %d leading ones", s.Set, s.Name, from, to, lead)
	}
	counter, err := tokens.For(encoding)
	if err != nil {
		return nil, err
	}
	out := &Session{Set: s.Set, Name: name, Messages: &log.MemLog{}}
	for line := 1; line <= to; line++ {
		if line > lead && line < from {
			continue
		}
		raw, err := s.Messages.Record(line)
		if err != nil {
			return nil, err
		}
		out.Messages.Append(raw)
	}
	return out, out.prepare(counter)
}
