package journal

import (
	"crypto/sha256"
	"fmt"
)

// Summary is a text of the summarizer. It is never changed.
type Summary struct {
	To    int    // it tells of the records up to this place of the history
	After int    // it stands in packs whose last compaction a later record brought
	Text  string // ends in a newline

	Sum *[sha256.Size]byte // see id; nil: not known yet
}

// ID stands for all that s brings into a pack; zero for nil.
func (s *Summary) ID() [sha256.Size]byte {
	switch {
	case s == nil:
		return [sha256.Size]byte{}
	case s.Sum != nil:
		return *s.Sum
	}
	return sha256.Sum256(fmt.Appendf(nil, "%d\n%s", s.To, s.Text))
}
