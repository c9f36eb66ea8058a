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

// The limit of a summary in tokens: a share of the journal, in thousandths, and its bounds.
const (
	summaryShare    = 300
	minSummaryLimit = 300
	maxSummaryLimit = 4000
)

// SummaryLimit returns up to how many tokens a delivered summary is shown in full. It is 0 if the
// journal has no token limit, because no compaction happens then.
func (r *Rules) SummaryLimit() int {
	if r.room == 0 {
		return 0
	}
	return int(min(max(r.room*summaryShare/1000, minSummaryLimit), maxSummaryLimit))
}
