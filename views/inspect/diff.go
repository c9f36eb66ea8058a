package inspect

import (
	"slices"
	"sort"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Diff is what changed from one pack to another.
type Diff struct {
	From, To *Side    `json:"-"`
	Same     bool     `json:"same"` // pack.md has the same bytes
	Sides    [2]*Side `json:"packs"`
	Kept     Prefix   `json:"prefix_kept"`
	Blocks   []Change `json:"blocks"`  // that differ, by name in the order of the later pack, then removed names
	Names    []Total  `json:"names"`   // names of blocks of compacted records, if one of their blocks differs
	Records  []Move   `json:"records"` // that stand elsewhere, in the order of their logs; none where the histories have nothing to do with each other
}

// Side is one of the two packs.
type Side struct {
	Name        string   `json:"name"` // as the caller calls it
	PackID      string   `json:"pack_id"`
	Messages    int      `json:"messages"`
	Tokens      int      `json:"tokens"`
	Epoch       string   `json:"epoch"`
	EpochReason string   `json:"epoch_reason"`
	Compactions int      `json:"compactions"`
	Sections    Sections `json:"sections"`
	Zones       Zones    `json:"zones"`
	// MarkdownOnly: of this pack nothing but its pack.md is known any more, so that sections and zones are not.
	MarkdownOnly bool `json:"markdown_only,omitempty"`
}

// Prefix is what the later pack has of the beginning of the earlier one, cut back to the end of a line.
type Prefix struct {
	Bytes  int     `json:"bytes"`
	Tokens int     `json:"tokens"`
	Share  float64 `json:"share"` // of the later pack's tokens
}

// Change is a block that differs. Blocks are the same block if their name and range are equal.
type Change struct {
	ID     string `json:"id"`              // "summary (messages:280-291)"
	Name   string `json:"name"`            // "summary"
	Range  string `json:"range,omitempty"` // "messages:280-291"
	What   string `json:"what"`            // added, removed, changed
	Before int    `json:"before_tokens"`
	After  int    `json:"after_tokens"`
}

// Total adds up the blocks of one name in each pack.
type Total struct {
	Name         string `json:"name"`
	BeforeBlocks int    `json:"before_blocks"`
	AfterBlocks  int    `json:"after_blocks"`
	Unchanged    int    `json:"unchanged_blocks"` // in both packs with the same bytes
	Before       int    `json:"before_tokens"`
	After        int    `json:"after_tokens"`
}

// Move are records that stand elsewhere.
type Move struct {
	Source string `json:"source"` // messages or events
	Range  string `json:"range"`
	Count  int    `json:"count"`
	From   Place  `json:"from"`
	To     Place  `json:"to"`
	Before int    `json:"before_tokens"`
	After  int    `json:"after_tokens"`
}

// Compare returns what changed from a to b. related: they are of one session, whose records are the same.
func Compare(a, b *Pack, nameA, nameB string, related bool) *Diff {
	d := &Diff{From: a.side(nameA), To: b.side(nameB), Same: a.Markdown == b.Markdown, Records: []Move{}}
	d.Blocks, d.Names = changes(a, b)
	d.Sides = [2]*Side{d.From, d.To}
	d.Kept.Bytes = commonLines(a.Markdown, b.Markdown)
	d.Kept.Tokens = b.counter.CountParts(b.Markdown[:d.Kept.Bytes])
	if b.Tokens > 0 {
		d.Kept.Share = float64(d.Kept.Tokens) / float64(b.Tokens)
	}
	if related {
		for _, event := range []bool{false, true} {
			d.Records = append(d.Records, moves(a, b, event)...)
		}
	}
	return d
}

// Text is a unified diff of both pack.md; empty when they are the same.
func Text(a, b *Pack, nameA, nameB string) []byte {
	return Lines([]byte(a.Markdown), []byte(b.Markdown), nameA, nameB)
}

// Lines returns a unified diff of two texts; it is empty if they are equal.
func Lines(a, b []byte, nameA, nameB string) []byte { return diff.Diff(nameA, a, nameB, b) }

func (p *Pack) side(name string) *Side {
	s := &Side{Name: name, PackID: p.PackID, Messages: p.Messages, Tokens: p.Tokens, Epoch: p.Epoch, EpochReason: p.EpochReason, Compactions: p.Compactions, MarkdownOnly: p.Items == nil}
	s.Sections, s.Zones = p.Sections()
	return s
}

// commonLines is how many bytes two texts begin with alike, cut back to the end of a line.
func commonLines(a, b string) int {
	n := commonPrefix(a, b)
	if n == len(a) && n == len(b) {
		return n
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// changes compares the blocks of two packs by name and range, byte by byte, and adds up the names
// of compacted records. It compares no conversation that both packs have: moves compares its records.
func changes(a, b *Pack) (changed []Change, totals []Total) {
	changed, totals = []Change{}, []Total{}
	var names []string
	for _, block := range slices.Concat(b.parts.blocks, a.parts.blocks) {
		if name, _ := SplitBlockID(block.id); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}

	for _, name := range names {
		was, is := a.Generations(name), b.Generations(name)
		if name == conversation && len(was) > 0 && len(is) > 0 {
			continue
		}
		found, t := changesOf(name, was, is)
		changed = append(changed, found...)
		if isHistoryName(name) && len(found) > 0 {
			totals = append(totals, t)
		}
	}
	return changed, totals
}

// changesOf compares the blocks of one name. Removed blocks come first, then the order is that of is.
func changesOf(name string, was, is []Generation) (changed []Change, t Total) {
	t = Total{Name: name, BeforeBlocks: len(was), AfterBlocks: len(is), Before: tokensOf(was), After: tokensOf(is)}
	gone := slices.DeleteFunc(slices.Clone(was), func(g Generation) bool { return len(withID(is, g.ID)) > 0 })
	for _, g := range slices.Concat(gone, is) {
		old, now := withID(was, g.ID), withID(is, g.ID)
		if textOf(old) == textOf(now) {
			t.Unchanged++
			continue
		}

		c := Change{ID: g.ID, Name: name, Range: g.Range, What: "changed", Before: tokensOf(old), After: tokensOf(now)}
		switch {
		case len(old) == 0:
			c.What = "added"
		case len(now) == 0:
			c.What = "removed"
		}
		if !slices.Contains(changed, c) {
			changed = append(changed, c)
		}
	}
	return changed, t
}

// moves finds the records of one log that stand elsewhere.
func moves(a, b *Pack, event bool) (out []Move) {
	var ends []int // where a stretch of either begins, or has ended
	log := 0
	if event {
		log = 1
	}
	for _, p := range []*Pack{a, b} {
		for _, s := range p.spans[log] {
			ends = append(ends, s.From, s.To+1)
		}
	}
	sort.Ints(ends)
	ends = slices.Compact(ends)
	for i := 0; i+1 < len(ends); i++ {
		span := ctxabi.Span{From: ends[i], To: ends[i+1] - 1}
		first := Address{event, span.From}
		m := Move{Source: scheme(event), Range: span.String(), Count: span.Len(), From: a.PlaceOf(first), To: b.PlaceOf(first)}
		if m.From == m.To {
			continue
		}
		for n := span.From; n <= span.To && (m.From.shown() || m.To.shown()); n++ {
			m.Before += a.TokensOf(Address{event, n})
			m.After += b.TokensOf(Address{event, n})
		}
		if k := len(out) - 1; k >= 0 && out[k].From == m.From && out[k].To == m.To {
			if last, _ := ctxabi.ParseSpan(out[k].Range); last.To+1 == span.From {
				out[k].Range = ctxabi.Span{From: last.From, To: span.To}.String()
				out[k].Count += m.Count
				out[k].Before += m.Before
				out[k].After += m.After
				continue
			}
		}
		out = append(out, m)
	}
	return out
}

func (p Place) shown() bool { return p.Zone != Absent && p.Zone != LeftOut }
