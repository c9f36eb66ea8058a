package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// packJSON is pack.json. Fields stand in the order of their names.
type packJSON struct {
	Agent        string       `json:"agent"`
	Breakpoints  []int        `json:"breakpoints"` // byte offsets in pack.md after which a cache mark is worth most
	BudgetTokens int          `json:"budget_tokens"`
	Compactions  int          `json:"compactions"`
	Encoding     string       `json:"encoding"`
	Epoch        string       `json:"epoch"`
	EpochReason  string       `json:"epoch_reason"`
	Framing      int          `json:"framing_tokens"` // of the conversation's heading and the lines that stand for what is left out
	Fresh        int          `json:"fresh_tokens"`   // of what stands behind the prefix
	HeadSHA256   string       `json:"head_sha256"`    // of all bytes before the journal: another one after an edit of a static file
	Items        []item       `json:"items"`
	KeptBytes    int          `json:"kept_bytes"` // that the pack of one record fewer begins with, too; see [kept]
	KeptSHA256   string       `json:"kept_sha256"`
	KeptTokens   int          `json:"kept_tokens"`
	Omitted      []omitted    `json:"omitted"`
	PackID       string       `json:"pack_id"`
	PrefixBytes  int          `json:"prefix_bytes"`
	PrefixSHA256 string       `json:"prefix_sha256"`
	Recipe       recipeJSON   `json:"recipe"`
	Repairs      []repair     `json:"repairs,omitempty"` // what native renderings make valid
	Session      string       `json:"session"`
	Stale        bool         `json:"stale"`
	Strategy     strategyJSON `json:"strategy"`
	Tokens       int          `json:"tokens"`         // exact, of pack.md: the items' and framing_tokens; also those kept, written and fresh
	Written      int          `json:"written_tokens"` // of the prefix, behind what is kept

	head int // bytes before the journal
}

// recipeJSON names the recipe that a pack was compiled by.
type recipeJSON struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// strategyJSON is the strategy that was compiled.
type strategyJSON struct {
	LeavesOut    []string      `json:"leaves_out"` // types or ids of sources
	Name         string        `json:"name"`
	Sections     []sectionJSON `json:"sections"`      // those that stand in the pack
	SystemPrompt bool          `json:"system_prompt"` // the strategy's own stands in the pack
}

type sectionJSON struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Tokens int    `json:"tokens"`
}

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

	text     string // these bytes, where they are kept anyway
	from, to int    // where they stand in pack.md, elsewhere
}

// omitted is something that does not stand in the pack, or not all of it.
type omitted struct {
	Bytes     int64  `json:"bytes"`
	ID        string `json:"id,omitempty"` // of the block
	Log       string `json:"log,omitempty"`
	Path      string `json:"path"`
	Range     string `json:"range,omitempty"`
	Reason    string `json:"reason"`
	Source    string `json:"source"`
	TokensEst int64  `json:"tokens_est"`
}

// account is pack.json of a build, and what it is written from until somebody asks.
type account struct {
	once  sync.Once
	bytes atomic.Int64
	packJSON
	data []byte
}

// JSON is pack.json.
func (b *Build) JSON() []byte {
	a := b.account
	a.once.Do(func() {
		a.HeadSHA256 = hexOf(b.Markdown[:a.head])
		a.KeptSHA256, a.PrefixSHA256 = hexOf(b.Markdown[:a.KeptBytes]), hexOf(b.Markdown[:b.Prefix])
		for i := range a.Items {
			bytes := b.Markdown[a.Items[i].from:a.Items[i].to]
			if text := a.Items[i].text; text != "" {
				bytes = []byte(text)
			}
			a.Items[i].SHA256 = hexOf(bytes)
		}
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(a.packJSON); err != nil {
			panic(err) // strings and numbers, of which all have a form
		}
		a.data, a.packJSON = bytes.Clone(out.Bytes()), packJSON{}
		a.bytes.Store(int64(len(a.data)))
	})
	return a.data
}

func newAccount(p packJSON) *account {
	a := &account{packJSON: p}
	a.bytes.Store(int64(1024 + 400*(len(p.Items)+len(p.Omitted))))
	return a
}

