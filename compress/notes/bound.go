package notes

import (
	"math/bits"
	"slices"
)

// rowShare is how many bytes rows may take: a part of the history in thousandths, but at least
// and at most so many.
type rowShare struct{ part, least, most int }

var (
	factShare     = rowShare{15, 3 << 10, 24 << 10}
	decisionShare = rowShare{8, 2 << 10, 16 << 10}
	refShare      = rowShare{18, 3 << 10, 24 << 10}
	todoShare     = rowShare{5, 2 << 10, 8 << 10}
	saidShare     = rowShare{10, 4 << 10, 24 << 10} // what summaries choose from
)

func (s rowShare) of(bytes int) int { return min(max(bytes/1000*s.part, s.least), s.most) }

// rowFrame is about what a row takes beside its texts, in bytes.
const rowFrame = 64

// forgetFailure removes the oldest failure if there is no room for one more.
func (n *State) forgetFailure() {
	first, count := -1, 0
	for i := range n.said {
		if n.said[i].kind == FoundFailure {
			if count++; first < 0 {
				first = i
			}
		}
	}
	if count >= maxFailures {
		n.said = slices.Delete(n.said, first, first+1)
	}
}

// maxFailures is how many of the last failures a summary may choose from.
const maxFailures = 12

// bound removes rows of the kinds that were added, as far as these exceed their share: first the
// oldest, the least specific, and what the assistant said.
func (n *State) bound(added kindSet) {
	if added.has(FoundFact) {
		n.facts = keep(n.facts, factShare.of(n.bytes), func(f *factRow) int { return len(f.Text) + rowFrame }, func(f *factRow) int {
			rank := 0
			if f.own {
				rank += 2
			}
			if !f.specific {
				rank++
			}
			return rank
		})
	}
	if added.has(FoundDecision, FoundAcceptance, FoundReply) {
		n.decisions = keep(n.decisions, decisionShare.of(n.bytes), func(d *decisionRow) int { return len(d.Decision) + rowFrame + 16 }, func(d *decisionRow) int {
			if d.By == "assistant" {
				return 1
			}
			return 0
		})
	}
	if added.has(FoundFile, FoundOutput) {
		n.refs = keep(n.refs, refShare.of(n.bytes), func(r *refRow) int { return len(r.Path) + rowFrame + 32 }, (*refRow).rank)
	}
	if added.has(FoundTodo) {
		n.items = keep(n.items, todoShare.of(n.bytes), func(t *todoRow) int { return len(t.text) + 24 }, func(t *todoRow) int {
			if t.state == todoDone {
				return 1
			}
			return 0
		})
	}
	if !added.has(FoundRequest, FoundConclusion, FoundFailure) {
		return
	}
	first := slices.IndexFunc(n.said, func(s saidRow) bool { return s.kind == FoundRequest })
	n.said = keep(n.said, saidShare.of(n.bytes), func(s *saidRow) int { return len(s.text) + 32 }, func(s *saidRow) int {
		if first >= 0 && s.at == n.said[first].at && s.kind == FoundRequest || n.adds-s.order < newestRows {
			return 0
		}
		return mostRanks - min(mostRanks-1, bits.TrailingZeros(uint(s.order))) // an even spread of the older ones
	})
}

// mostRanks is the number of ranks of older rows of a summary. Each rank has half as many rows as
// the next one.
const mostRanks = 8

// kindSet is which kinds of findings a record has.
type kindSet uint64

func (k *kindSet) add(kind FindingKind) {
	if len(kind) == 1 {
		*k |= 1 << (kind[0] % 64)
	}
}

func (k kindSet) has(kinds ...FindingKind) bool {
	for _, kind := range kinds {
		if k&(1<<(kind[0]%64)) != 0 {
			return true
		}
	}
	return false
}

// keep removes rows, those of the highest rank first and of these the oldest, until the others
// take at most room bytes. It returns the others, in the memory of rows.
func keep[T any](rows []T, room int, size, rank func(*T) int) []T {
	all, worst := 0, 0
	for i := range rows {
		all += size(&rows[i])
	}
	if all <= room {
		return rows
	}
	for i := range rows {
		worst = max(worst, rank(&rows[i]))
	}
	gone := make([]bool, len(rows))
	for ; worst >= 0 && all > room; worst-- {
		for i := range rows {
			if all <= room {
				break
			}
			if !gone[i] && rank(&rows[i]) == worst {
				gone[i] = true
				all -= size(&rows[i])
			}
		}
	}
	out := rows[:0]
	for i := range gone {
		if !gone[i] {
			out = append(out, rows[i])
		}
	}
	clear(rows[len(out):])
	return out
}
