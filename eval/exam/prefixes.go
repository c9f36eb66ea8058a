package exam

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/eval"
)

// Plan is what is asked about: exam.json.
type Plan struct {
	Budget   int      `json:"budget"` // tokens of a prompt
	Encoding string   `json:"encoding,omitempty"`
	Prefixes []Prefix `json:"prefixes"`
}

// Prefix is a history of which prompts are made: a session, or a part of one.
type Prefix struct {
	ID      string `json:"id"`
	Set     string `json:"set"`
	Session string `json:"session"`
	From    int    `json:"from"` // records of the session, without the leading ones, which belong to each part
	To      int    `json:"to"`
	Tokens  int    `json:"tokens"` // of its records in full
	SHA256  string `json:"sha256"` // of its records

	session int // the number of the session it is of
	history *eval.Session
}

const (
	// mostParts is into how many parts a session is cut at most.
	mostParts = 6
	// mostShare is how much of its history a prompt may hold, if the exam is to tell methods apart.
	mostShare = 0.15
)

// makePrefixes cuts sessions into parts. Parts is into how many each; 0: as many as are so long that a prompt holds no
// more than mostShare of one, from 1 to mostParts.
func makePrefixes(sessions []*eval.Session, o *Options) (out []Prefix, err error) {
	for i, s := range sessions {
		n := o.Parts
		if n == 0 {
			n = min(max(1, int(float64(s.Tokens())*mostShare/float64(o.Budget))), mostParts)
		}
		starts, err := cutsOf(s, n)
		if err != nil {
			return nil, err
		}
		for k, from := range starts {
			to := s.Messages.Len()
			if k+1 < len(starts) {
				to = starts[k+1] - 1
			}
			p := Prefix{ID: fmt.Sprintf("P%02d", len(out)+1), Set: s.Set, Session: s.Name, From: from, To: to, session: i}
			if p.history, err = s.Part(p.ID, from, to, o.Encoding); err != nil {
				return nil, err
			}
			p.Tokens = p.history.Tokens()
			if p.Tokens <= o.Budget {
				return nil, fmt.Errorf("%s/%s, records %d to %d: %d tokens fit into a prompt of %d, and show nothing", s.Set, s.Name, from, to, p.Tokens, o.Budget)
			}
			raw, err := p.records()
			if err != nil {
				return nil, err
			}
			p.SHA256 = hashOf(raw)
			out = append(out, p)
		}
	}
	return out, nil
}

// cutsOf returns where n parts of about the same size begin. A part begins with a user's message if one is near, and
// never with a result of a tool.
func cutsOf(s *eval.Session, n int) ([]int, error) {
	first, last := s.Lead()+1, s.Messages.Len()
	starts := []int{first}
	if first > last {
		return nil, fmt.Errorf("%s/%s has nothing behind its leading records", s.Set, s.Name)
	}
	before := make([]int, last+2) // tokens behind the leading records, before each record
	for line := first; line <= last; line++ {
		before[line+1] = before[line] + s.Size(line)
	}
	size := before[last+1] / n
	for k := 1; k < n; k++ {
		best, least := 0, 0
		for line := starts[k-1] + 1; line <= last; line++ {
			if !s.OpensHere(line) {
				continue
			}
			away := max(before[line]-k*size, k*size-before[line])
			if !s.AsksHere(line) {
				away += size / 10
			}
			if best == 0 || away < least {
				best, least = line, away
			}
		}
		if best == 0 {
			return nil, fmt.Errorf("%s/%s is too short for %d parts", s.Set, s.Name, n)
		}
		starts = append(starts, best)
	}
	return starts, nil
}

// records returns the records of a prefix, one a line.
func (p *Prefix) records() ([]byte, error) {
	var b bytes.Buffer
	for line := 1; line <= p.history.Messages.Len(); line++ {
		raw, err := p.history.Messages.Record(line)
		if err != nil {
			return nil, err
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// write writes a prefix for programs and for people.
func (p *Prefix) write(dir string) error {
	raw, err := p.records()
	if err != nil {
		return err
	}
	base := filepath.Join(dir, historiesDir, p.ID)
	if err := writeFile(base+".jsonl", raw); err != nil {
		return err
	}
	var b strings.Builder
	for line := 1; line <= p.history.Messages.Len(); line++ {
		b.WriteString(p.history.Text(line))
	}
	return writeFile(base+".md", []byte(b.String()))
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