// size is about how many bytes it takes; a build that was not compiled has none.
func (a *account) size() int {
	if a == nil {
		return 0
	}
	return int(a.bytes.Load())
}

func (d *draft) packJSON(b *Build, at marks) packJSON {
	p := packJSON{
		Agent:        d.in.Agent,
		Breakpoints:  []int{},
		BudgetTokens: d.in.Budget,
		Compactions:  d.fold.compactions,
		Encoding:     d.counter.Encoding(),
		Epoch:        b.Epoch,
		EpochReason:  d.epochReason(),
		Fresh:        d.tokens.footer,
		Items:        []item{},
		KeptBytes:    d.kept.bytes,
		KeptTokens:   d.kept.tokens,
		Omitted:      d.omissions(),
		PackID:       b.ID,
		PrefixBytes:  b.Prefix,
		head:         at.head,
		Recipe:       recipeJSON{d.recipe.Name, d.recipe.Hash},
		Repairs:      d.repairs(),
		Session:      d.in.Session,
		Stale:        b.Stale,
		Strategy:     d.strategyJSON(),
		Tokens:       b.Tokens,
		Written:      d.written(),
	}
	for _, mark := range []int{at.stable, at.head, at.past, at.prefix} {
		if mark > 0 && !slices.Contains(p.Breakpoints, mark) {
			p.Breakpoints = append(p.Breakpoints, mark)
		}
	}
	slices.Sort(p.Breakpoints)
	stable, session := d.around()
	for _, block := range stable {
		p.Items = d.addBlock(p.Items, block)
	}
	journal := func(parts []part, begin int) {
		items, framing := d.journalItems(parts, begin)
		p.Items, p.Framing = append(p.Items, items...), p.Framing+framing
	}
	journal(d.inHead(), at.lead)
	for _, block := range session {
		p.Items = d.addBlock(p.Items, block)
	}
	journal(d.behindHead(), at.head)
	for _, block := range append(slices.Clone(d.footer), d.goal) {
		p.Items = d.addBlock(p.Items, block)
	}
	for i := range p.Items {
		p.Items[i].name(d.in.Messages.Len())
	}
	for i := range p.Omitted {
		o := &p.Omitted[i]
		o.Source, o.Log = logFile(o.Source)
	}
	return p
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

// logFile gives the file of a source that is a log, and which log it is: messages or events. Other sources are files already.
func logFile(source string) (file, log string) {
	if source == "messages" || source == "events" {
		return source + ".jsonl", source
	}
	return source, ""
}

func (d *draft) addBlock(items []item, b block) []item {
	if b.text == "" {
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
		it := item{ID: b.id, Kind: b.kind, Source: r.address.scheme(), Range: strconv.Itoa(r.address.n), Phase: b.phase, Trust: b.trust,
			Extra: true, Tokens: r.tokens, text: r.text, Cut: r.cut}
		if r.cut {
			it.Path = r.address.path()
		}
		items = append(items, it)
	}
	return items
}

// addParts adds an item for each part of a block that has a source of its own; the first one has the block's heading.
func (d *draft) addParts(items []item, b block) []item {
	first, left := len(items), b.tokens
	for i, p := range b.parts {
		text := p.text
		if i == 0 {
			text = b.text[:len(b.text)-len(b.raw)+len(p.text)]
		}
		it := item{ID: b.id, Kind: b.kind, Source: p.path, Phase: b.phase, Trust: b.trust, text: text, Cut: p.cut, Stale: b.stale}
		if it.Cut {
			it.Path = p.path
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

func (d *draft) strategyJSON() strategyJSON {
	s := strategyJSON{LeavesOut: slices.Clone(d.strategy.LeavesOut), Name: d.strategy.Name, Sections: []sectionJSON{}, SystemPrompt: d.prompt}
	if s.LeavesOut == nil {
		s.LeavesOut = []string{}
	}
	for _, b := range d.head {
		if b.kind == "section" && b.text != "" {
			s.Sections = append(s.Sections, sectionJSON{Name: strings.TrimPrefix(b.id, d.strategy.Name+"/"), Source: b.path, Tokens: b.tokens})
		}
	}
	return s
}

// journalItems gives one item for each run of records that stand in full and
// one for each record that is cut. The parts begin at offset in pack.md.
func (d *draft) journalItems(parts []part, offset int) (items []item, framing int) {
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
	behind := piece{}
	for _, p := range parts {
		if p.zone == inSummary || p.zone == inLines || p.zone == inNotes {
			finish()
			items = append(items, d.extra(p))
			offset += len(p.text)
			continue
		}
		if p.From == 0 || p.omitted {
			finish()
			framing += p.tokens
			offset += len(p.text)
			continue
		}
		at := addressOf(d.history, p.From)
		if last == nil || p.how != "" || last.Cut || p.kept != behind.kept || p.zone != behind.zone || at.event != event || at.n != run.To+1 {
			finish()
			last = &item{Kind: "recent_" + at.scheme(), Source: at.scheme(), Phase: phaseJournal, Trust: "history", Cut: p.how != "", Shortened: p.how}
			run, begun, behind, event = ctxabi.Span{From: at.n, To: at.n}, offset, p.piece, at.event
			switch {
			case p.zone == inFolds:
				last.Kind = "folded"
			case p.lead:
				last.Kind, last.Phase = "system", phaseStable
			case p.kept:
				last.Kind = "kept_" + at.scheme()
			}
			if last.Cut {
				last.Path = at.path()
			}
		}
		run.To = at.n
		last.Tokens += p.tokens
		offset += len(p.text)
	}
	finish()
	return items, framing
}

// extra is the item of a block that says again what of the records of a span may be needed.
func (d *draft) extra(p part) item {
	s := stretchOf(d.history, p.Span)
	it := item{Kind: "key_lines", Source: "messages", Range: s.messages.String(), Phase: phaseJournal, Trust: "history", Extra: true, Tokens: p.tokens, text: p.text}
	switch p.zone {
	case inSummary:
		it.Kind = "summary"
	case inNotes:
		it.Kind = p.notes
	}
	if p.summarized > 0 {
		it.Trust = "generator"
	}
	if s.messages.From == 0 {
		it.Source, it.Range = "events", s.events.String()
	}
	return it
}

// omissions lists what is left out: records behind the boundary, and of blocks what their share had no room for.
func (d *draft) omissions() []omitted {
	list := []omitted{}
	if d.in.NoEvents {
		list = append(list, omitted{Source: ctxabi.EventsFile, Reason: "it cannot be opened, see " + ctxabi.ErrorsFile, Path: ctxabi.EventsFile})
	}
	block := func(b block) {
		if b.reason == "" {
			return
		}
		list = append(list, omitted{ID: b.id, Source: b.path, Bytes: int64(b.left), Reason: b.reason, Path: b.path, TokensEst: int64(max(0, b.asked-b.tokens))})
	}
	for _, b := range d.head {
		block(b)
	}
	for _, p := range d.parts {
		if p.omitted {
			s := stretchOf(d.history, p.Span)
			if s.messages.From > 0 {
				list = append(list, d.leftOutOf(address{n: s.messages.From}, s.messages, p.bytes-p.events.bytes, p.weight-p.events.weight))
			}
			if s.events.From > 0 {
				list = append(list, d.leftOutOf(address{s.events.From, true}, s.events, p.events.bytes, p.events.weight))
			}
		}
	}
	for _, b := range d.footer {
		block(b)
	}
	return list
}

// leftOutOf is the omission of records of one log, from the one at first on.
func (d *draft) leftOutOf(first address, s ctxabi.Span, bytes, weight int64) omitted {
	o := omitted{Source: first.scheme(), Range: s.String(), Bytes: bytes, Reason: d.whyLeftOut(), TokensEst: weight, Path: ctxabi.LineDir}
	if s.Len() == 1 {
		o.Path += "/" + first.String()
	}
	return o
}

// whyLeftOut is why records do not stand in the journal.
func (d *draft) whyLeftOut() string {
	switch {
	case !d.journal.present:
		return "not_in_recipe"
	case d.fold.leftBy == byIterations:
		return byIterations
	case d.journal.truncate:
		return "truncated"
	}
	return "compacted"
}

func hexOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
