package history

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"
)

// Result is what a client knows of its write.
type Result int

const (
	Stored  Result = iota // it was acknowledged
	Refused               // it failed, and is never to take effect
	Unknown               // anything else
)

// Write is a call that adds records to a list, or gives a register a value.
type Write struct {
	ID     string        `json:"id"`
	Parts  int           `json:"parts,omitempty"` // records; 0 is 1
	Host   string        `json:"host"`
	Began  time.Duration `json:"began"`
	Ended  time.Duration `json:"ended"` // of Unknown, nothing follows from it
	Result Result        `json:"result"`
}

func (w *Write) parts() int { return max(w.Parts, 1) }

// Key returns the key of a part of the write with an id.
func Key(id string, part int) string { return id + "." + strconv.Itoa(part) }

// Prefix is how many records were read, and a hash of their keys. The zero value is that of none.
type Prefix struct {
	Len int    `json:"len"`
	Sum uint64 `json:"sum"`
}

// Add adds the next key.
func (p *Prefix) Add(key string) {
	h := fnv.New64a()
	var before [8]byte
	for i := range before {
		before[i] = byte(p.Sum >> (8 * i))
	}
	h.Write(before[:])
	h.Write([]byte(key))
	p.Len, p.Sum = p.Len+1, h.Sum64()
}

// Look is a read of a list on a host.
type Look struct {
	Host  string        `json:"host"`
	Began time.Duration `json:"began"`
	Ended time.Duration `json:"ended"`
	Prefix
}

// Sight is a read of a register on a host; ID "" is the value that it has at first.
type Sight struct {
	Host  string        `json:"host"`
	Began time.Duration `json:"began"`
	Ended time.Duration `json:"ended"`
	ID    string        `json:"id"`
}

// Problem is a rule that was broken.
type Problem struct {
	Object string `json:"object"` // the list or register
	Kind   string `json:"kind"`   // a word of the package's comment
	Text   string `json:"text"`
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.Object, p.Kind, p.Text) }

// most is how many problems of one kind are told of each object.
const most = 20

// problems collects problems of one object.
type problems struct {
	object string
	list   []Problem
	counts map[string]int
}

func (p *problems) add(kind, format string, args ...any) {
	if p.counts == nil {
		p.counts = map[string]int{}
	}
	if p.counts[kind]++; p.counts[kind] <= most {
		p.list = append(p.list, Problem{p.object, kind, fmt.Sprintf(format, args...)})
	}
}
