package pack

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// item is something that stands in the pack. SHA256 is of its bytes in pack.md.
type item struct {
	Cut       bool     `json:"cut"`
	Extra     bool     `json:"extra,omitempty"` // its records are counted in other items and omissions
	Files     []string `json:"files,omitempty"` // that a source that chooses shows, where they are several
	ID        string   `json:"id,omitempty"`    // of the block
	Kind      string   `json:"kind"`
	KindV1    string   `json:"kind_v1,omitempty"` // what kind was before it was called as a reader of the format expects
	Log       string   `json:"log,omitempty"`     // of records: messages or events
	Path      string   `json:"path,omitempty"`    // of the whole
	Phase     phase    `json:"phase"`
	Range     string   `json:"range,omitempty"`    // "12-18", "tail:40"
	RangeV1   string   `json:"range_v1,omitempty"` // a tail in numbers
	SHA256    string   `json:"sha256"`
	Shortened string   `json:"shortened,omitempty"` // of a record: by what, "head_tail" or the kind of the tool's result
	Source    string   `json:"source"`              // a file of the session
	Stale     bool     `json:"stale,omitempty"`     // the last known content
	Tokens    int      `json:"tokens"`
	Trust     string   `json:"trust"`
	Version   int      `json:"version,omitempty"` // number of the delivered summary

	text     string // these bytes, where they are kept anyway
	from, to int    // where they stand in pack.md, elsewhere
}

// name calls the item what readers of the format expect, and keeps beside it what it was called before. last is the newest message.
func (it *item) name(last int) {
	it.Source, it.Log = logFile(it.Source)
	switch {
	case it.Source == ctxabi.PinnedDir+"/system.md":
		it.Kind, it.KindV1 = "system", it.Kind
	case it.Kind == "recent_messages" && !it.Cut:
		if s, err := ctxabi.ParseSpan(it.Range); err == nil && s.To == last {
			it.Range, it.RangeV1 = fmt.Sprintf("tail:%d", s.Len()), it.Range
		}
	}
}

// logFile returns the file of a source that is a log, and which log it is: messages or events. Other sources are files already.
func logFile(source string) (file, log string) {
	if source == "messages" || source == "events" {
		return source + ".jsonl", source
	}
	return source, ""
}

func (d *draft) addBlock(items []item, b block) []item {
	if b.text == "" || b.kind == markKind {
		return items
	}
	if len(b.recalled) > 0 {
		return addRecalled(items, b)
	}
	if len(b.parts) > 0 && strings.HasSuffix(b.text, b.raw) { // not in a fence
		return d.addParts(items, b)
	}
	it := item{ID: b.id, Kind: b.kind, Source: b.path, Phase: b.phase, Trust: b.trust,
		Tokens: b.tokens, text: b.text, Cut: b.cut, Stale: b.stale}
	if b.cut {
		it.Path = b.path
	}
	if len(b.shown) > 1 {
		it.Files = b.shown
	}
	return append(items, it)
}

// addRecalled adds an item for each part of an old record; the first one has the block's heading.
func addRecalled(items []item, b block) []item {
	for _, r := range b.recalled {
		it := item{ID: b.id, Kind: b.kind, Source: r.Address.Scheme(), Range: strconv.Itoa(r.Address.Line), Phase: b.phase, Trust: b.trust,
			Extra: true, Tokens: r.Tokens, text: r.Text, Cut: r.Cut}
		if r.Cut {
			it.Path = r.Address.Path()
		}
		items = append(items, it)
	}
	return items
}

// addParts adds an item for each part of a block that has a source of its own; the first one has the block's heading.
func (d *draft) addParts(items []item, b block) []item {
	first, left := len(items), b.tokens
	for i, p := range b.parts {
		text := p.Text
		if i == 0 {
			text = b.text[:len(b.text)-len(b.raw)+len(p.Text)]
		}
		it := item{ID: b.id, Kind: b.kind, Source: p.Path, Phase: b.phase, Trust: b.trust, text: text, Cut: p.Cut, Stale: b.stale}
		if it.Cut {
			it.Path = p.Path
		}
		if i > 0 {
			it.Tokens = d.counter.CountCached(text)
			left -= it.Tokens
		}
		items = append(items, it)
	}
	items[first].Tokens = left
	return items
}

// journalItems returns one item for each run of records that stand in full and
// one for each record that is cut. The parts begin at offset in pack.md.
func (d *draft) journalItems(parts []journal.Part, offset int) (items []item, framing int) {
	begun := 0 // offset of the item; the other one is the part's
	var run ctxabi.Span
	var event bool
	var last *item
	finish := func() {
		if last != nil {
			last.Range, last.from, last.to = run.String(), begun, offset
			items, last = append(items, *last), nil
		}
	}
	behind := journal.Piece{}
	for _, p := range parts {
		if p.Kind() != "" && p.Zone != journal.InFolds {
			finish()
			items = append(items, d.extra(p))
			offset += len(p.Text)
			continue
		}
		if p.From == 0 || p.Omitted {
			finish()
			framing += p.Tokens
			offset += len(p.Text)
			continue
		}
		at := record.AddressOf(d.history, p.From)
		if last == nil || p.How != "" || last.Cut || p.Kept != behind.Kept || p.Zone != behind.Zone || at.Event != event || at.Line != run.To+1 {
			finish()
			last = &item{Kind: "recent_" + at.Scheme(), Source: at.Scheme(), Phase: phaseJournal, Trust: "history", Cut: p.How != "", Shortened: p.How}
			run, begun, behind, event = ctxabi.Span{From: at.Line, To: at.Line}, offset, p.Piece, at.Event
			switch {
			case p.Zone == journal.InFolds:
				last.Kind = "folded"
			case p.Lead:
				last.Kind, last.Phase, last.Trust = "system", phaseStable, "owner"
			case p.Kept:
				last.Kind = "kept_" + at.Scheme()
			}
			if last.Cut {
				last.Path = at.Path()
			}
		}
		run.To = at.Line
		last.Tokens += p.Tokens
		offset += len(p.Text)
	}
	finish()
	return items, framing
}

// extra is the item of a block that says again what of the records of a span may be needed.
func (d *draft) extra(p journal.Part) item {
	s := record.StretchOf(d.history, p.Span)
	it := item{Kind: p.Kind(), Source: "messages", Range: s.Messages.String(), Phase: phaseJournal, Trust: record.LabelOf(p.Kind()).Trust(),
		Extra: true, Tokens: p.Tokens, text: p.Text}
	if s.Messages.From == 0 {
		it.Source, it.Range = "events", s.Events.String()
	}
	if p.Version > 0 {
		it.Version, it.Cut, it.Path = p.Version, p.VersionCut, ctxabi.SummaryPath(p.Version)
	}
	return it
}
