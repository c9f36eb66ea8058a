package journal

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/pack/record"
)

// The folds of a long history and the zones of its last compaction outlive this process, so that the first pack after a start folds no
// record twice, ever, and reads none for what stands behind the boundary.

// FoldStore keeps the folds and the zones of a session, beyond this process.
type FoldStore interface {
	// Load returns what was kept last; nil: nothing is.
	Load() []byte
	// Keep keeps data in place of what was kept before. It returns an error when it is not kept.
	Keep(data []byte) error
	// Head returns what stands for the first at places of m. It returns an error when the history cannot be read.
	Head(m record.Records, at int) (string, error)
}

const (
	savedVersion = 1    // of the form of what is kept
	leastSaved   = 1024 // places of a history below which nothing is kept
	savedEvery   = 8192 // places after which folds are kept where no compaction comes
)

// saved is what a memo knows of what is kept.
type saved struct {
	store    FoldStore // nil: nothing outlives this memory
	renderer int       // of whose packs they are
	loaded   bool
	zones    int // that the memo had made when they were kept
	places   int // that they were of
}

// Store makes mm keep folds and zones in s. They are taken from there by programs with the same version of the renderer alone.
func (mm *Memo) Store(s FoldStore, renderer int) { mm.saved = saved{store: s, renderer: renderer} }

// savedHead begins what is kept. It names all that decides folds and zones beside the records.
func (mm *Memo) savedHead() string {
	return fmt.Sprintf("ctxfs folds %d renderer %d %s\n", savedVersion, mm.saved.renderer, mm.Counter.Encoding())
}

// Save keeps folds and zones where a compaction came since they were kept, or many records. m is the history without its last record,
// as folds of the next build begin there. It returns an error when they are not kept.
func (mm *Memo) Save(m record.Records) error {
	s, n := &mm.saved, m.Len()
	if s.store == nil || n < leastSaved || s.zones == mm.made && n-s.places < savedEvery {
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
	c := &coder{data: []byte(mm.savedHead())}
	k.code(c)
	return s.store.Keep(c.data)
}

// restore takes the folds and zones that are kept, where they are of the beginning of m.
func (mm *Memo) restore(m record.Records) {
	s := &mm.saved
	if s.loaded || s.store == nil || mm.Counter == nil {
		return
	}
	s.loaded = true
	if m.Len() < leastSaved {
		return
	}
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

func (k *kept) code(c *coder) {
	number(c, &k.places, &k.tools)
	c.text(&k.head)
	list(c, &k.folds, func(f **Fold) {
		if c.reads {
			*f = &Fold{}
		}
		(*f).code(c)
	})
	list(c, &k.entered, func(e *entered) { e.code(c) })
	list(c, &k.zones, func(z *namedZones) { z.code(c) })
}

// readKept reads it. ok is false where data is something else.
func readKept(data []byte) (k kept, ok bool) {
	c := &coder{data: data, reads: true}
	k.code(c)
	for i, z := range k.zones {
		c.bad = c.bad || z.before >= i || z.before < -1
	}
	for _, f := range k.folds {
		c.bad = c.bad || f.N != k.places || f.N > 0 && len(f.starts) == 0 && f.Rules.room > 0
	}
	return k, !c.bad && len(c.data) == 0
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

func (z *namedZones) code(c *coder) {
	if z.key.code(c); c.reads {
		z.zones = &Zones{}
	}
	number(c, &z.before)
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
