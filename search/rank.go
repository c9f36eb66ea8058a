package search

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/document"
	"github.com/ctxfs/ctxfs/search/excerpt"
)

// Numbers of the second look at the best records.
const (
	shortTerms = 96      // records of up to so many terms are passages themselves
	maxLook    = 4 << 20 // bytes of records, for one search
	maxLookOne = 1 << 20 // likewise, of one record
)

// see returns what a record has of the query; nil if enough were looked at.
func (f *finder) see(h *hit) (*excerpt.Sight, error) {
	if s := f.seen[h.place()]; s != nil {
		return s, nil
	}
	if f.looked >= maxLook {
		return nil, nil
	}
	d, err := f.document(h)
	if d == nil || err != nil {
		return nil, err
	}
	f.looked += min(len(d.Said), maxLookOne)
	s := excerpt.Look(d.Record(), f.view, maxLookOne)
	f.seen[h.place()] = s
	return s, nil
}

// before reports whether a stands in front of b: it has more of the query's identifiers, or a higher score.
func (f *finder) before(a, b *hit) bool {
	if x, y := f.exact[a.place()], f.exact[b.place()]; x != y {
		return x > y
	}
	return a.score > b.score
}

// settle looks at the passages of the first record of a queue, if it is long, and moves it to where it
// belongs, so that one that has the words here and there does not stand in front of one that says it in a
// sentence. It reports whether the record stayed the first. A score only falls, so that records behind the
// last hit need no look.
func (f *finder) settle(queue []hit) (stayed bool, err error) {
	h := &queue[0]
	if h.length <= shortTerms || h.settled {
		return true, nil
	}
	h.settled = true
	s, err := f.see(h)
	if s == nil || err != nil {
		return true, err
	}
	h.score = min(h.score, float64(h.score+float64(2*s.BestWindow(f.m.mean)))/3)
	h.score /= float64(10+bits.Len(uint(h.length/shortTerms))) / 10 // each doubling of its length costs a tenth
	at := 0
	for at+1 < len(queue) && f.before(&queue[at+1], &queue[at]) {
		queue[at], queue[at+1] = queue[at+1], queue[at]
		at++
	}
	return at == 0, nil
}

// isOwn reports whether a record is a call that asks for this query, or the answer of that call. It
// returns false if the hits are complete and nobody read the record.
func (f *finder) isOwn(h *hit, full bool) (bool, error) {
	if !h.acts || full && f.docs[h.place()] == nil {
		return false, nil
	}
	d, err := f.document(h)
	if d == nil || err != nil {
		return false, err
	}
	if title, _, _ := strings.Cut(d.Said, "\n"); !d.IsCall() {
		return strings.HasPrefix(title, "# ") && strings.Contains(title, " for "+titleOf(f.q)+" ("), nil
	}
	query := wordsOf(f.q.Text)
	return len(d.Calls) == 1 && slices.ContainsFunc(searches, func(mark string) bool {
		_, asked, ok := strings.Cut(d.Words(), mark)
		return ok && strings.Contains(wordsOf(asked), query)
	}), nil
}

// searches lists the texts that precede a query in a call.
var searches = []string{ctxabi.SearchDir + "/", "ctxfs search "}

// wordsOf returns the words of a text in lower case, each followed by a blank.
func wordsOf(text string) string {
	isMark := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), isMark), " ") + " "
}

// group makes hits of the first N records that say different things. Calls, results and events that answer
// with nearly the same lines are one hit, in the place of the best and with the text of the newest.
func (f *finder) group(hits []hit) error {
	f.hits = nil
	type key struct {
		of    *known
		event bool
		print uint32
	}
	at := map[key]int{}
	var marks [][]uint64 // of the hits
	for n := 0; n < len(hits); n++ {
		full := len(f.hits) >= f.q.N
		if !full {
			for stayed := false; !stayed; {
				var err error
				if stayed, err = f.settle(hits[n:]); err != nil {
					return err
				}
			}
		}
		h := &hits[n]
		if own, err := f.isOwn(h, full); err != nil {
			return err
		} else if own {
			f.count--
			continue
		}
		k := key{h.of, h.event, h.print}
		if i, same := at[k]; same {
			f.hits[i].join(h)
			continue
		}
		var of []uint64
		if h.acts && (!full || f.seen[h.place()] != nil) {
			s, err := f.see(h)
			if err != nil {
				return err
			}
			if s != nil {
				of = s.Marks()
			}
		}
		i := slices.IndexFunc(marks, func(m []uint64) bool { return excerpt.Alike(m, of) })
		if i >= 0 && f.hits[i].kin(h, f.docs) {
			at[k] = i
			f.hits[i].join(h)
			continue
		}
		if !full {
			at[k] = len(f.hits)
			marks = append(marks, of)
			f.hits = append(f.hits, Hit{Ref: f.m.of.refOf(h.of), of: h.of, Event: h.event, Line: h.line, Score: h.score, Exact: f.exact[h.place()], print: h.print})
		}
	}
	for i := range f.hits {
		h := &f.hits[i]
		slices.Sort(h.Also)
		slices.Sort(h.Like)
	}
	return nil
}

// kin reports whether a record that answers with the same lines is of the same log and does the same:
// both are calls, or results, of the same tools.
func (h *Hit) kin(other *hit, docs map[place]*document.Document) bool {
	a, b := docs[h.place()], docs[other.place()]
	return a != nil && b != nil && h.of == other.of && h.Event == other.event && a.Role == b.Role && a.What == b.What && slices.Equal(a.Tools, b.Tools)
}

// join adds a record that says the same, or nearly. The newest is the one that is shown.
func (h *Hit) join(other *hit) {
	switch {
	case other.print == h.print:
		h.Also = append(h.Also, other.line)
	case other.line < h.Line:
		h.Like = append(h.Like, other.line)
	default:
		h.Like = append(append(h.Like, h.Line), h.Also...)
		h.Line, h.print, h.Also = other.line, other.print, nil
	}
}
