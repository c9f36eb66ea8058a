package prefix

import (
	"encoding/json"

	"github.com/ctxfs/ctxfs/pack/record"
)

// Lines is the place in which content is stored that grows with the history: one line for each batch
// of records, in the order of the history.
type Lines interface {
	// Each calls do for each stored line until do returns false. It returns an error if the lines
	// cannot be read.
	Each(do func(line []byte) bool) error

	// Append stores one more line. On an error, the line is not stored.
	Append(line []byte) error

	// Remove removes all lines.
	Remove()

	// History returns the whole history, or an error if it cannot be read.
	History() (record.Records, error)

	// Head returns a hash of the first at records of m, or an error if the history cannot be read.
	Head(m record.Records, at int) (string, error)
}

// Batch names the records that a line covers.
type Batch struct {
	From  int    `json:"from"` // positions in the history
	To    int    `json:"to"`
	Tools int    `json:"tools"` // tool events up to To
	Head  string `json:"head"`  // hash of the records up to To
}

// LoadLines calls add for each line of l, as long as the batches follow each other and add accepts
// them. It returns how many records and tool events they cover. If they do not cover a prefix of the
// history, LoadLines removes them and fits is false. It returns an error if the history cannot be read.
func LoadLines(l Lines, add func(line []byte) bool) (records, tools int, fits bool, err error) {
	m, err := l.History()
	if err != nil {
		return 0, 0, false, err
	}
	last, found, valid := Batch{}, false, true
	l.Each(func(line []byte) bool {
		var b Batch
		found = true
		valid = json.Unmarshal(line, &b) == nil && b.From == last.To+1 && b.To >= b.From && b.To <= m.Len() && add(line)
		if valid {
			last = b
		}
		return valid
	})
	if !found {
		return 0, 0, true, nil
	}
	if head, err := l.Head(m, last.To); !valid || err != nil || head != last.Head {
		l.Remove()
		return 0, 0, false, nil
	}
	return last.To, last.Tools, true, nil
}
