package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/record"
)

// The folds of a long history and the zones of its last compaction outlive this process, so that the first pack after a start folds no
// record twice, ever, and reads none for what stands behind the boundary.

// Store keeps what a memo knows of a session, beyond this process.
type Store interface {
	// Load returns what was kept last; nil: nothing is.
	Load() []byte
	// Keep keeps data in place of what was kept before. It returns an error when it is not kept.
	Keep(data []byte) error
	// Head returns what stands for the first at places of m. It returns an error when the history cannot be read.
	Head(m record.Records, at int) (string, error)
}

const (
	savedVersion = 2    // of the form of what is kept
	leastSaved   = 64   // places of a history below which nothing is kept
	savedEvery   = 8192 // places after which folds are kept where no compaction comes
)

// saved is what a memo knows of what is kept.
type saved struct {
	store    Store // nil: nothing outlives this memory
	renderer int   // of whose packs they are
	loaded   bool
	zones    int // that the memo had made when they were kept
	places   int // that they were of

	statesStore Store // of files and runs
	states      int   // places that the states were of which are kept
}

// Store makes mm keep folds and zones in folds, and what records say of files and runs in states. They are taken from there by programs
// with the same version of the renderer alone.
func (mm *Memo) Store(folds, states Store, renderer int) {
	mm.saved = saved{store: folds, statesStore: states, renderer: renderer}
}

// savedHead begins what is kept. It names all that decides folds and zones beside the records.
func (mm *Memo) savedHead() string {
	return fmt.Sprintf("ctxfs folds %d renderer %d %s\n", savedVersion, mm.saved.renderer, mm.Counter.Encoding())
}

// Save keeps folds and zones where a compaction came since they were kept, or many records, and files and runs after some records. m is
// the history without its last record, as folds of the next build begin there. It returns an error when they are not kept.
func (mm *Memo) Save(m record.Records) error {
	if mm.saved.store == nil || m.Len() < leastSaved {
		return nil
	}
	return cmp.Or(mm.saveFolds(m), mm.saveStates(m))
}

// saveFolds keeps folds and zones where it is time.
func (mm *Memo) saveFolds(m record.Records) error {
	s, n := &mm.saved, m.Len()
	if s.zones == mm.made && n-s.places < savedEvery {
		return nil
	}
	s.zones, s.places = mm.made, n
	head, err := s.store.Head(m, n)
	if err != nil {
		return err
	}
	k := kept{places: n, tools: record.ToolsUpTo(m, n), head: head, entered: mm.entered(n), zones: mm.chained()}
	for _, rules := range slices.Collect(maps.Keys(mm.folds)) {
		f := mm.Fold(m, rules)
		if mm.folds[rules] != nil { // else it knows of a record that could not be read
			k.folds = append(k.folds, f)
		}
	}
	c := &coder.Coder{Data: []byte(mm.savedHead())}
	k.code(c)
	return s.store.Keep(c.Data)
}

// restore takes what is kept of the beginning of m, once.
func (mm *Memo) restore(m record.Records) {
	s := &mm.saved
	if s.loaded || s.store == nil || mm.Counter == nil {
		return
	}
	s.loaded = true
	if m.Len() < leastSaved {
		return
	}
	mm.restoreStates(m)
	mm.restoreFolds(m)
}

// restoreFolds takes the folds and zones that are kept, where they are of the beginning of m.
func (mm *Memo) restoreFolds(m record.Records) {
	s := &mm.saved
	data, head := s.store.Load(), mm.savedHead()
	if len(data) < len(head) || string(data[:len(head)]) != head {
		return
	}
	k, ok := readKept(data[len(head):])
	if !ok || k.places > m.Len() || record.ToolsUpTo(m, k.places) != k.tools {
		return
	}
	if now, err := s.store.Head(m, k.places); err != nil || now != k.head {
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
	s.places = k.places
}

// kept is what outlives a process: folds and zones of the first places of a history.
type kept struct {
	places, tools int
	head          string // of both logs up to there
	folds         []*Fold
	entered       []entered
	zones         []namedZones
}

func (k *kept) code(c *coder.Coder) {
	coder.Number(c, &k.places, &k.tools)
	coder.Text(c, &k.head)
	coder.Pointers(c, &k.folds, func(f *Fold) { f.code(c) })
	coder.List(c, &k.entered, func(e *entered) { e.code(c) })
	coder.List(c, &k.zones, func(z *namedZones) { z.code(c) })
}

// readKept reads it. ok is false where data is something else.
func readKept(data []byte) (k kept, ok bool) {
	c := &coder.Coder{Data: data, Reads: true}
	k.code(c)
	for i, z := range k.zones {
		c.Bad = c.Bad || z.before >= i || z.before < -1
	}
	for _, f := range k.folds {
		c.Bad = c.Bad || f.N != k.places || f.N > 0 && len(f.starts) == 0 && f.Rules.room > 0
	}
	return k, !c.Bad && len(c.Data) == 0
}

// CheckFolds returns an error where data is nothing that [Memo.Save] keeps.
func CheckFolds(data []byte) error {
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	if _, ok := readKept(rest); !ok {
		return errors.New("it is no fold of a history")
	}
	return nil
}

// entered is when a summary enters, without its text.
type entered struct{ to, after int }

// entered returns those that may enter at a compaction that one of the first n records brings.
func (mm *Memo) entered(n int) (list []entered) {
	for _, s := range mm.Summaries {
		if s.After < n {
			list = append(list, entered{s.To, s.After})
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
