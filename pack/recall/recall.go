package recall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Recall shows again what old records say that matters now: passages of the records behind the
// boundary that the pack does not show otherwise, verbatim.
//
// The query is the last request of the user that says something, with the open todos. If it is the
// newest record, see [Query.Answers]. The longer an agent has been working on it, the more the texts
// of the newest records ask, too, but never calls of tools. Then newer passages count more, and those with identifiers that the pack lacks. Content that a later write of its
// file replaced is left out, and of passages with the same words all but one.
//
// It takes what the others after the journal and the journal itself leave, so that it never moves the
// boundary, and none of the prefix.
const (
	Heading = record.BlockHeading + "recall\nParts of old records that may matter now, whole in " + ctxabi.LineDir + "/<number>.txt:\n"

	Least        = 60   // tokens below which it is not worth its heading
	recallHits   = 64   // passages that are looked at
	recallTask   = 2000 // bytes of the request
	recallNewest = 4    // records after the request that ask, too
	recallAsks   = 750  // bytes at each end of one of these
	recallFades  = 50   // records after which a passage counts for less
	freshEnough  = 3    // identifiers that stand nowhere else
)

// Passage is a part of an old record as it stands in a pack.
type Passage struct {
	Address  record.Address
	of       *oldRecord
	from, to int    // bytes of it
	Text     string // framed
	Tokens   int
	Cut      bool // the record says more
}

// Query is what old records are recalled for.
type Query struct {
	Memo    *Memo
	History record.Records
	Counter *tokens.Counter
	Fold    *journal.Fold
	Parts   []journal.Part // of the journal
	Shown   []string       // what else stands in the pack
	Current string         // the last request of the user, and the open todos
	Todo    string         // the list that somebody wrote; "": none

	replaced map[int]bool // by place; see isReplaced
	chosen   chosen
}

// Passages chooses passages for room tokens, in the order of the records. It returns no error.
func (q *Query) Passages(boundary, room int) ([]Passage, error) {
	o := q.Memo.old(q.History, boundary)
	q.Memo.prepare(q.History, boundary, q.Fold.N)
	hits, working := q.rank(o)
	if len(hits) == 0 {
		return nil, nil
	}
	var several []string
	for _, p := range q.Parts {
		if p.Zone == journal.InFolds || p.Zone == journal.InSummary || p.Zone == journal.InSaid || p.Zone == journal.InState || p.Zone == journal.InNotes {
			several = append(several, p.Text)
		}
	}
	shown := newView(hits, q.Memo.amongst(several))
	for _, text := range q.Shown {
		shown.add(q.Memo.inventory(text))
	}
	for _, p := range q.Parts {
		shown.add(q.Memo.inventory(p.Text))
	}
	q.ticked(shown.done)

	var out []Passage
	first := 0.0 // the best score
	shown.freshen(hits)
	for len(hits) > 0 {
		best, most := -1, 0.0
		for i := range hits {
			fresh := float64(min(hits[i].fresh, freshEnough)) / freshEnough
			score := float64(hits[i].score * float64(1-float64(0.8*float64(working*float64(1-fresh)))))
			if score > most {
				best, most = i, score
			}
		}
		if best < 0 || most < first*blocks.RelevantShare {
			break
		}
		first = max(first, most)
		h := hits[best]
		hits = slices.Delete(hits, best, best+1)
		from, to := shown.unseen(&h)
		if from == to || q.isReplaced(h.of, from) {
			continue
		}
		r := q.excerpt(h.of, from, to)
		if r.Tokens > room || !q.chosen.add(h.of.text[from:to]) {
			continue
		}
		room -= r.Tokens
		shown.take(&h)
		shown.freshen(hits)
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Passage) int { return cmp.Or(a.of.at-b.of.at, a.from-b.from) })
	return q.joined(out), nil
}

// ticked notes which items of the lists of the session are done.
func (q *Query) ticked(done map[string]bool) {
	for _, t := range q.Memo.DerivedItems(q.History, q.Fold.N) {
		done[derived.ItemKey(t.Text)] = t.Done
	}
	for line := range strings.Lines(q.Todo) {
		if box, ok := boxOf(strings.TrimSpace(line)); ok {
			done[box.key] = box.done
		}
	}
}

// excerpt is a part of a record with its heading.
func (q *Query) excerpt(of *oldRecord, from, to int) Passage {
	r := Passage{Address: record.AddressOf(q.History, of.at), of: of, from: from, to: to}
	content := of.text[from:to]
	var b strings.Builder
	fmt.Fprintf(&b, "## %s %s (recalled)\n", r.Address, of.who)
	content = ctxabi.Escape(content)
	record.WriteContent(&b, content, record.NeedsFence(content))
	r.Text = b.String()
	r.Tokens = q.Counter.CountCached(r.Text)
	r.Cut = !of.whole || strings.TrimSpace(of.text) != content
	return r
}

