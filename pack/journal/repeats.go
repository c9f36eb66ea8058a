package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
)

// ByRepeat is how a record is shortened that refers to an earlier one.
const ByRepeat = "repeat"

// Numbers of repeats.
const (
	minRepeat     = 1024 // bytes of a content below which nobody looks for one that it resembles
	minExact      = 256  // likewise, for an equal one
	repeatGain    = 750  // thousandths of what the record takes otherwise that a reference may take
	maxCandidates = 3    // earlier contents that one is compared with
	maxSightings  = 8    // contents that are remembered of one chunk
)

// repeats finds among the live records contents that repeat an earlier one: exactly or mostly. Such a content is shown as a
// reference to the earlier one and what differs, as long as that stands in the same pack: the referent is live, stands
// in front and is no reference itself, and it is shown whole, or shortened in the way in which this one
// would be. What becomes of a record follows from the rules of the fold, the boundary and the records between them
// alone, so that it stays as it is until the next compaction; then the
// first one of those that are left stands in full again.
//
// A record is a reference only where it takes clearly less so. What an assistant says is none, and no request of the
// user that stands whole.
type repeats struct {
	memo     *Memo
	upto     int // the last record that was looked at
	contents []*sighting
	chunks   map[uint64][]int32          // the contents that hold a chunk, by its hash
	exact    map[[sha256.Size]byte]int32 // the content with this hash
	calls    map[string]int32            // the newest content that a call gave
	refs     map[int]references          // of the records that refer to others

	used bool // by the build going on
}

// repeatsOf names the repeats of the live records of a fold.
type repeatsOf struct {
	rules    Rules
	boundary int
	aged     int // the record that brought the compaction since which results of it take less; 0: none do
}

// sighting is a content that is shown.
type sighting struct {
	at, part int
	how      string // its record is shortened
}

// reference is a part of a record that is shown as a reference.
type reference struct {
	part, to int // to the record at this place
	text     string
}

type references []reference

// String names them.
func (refs references) String() string {
	var b strings.Builder
	for _, r := range refs {
		fmt.Fprintf(&b, "%d:%d ", r.part, r.to)
	}
	return b.String()
}

// repeats returns those of f; nil for a journal without a limit, where all is shown as it is.
func (mm *Memo) repeats(f *Fold) *repeats {
	if f.Rules.room == 0 {
		return nil
	}
	key := repeatsOf{f.Rules, f.Boundary(), f.agedAt()}
	r := mm.repeated[key]
	if r == nil {
		r = &repeats{memo: mm, upto: f.Boundary() - 1, chunks: map[uint64][]int32{}, exact: map[[sha256.Size]byte]int32{}, calls: map[string]int32{}, refs: map[int]references{}}
		mm.repeated[key] = r
	}
	r.used = true
	return r
}

// agedAt is the newest record whose arrival brought live results another share.
func (f *Fold) agedAt() (at int) {
	for _, o := range f.odd {
		if o.line >= f.Boundary() {
			at = max(at, o.aged)
		}
	}
	return at
}

func (r *repeats) size() int {
	n := 512 + 48*len(r.contents) + 48*len(r.chunks) + 64*len(r.exact)
	for call := range r.calls {
		n += len(call) + 32
	}
	for _, refs := range r.refs {
		for _, ref := range refs {
			n += len(ref.text) + 64
		}
	}
	return n
}

// show returns the record at a place of m as it is shown; plain is how it is without references. It is called for each
// live record in turn.
func (r *repeats) show(m record.Records, at int, plain rendered, c *tokens.Counter) (rendered, error) {
	if at <= r.upto {
		if refs := r.refs[at]; len(refs) > 0 {
			return r.memo.render(m, at, plain.body, refs, c)
		}
		return plain, nil
	}
	r.upto = at
	e := m.At(at)
	if int(e.Len) < minExact || e.Flags&ctxabi.Damaged != 0 {
		return plain, nil
	}
	s, err := record.Read(m, at, 1)
	if err != nil {
		return plain, err
	}
	found := featuresIn(s)
	refs := r.references(m, at, s, found, plain.how)
	now := plain
	if len(refs) > 0 {
		short, err := r.memo.render(m, at, plain.body, refs, c)
		if err != nil {
			return plain, err
		}
		// What is shortened besides must leave each result its place; see cutContents.
		crowded := short.instead == nil && s.Results && ctxabi.Weight(short.text) < record.TokensOfOne*len(s.Parts)
		if short.tokens*1000 <= plain.tokens*repeatGain && !crowded {
			r.refs[at], now = refs, short
		} else {
			refs = nil
		}
	}
	r.remember(at, found, refs, now)
	return now, nil
}

// references returns those that the parts of the record at a place of m can be shown as. found are their features, and how
// is how the record is shortened otherwise.
func (r *repeats) references(m record.Records, at int, s record.Rendering, found []features, how string) (refs references) {
	shortened := s.Alone && how != "" && record.IsUser(m.At(at)) // a request
	for i, p := range s.Parts {
		if !found[i].counts || !(s.Results && p.Result || shortened) {
			continue
		}
		if ref, ok := r.find(m, s, i, found[i], how); ok {
			refs = append(refs, ref)
		}
	}
	return refs
}

// remember notes the contents of the record at a place that later ones may refer to. found are the features of its parts,
// refs what is shown in the place of some, and now is the record as it is shown.
func (r *repeats) remember(at int, found []features, refs references, now rendered) {
	how := now.how
	switch {
	case now.instead != nil:
		how = "" // beside the references all stands in full
	case len(refs) > 0:
		return
	}
	for i, f := range found {
		refers := slices.ContainsFunc(refs, func(ref reference) bool { return ref.part == i })
		if f.counts && !refers {
			r.add(&sighting{at, i, how}, f)
		}
	}
}

