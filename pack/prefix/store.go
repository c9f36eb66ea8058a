package prefix

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/record"
)

// File is the place in which a [Store] keeps its state.
type File interface {
	// Load returns the bytes of the last Keep, or nil.
	Load() []byte

	// Keep replaces the stored bytes. On an error, the old bytes stay.
	Keep(data []byte) error

	// Head returns a hash of the first at records of m, or an error if the history cannot be read.
	Head(m record.Records, at int) (string, error)
}

// Store keeps one state of one session with its name, its version, the log heads, and the position.
// A nil Store keeps nothing.
type Store struct {
	header string
	file   File
	at     int
}

// NewStore returns the store of a state in file. The version names all that decides the state
// except the records. Name and version must not contain a newline.
func NewStore(name, version string, file File) *Store {
	return &Store{header: header(name) + version + "\n", file: file}
}

func header(name string) string { return "ctxfs " + name + " " }

// At returns the position of the stored state; 0 if none was loaded or saved.
func (s *Store) At() int {
	if s == nil {
		return 0
	}
	return s.at
}

// stored is the content of the file after the header.
type stored struct {
	at, tools int
	head      string
	state     []byte
}

func (s *stored) code(c *coder.Coder) {
	coder.Number(c, &s.at, &s.tools)
	coder.Text(c, &s.head)
	size := len(s.state)
	coder.Number(c, &size)
	if !c.Reads {
		c.Data = append(c.Data, s.state...)
		return
	}
	c.Bad = c.Bad || size != len(c.Data)
	s.state, c.Data = c.Data, nil
}

// Load returns the stored state and its position. ok is false if nothing is stored, if the state
// has another version, or if it does not belong to a prefix of m.
func (s *Store) Load(m record.Records) (state []byte, at int, ok bool) {
	if s == nil {
		return nil, 0, false
	}
	rest, ok := bytes.CutPrefix(s.file.Load(), []byte(s.header))
	if !ok {
		return nil, 0, false
	}

	found, ok := read(rest)
	if !ok || found.at > m.Len() || record.ToolsUpTo(m, found.at) != found.tools {
		return nil, 0, false
	}
	if head, err := s.file.Head(m, found.at); err != nil || head != found.head {
		return nil, 0, false
	}
	s.at = found.at
	return found.state, found.at, true
}

func read(data []byte) (s stored, ok bool) {
	c := &coder.Coder{Data: data, Reads: true}
	s.code(c)
	return s, !c.Bad && len(c.Data) == 0 && s.at >= 0
}

// Save stores the state of the first at records of m. It returns an error if the history cannot be
// read or the file cannot be written.
func (s *Store) Save(m record.Records, at int, state []byte) error {
	if s == nil {
		return nil
	}
	head, err := s.file.Head(m, at)
	if err != nil {
		return err
	}
	s.at = at
	c := &coder.Coder{Data: []byte(s.header)}
	(&stored{at: at, tools: record.ToolsUpTo(m, at), head: head, state: state}).code(c)
	return s.file.Keep(c.Data)
}

// Check returns an error if data is not a stored state with this name, or if valid rejects the state
// at its position. The version may lack its last words. A state of another version is valid, because
// Load ignores it.
func Check(name, version string, data []byte, valid func(state []byte, at int) bool) error {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	if !bytes.HasPrefix(line, []byte(header(name))) {
		return fmt.Errorf("it is not a stored state of %s", name)
	}
	if !bytes.HasPrefix(append(line[:len(line):len(line)], ' '), []byte(header(name)+version+" ")) {
		return nil
	}
	if s, ok := read(rest); !ok || !valid(s.state, s.at) {
		return errors.New("the stored state cannot be decoded")
	}
	return nil
}