// joined puts parts of a record together that follow each other.
func (q *Query) joined(parts []Passage) (out []Passage) {
	for _, r := range parts {
		if n := len(out) - 1; n >= 0 && out[n].of == r.of && strings.TrimLeft(r.of.text[out[n].to:r.from], " \t\r\n") == "" {
			if both := q.excerpt(r.of, out[n].from, r.to); both.Tokens <= out[n].Tokens+r.Tokens {
				out[n] = both
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// oldHit is a passage that answers what is asked.
type oldHit struct {
	oldPassage
	score float64
	lines []oldLine
	words []string // identifiers
	fresh int      // of these, those that stand nowhere in the pack
}

// oldLine is a line of a passage, without blanks at its ends.
type oldLine struct{ from, to int }

// rank returns the passages that answer best and how far the agent is in its work: 0 right after a request, towards 1 later.
func (q *Query) rank(o *oldRecords) (hits []oldHit, working float64) {
	working = 1 - decay(q.Fold.N-q.Fold.Last.Line, 2)
	scores := make([]float64, len(o.passages))
	o.addScores(scores, 0, float64(1-float64(working/2)), compress.Clip(q.Current, recallTask))
	o.addScores(scores, 1, working, q.newest()...)
	o.besides(scores, float64(0.4*float64(1-working)))
	whole := map[int]bool{}
	for _, p := range q.Parts {
		if p.From > 0 && !p.Omitted && p.How == "" {
			whole[p.From] = true
		}
	}
	closed := q.over()
	changed, outdated := q.Memo.Changed(q.History, q.Fold), q.Memo.Outdated(q.History, q.Fold.N)
	from, age := 0, 0.0  // of the passage before
	var shown, over bool // the record is shown whole; the failure that it reports is over
	for doc := range scores {
		p := &o.passages[doc]
		if p.of.at != from {
			from, age = p.of.at, 1-decay(q.Fold.N-p.of.at, recallFades)
			shown, over = whole[from], closed[from]
		}
		if scores[doc] > 0 && (shown || outdated[from] || over && p.tellsFailure() || changed.States(p.of.at, p.text())) {
			scores[doc] = 0
			continue
		}
		scores[doc] = float64(scores[doc] * float64(1-float64(working*float64(age/2))))
	}
	for _, doc := range best(scores, recallHits) {
		h := oldHit{oldPassage: o.passages[doc], score: scores[doc]}
		h.words, h.lines = h.oldPassage.words(), h.oldPassage.lines()
		hits = append(hits, h)
	}
	return hits, working
}

// addScores adds weight times the score for texts to scores. part is the index of these texts in the
// query; the sums of each part are kept for the next call.
func (o *oldRecords) addScores(scores []float64, part int, weight float64, texts ...string) {
	if o.scores[part] == nil {
		o.scores[part] = o.corpus.Running()
	}
	weight = float64(weight / compress.RunningUnit)
	for doc, sum := range o.scores[part].Set(texts...) {
		scores[doc] += float64(weight * float64(sum))
	}
}

// newest returns both ends of what the newest records after the request say, without their calls.
func (q *Query) newest() (texts []string) {
	for at := q.Fold.N; at > max(q.Fold.Last.Line, q.Fold.N-recallNewest); at-- {
		if r, err := record.WordsOf(q.History, at); err == nil {
			text, _ := journal.BothEnds(r.Text, recallAsks)
			texts = append(texts, text)
		}
	}
	return texts
}

// besides makes a record that is one passage count for more where those before and after it answer.
func (o *oldRecords) besides(scores []float64, share float64) {
	if share == 0 || len(o.passages) == 0 {
		return
	}
	first := o.passages[0].of.at
	most := make([]float64, o.boundary-first+2) // of each record, behind one that is not there
	for doc, score := range scores {
		k := o.passages[doc].of.at - first + 1
		most[k] = max(most[k], score)
	}
	for doc := range scores {
		if of := o.passages[doc].of; of.passages == 1 {
			k := of.at - first + 1
			scores[doc] += float64(share * max(most[k-1], most[k+1]))
		}
	}
}

// decay returns 0.5^(n/half), the same on every machine.
func decay(n, half int) float64 { return float64(float32(math.Exp2(-float64(n) / float64(half)))) }