// features are what a content is found again by.
type features struct {
	counts bool // it is long enough to be found again at all
	whole  [sha256.Size]byte
	chunks []chunk // none of a content that is only found if it is equal
	call   string  // what gave it; "": not known
}

type chunk struct {
	hash uint64
	size int
}

// featuresIn returns the features of each part of a record.
func featuresIn(s record.Rendering) []features {
	list := make([]features, len(s.Parts))
	for i, p := range s.Parts {
		switch n := len(p.Content); {
		case p.Call != "":
		case n >= minRepeat:
			list[i] = featuresOf(p)
		case n >= minExact:
			list[i] = features{counts: true, whole: sha256.Sum256([]byte(p.Content))}
		}
	}
	return list
}

// featuresOf cuts a content into chunks. Its digits do not count there: of what runs again only the times differ.
func featuresOf(p record.RenderingPart) features {
	f := features{counts: true, whole: sha256.Sum256([]byte(p.Content))}
	masked := []byte(p.Content)
	for i, c := range masked {
		if record.IsDigit(c) {
			masked[i] = '0'
		}
	}
	for _, c := range compress.Chunks(string(masked)) {
		f.chunks = append(f.chunks, chunk{binary.LittleEndian.Uint64(c.Hash[:]), c.Length})
	}
	if p.About.Tool != "" {
		f.call = p.About.Tool + "\x00" + p.About.Args
	}
	return f
}

// add notes a content that others may refer to.
func (r *repeats) add(s *sighting, f features) {
	n := int32(len(r.contents))
	r.contents = append(r.contents, s)
	if _, ok := r.exact[f.whole]; !ok {
		r.exact[f.whole] = n
	}
	if f.call != "" {
		r.calls[f.call] = n
	}
	for _, c := range f.chunks {
		if list := r.chunks[c.hash]; len(list) < maxSightings && !slices.Contains(list, n) {
			r.chunks[c.hash] = append(list, n)
		}
	}
}

// find looks for what part i of a record repeats: of the contents that share most with it, and what the same call gave
// last, the one to which it has the shortest reference. how is how the record is shortened otherwise.
func (r *repeats) find(m record.Records, s record.Rendering, i int, f features, how string) (best reference, ok bool) {
	shared := map[int32]int{}
	for _, c := range f.chunks {
		for _, n := range r.chunks[c.hash] {
			shared[n] += c.size
		}
	}
	var list []int32
	for n := range shared {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b int32) int { return cmp.Or(shared[b]-shared[a], int(a-b)) })
	list = list[:min(len(list), maxCandidates-1)]
	if n, ok := r.calls[f.call]; ok && f.call != "" && !slices.Contains(list, n) {
		list = append(list, n)
	}
	if n, ok := r.exact[f.whole]; ok && r.shows(n, how) {
		list = []int32{n}
	}
	p := s.Parts[i]
	kind := result.Recognise(p.Content, p.About)
	for _, n := range list {
		was := r.contents[n]
		if !r.shows(n, how) {
			continue
		}
		old, err := record.Read(m, was.at, 0)
		if err != nil || was.part >= len(old.Parts) {
			continue // the pack itself tells of what it cannot read
		}
		text, is := result.Repeat(old.Parts[was.part].Content, p.Content, kind, record.AddressOf(m, was.at).String(), s.At.Path())
		if is && (!ok || len(text) < len(best.text)) {
			best, ok = reference{i, was.at, text}, true
		}
	}
	return best, ok
}

// shows reports whether a content is shown as far as one would be that is shortened so.
func (r *repeats) shows(n int32, how string) bool {
	return r.contents[n].how == "" || r.contents[n].how == how
}

// sameResults finds folded results that are equal, with what called them: eight times the same file is one line and seven references.
type sameResults map[[sha256.Size]byte]string

// minSame is the length in bytes from which on a result is not written twice.
const minSame = 64

// of returns the address of the record that has the results of the one at a place, and "" if that is the first of them. Records are
// given from the newest on.
func (s sameResults) of(m record.Records, at int, r record.Excerpt) string {
	if !r.Result || len(r.Text) < minSame || len(r.Answers) != 1 {
		return ""
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%v\x00%s\x00%s", r.Name, r.Bytes, r.Failed, r.Exit, r.Text))
	if as, ok := s[key]; ok {
		return as
	}
	s[key] = record.AddressOf(m, at).String()
	return ""
}

// refer writes s with references in the place of some parts. instead is nil where something else had to be shortened.
func refer(s record.Rendering, refs references, body int) (text, how string, instead []string) {
	s.Parts = slices.Clone(s.Parts)
	for _, ref := range refs {
		p := &s.Parts[ref.part]
		p.Content, p.Result, p.Fenced = ref.text, false, false
	}
	s.Fenced = slices.ContainsFunc(s.Parts, func(p record.RenderingPart) bool { return record.NeedsFence(p.Content) })
	text, how = s.Write(body)
	if how == "" && s.Results {
		for i, p := range s.Parts {
			switch at := slices.IndexFunc(refs, func(ref reference) bool { return ref.part == i }); {
			case at >= 0:
				instead = append(instead, refs[at].text)
			case p.Result:
				instead = append(instead, "")
			}
		}
	}
	return text, ByRepeat, instead
}
