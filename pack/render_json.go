package pack

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
)

// packJSON is the content of pack.json. Fields are sorted by their JSON names.
type packJSON struct {
	Agent        string                 `json:"agent"`
	Breakpoints  []int                  `json:"breakpoints"` // best byte offsets in pack.md for cache marks
	BudgetTokens int                    `json:"budget_tokens"`
	Compactions  int                    `json:"compactions"`
	Encoding     string                 `json:"encoding"`
	Epoch        string                 `json:"epoch"`
	EpochReason  string                 `json:"epoch_reason"`
	Framing      int                    `json:"framing_tokens"` // headings, marks, legend, days, omission lines
	Fresh        int                    `json:"fresh_tokens"`   // tokens after the prefix
	HeadSHA256   string                 `json:"head_sha256"`    // hash of the bytes before the journal
	Items        []item                 `json:"items"`
	KeptBytes    int                    `json:"kept_bytes"` // prefix that the last record kept; see [shared]
	KeptSHA256   string                 `json:"kept_sha256"`
	KeptTokens   int                    `json:"kept_tokens"`
	Omitted      []omitted              `json:"omitted"`
	PackID       string                 `json:"pack_id"`
	PrefixBytes  int                    `json:"prefix_bytes"`
	PrefixSHA256 string                 `json:"prefix_sha256"`
	Recipe       recipeJSON             `json:"recipe"`
	Repairs      []native.Repair        `json:"repairs,omitempty"` // corrections by native renderings
	Session      string                 `json:"session"`
	Stale        bool                   `json:"stale"`
	Strategy     strategyJSON           `json:"strategy"`
	Request      *ctxabi.SummaryRequest `json:"summary_request,omitempty"`
	Tokens       int                    `json:"tokens"`         // items + framing, and kept + written + fresh
	Written      int                    `json:"written_tokens"` // tokens of the prefix after KeptBytes

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

// JSON is pack.json.
func (b *Build) JSON() []byte { return b.json() }

// encode writes pack.json of a pack with these bytes before the footer.
func (p packJSON) encode(md []byte) []byte {
	p.HeadSHA256, p.KeptSHA256, p.PrefixSHA256 = hexOf(md[:p.head]), hexOf(md[:p.KeptBytes]), hexOf(md[:p.PrefixBytes])
	for i := range p.Items {
		it := &p.Items[i]
		if it.SHA256 = hexOf([]byte(it.text)); it.text == "" {
			it.SHA256 = hexOf(md[it.from:it.to])
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(p); err != nil {
		panic(err) // strings and numbers, of which all have a form
	}
	return bytes.Clone(out.Bytes())
}

func (d *draft) packJSON(b *Build, at marks) packJSON {
	p := packJSON{
		Agent:        d.in.Agent,
		Breakpoints:  []int{},
		BudgetTokens: d.in.Budget,
		Compactions:  d.fold.Compactions,
		Encoding:     d.counter.Encoding(),
		Epoch:        b.Epoch,
		EpochReason:  d.epochReason(),
		Fresh:        d.tokens.footer,
		Items:        []item{},
		KeptBytes:    d.shared.bytes,
		KeptTokens:   d.shared.tokens,
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
	if d.ask.State == ctxabi.RequestOpen || d.in.asks() {
		ask := d.ask                  // a copy, so that the result does not keep d in memory
		ask.Path = ctxabi.SummaryFile // relative, since mount points differ between hosts
		p.Request = &ask
	}
	for _, mark := range []int{at.stable, max(at.head, at.past), at.prefix} {
		if mark > 0 && !slices.Contains(p.Breakpoints, mark) {
			p.Breakpoints = append(p.Breakpoints, mark)
		}
	}
	slices.Sort(p.Breakpoints)
	stable, session := d.around()
	for _, block := range stable {
		p.Items = d.addBlock(p.Items, block)
	}
	journal := func(parts []journal.Part, begin int) {
		items, framing := d.journalItems(parts, begin)
		p.Items, p.Framing = append(p.Items, items...), p.Framing+framing
	}
	journal(d.inHead(), at.lead)
	for _, block := range session {
		p.Items = d.addBlock(p.Items, block)
	}
	journal(d.behindHead(), at.head)
	for _, block := range d.footer {
		p.Items = d.addBlock(p.Items, block)
	}
	for _, b := range slices.Concat(d.head, d.footer) {
		if b.kind == markKind {
			p.Framing += b.tokens
		}
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
		if p.Omitted {
			s := record.StretchOf(d.history, p.Span)
			if s.Messages.From > 0 {
				list = append(list, d.leftOutOf(record.Address{Line: s.Messages.From}, s.Messages, p.Bytes-p.Events.Bytes, p.Weight-p.Events.Weight))
			}
			if s.Events.From > 0 {
				list = append(list, d.leftOutOf(record.Address{Line: s.Events.From, Event: true}, s.Events, p.Events.Bytes, p.Events.Weight))
			}
		}
	}
	for _, b := range d.footer {
		block(b)
	}
	return list
}

// leftOutOf is the omission of records of one log, from the one at first on.
func (d *draft) leftOutOf(first record.Address, s ctxabi.Span, bytes, weight int64) omitted {
	o := omitted{Source: first.Scheme(), Range: s.String(), Bytes: bytes, Reason: d.whyLeftOut(), TokensEst: weight, Path: ctxabi.LineDir}
	if s.Len() == 1 {
		o.Path += "/" + first.String()
	}
	return o
}

// whyLeftOut is why records do not stand in the journal.
func (d *draft) whyLeftOut() string {
	switch {
	case !d.journal.Present:
		return "not_in_recipe"
	case d.fold.LeftBy == journal.ByIterations:
		return journal.ByIterations
	case d.journal.Truncate:
		return "truncated"
	}
	return "compacted"
}
