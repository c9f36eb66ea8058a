package journal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
)

// The folds of a long history and the zones of its last compaction outlive this process, so that the first pack after a start folds no
// record twice, ever, and reads none for what stands behind the boundary.

const (
	foldsVersion = 5    // version of the encoding
	leastSaved   = 64   // records of a history below which nothing is stored
	savedEvery   = 8192 // records after which folds are stored where no compaction comes
)

// saved is what a memo knows of stored states.
type saved struct {
	folds    *prefix.Store // nil: nothing outlives this memory
	file     prefix.File
	renderer int
	loaded   bool
	zones    int // that the memo had made when folds were stored
	places   int // records that the folds were of
}

// Store makes mm keep its folds and zones in one file and the sections in another one. Only programs
// with the same version of the renderer load them.
func (mm *Memo) Store(folds, states prefix.File, renderer int) {
	mm.saved = saved{file: folds, renderer: renderer}
	mm.states.StoreIn(states, renderer)
}

// foldsStore returns the store of folds and zones. Its version names all that decides them except the records.
func (mm *Memo) foldsStore() *prefix.Store {
	s := &mm.saved
	if s.folds == nil && s.file != nil {
		s.folds = prefix.NewStore("folds", fmt.Sprintf("%s %s", foldsVersionOf(s.renderer), mm.Counter.Encoding()), s.file)
	}
	return s.folds
}

func foldsVersionOf(renderer int) string {
	return fmt.Sprintf("%d renderer %d", foldsVersion, renderer)
}

// Save stores folds and zones if a compaction came since the last time, or many records, and the sections after some
// records. m is the history without its last record, since folds of the next build begin there. It returns an error if
// they cannot be stored.
func (mm *Memo) Save(m record.Records) error {
	if mm.saved.file == nil || m.Len() < leastSaved {
		return nil
	}
	return cmp.Or(mm.saveFolds(m), mm.states.Save(m))
}

// saveFolds keeps folds and zones where it is time.
func (mm *Memo) saveFolds(m record.Records) error {
	s, n := &mm.saved, m.Len()
	if s.zones == mm.made && n-s.places < savedEvery {
		return nil
	}
	s.zones, s.places = mm.made, n
	k := kept{places: n, entered: mm.entered(n), zones: mm.chained()}
	for _, rules := range slices.Collect(maps.Keys(mm.folds)) {
		f := mm.Fold(m, rules)
		if mm.folds[rules] != nil { // else it knows of a record that could not be read
			k.folds = append(k.folds, f)
		}
	}
	c := &coder.Coder{}
	k.code(c)
	return mm.foldsStore().Save(m, n, c.Data)
}

// restore loads what is stored of a prefix of m, once.
func (mm *Memo) restore(m record.Records) {
	s := &mm.saved
	if s.loaded || s.file == nil || mm.Counter == nil {
		return
	}
	s.loaded = true
	if m.Len() < leastSaved {
		return
	}
	mm.states.Restore(m)
	mm.restoreFolds(m)
}

// restoreFolds loads the stored folds and zones if they belong to a prefix of m.
func (mm *Memo) restoreFolds(m record.Records) {
	data, at, ok := mm.foldsStore().Load(m)
	if !ok {
		return
	}
	k, ok := readKept(data, at)
	if !ok {
		return
	}
	for i := range k.zones {
		z := &k.zones[i]
		if z.before >= 0 {
			z.key.before = k.zones[z.before].zones
		}
		mm.zoned[z.key] = z.zones
	}
	for _, f := range k.folds {
		mm.folds[f.Rules] = &folded{f, f, k.entered}
	}
	mm.saved.places = k.places
}

// kept are the stored folds and zones of the first records of a history.
type kept struct {
	places  int
	folds   []*Fold
	entered []entered
	zones   []namedZones
}

func (k *kept) code(c *coder.Coder) {
	coder.Pointers(c, &k.folds, func(f *Fold) { f.code(c) })
	coder.List(c, &k.entered, func(e *entered) { e.code(c) })
	coder.List(c, &k.zones, func(z *namedZones) { z.code(c) })
}

// readKept decodes the folds and zones of the first at records; ok is false if data is something else.
func readKept(data []byte, at int) (k kept, ok bool) {
	c := &coder.Coder{Data: data, Reads: true}
	k.places = at
	k.code(c)
	for i, z := range k.zones {
		c.Bad = c.Bad || z.before >= i || z.before < -1
	}
	for _, f := range k.folds {
		c.Bad = c.Bad || f.N != at || f.N > 0 && len(f.starts) == 0 && f.Rules.room > 0
	}
	return k, !c.Bad && len(c.Data) == 0
}

// CheckFolds returns an error if data is not what [Memo.Save] stores of folds and zones.
func CheckFolds(data []byte, renderer int) error {
	return prefix.Check("folds", foldsVersionOf(renderer), data, func(state []byte, at int) bool {
		_, ok := readKept(state, at)
		return ok
	})
}

// CheckStates returns an error if data is not what [Memo.Save] stores of the sections.
func CheckStates(data []byte, renderer int) error { return section.Check(data, renderer) }

// entered contains the fields of a delivered version that determine a fold.
type entered struct{ n, to, after, tokens int }

// entered lists the versions that a compaction at one of the first n records may use.
func (mm *Memo) entered(n int) (list []entered) {
	for _, s := range mm.Summaries {
		if s.After < n {
			list = append(list, entered{s.N, s.To, s.After, s.Tokens})
		}
	}
	return list
}

// namedZones are zones with what names them.
type namedZones struct {
	key    zonesOf
	before int // where those before them stand among all; -1: there are none
	zones  *Zones
}

func (z *namedZones) code(c *coder.Coder) {
	if z.key.code(c); c.Reads {
		z.zones = &Zones{}
	}
	coder.Number(c, &z.before)
	z.zones.code(c)
}

// chained returns all zones that can be kept, those before others first.
func (mm *Memo) chained() (list []namedZones) {
	for key, z := range mm.zoned {
		if !slices.ContainsFunc(slices.Concat(z.blocks, z.folds), func(p Part) bool { return p.Contents != nil || p.Instead != nil }) {
			list = append(list, namedZones{key, -1, z})
		}
	}
	slices.SortFunc(list, func(a, b namedZones) int { return a.key.at - b.key.at })
	at := map[*Zones]int{}
	kept := list[:0]
	for _, z := range list {
		before, known := at[z.key.before]
		if z.key.before != nil && !known {
			continue
		}
		if z.key.before != nil {
			z.before = before
		}
		at[z.zones] = len(kept)
		kept = append(kept, z)
	}
	return kept
}
