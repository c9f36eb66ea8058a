package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// Pack is one pack, as its pack.md and pack.json say it. Of one that is known by its pack.md alone only Markdown,
// PackID, Tokens and what stands in it are there.
type Pack struct {
	Messages     int       `json:"-"` // of messages.jsonl that it is of
	Markdown     string    `json:"-"`
	BudgetTokens int       `json:"budget_tokens"`
	Compactions  int       `json:"compactions"`
	Encoding     string    `json:"encoding"`
	Epoch        string    `json:"epoch"`
	EpochReason  string    `json:"epoch_reason"`
	Framing      int       `json:"framing_tokens"`
	Fresh        int       `json:"fresh_tokens"` // of the footer, its marks included
	Items        []Item    `json:"items"`
	Omitted      []Omitted `json:"omitted"`
	PackID       string    `json:"pack_id"`
	PrefixBytes  int       `json:"prefix_bytes"`
	Session      string    `json:"session"`
	Tokens       int       `json:"tokens"`
	// Request is the state of the summary request in pack.json; nil if pack.json has none.
	Request *ctxabi.SummaryRequest `json:"summary_request"`

	counter *tokens.Counter
	parts   *parts
	spans   [2][]stretch // by place, of messages and of events
}

// Item is something that stands in a pack; docs/abi.md says what its fields are.
type Item struct {
	Cut       bool   `json:"cut"`
	Extra     bool   `json:"extra"`
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Path      string `json:"path"`
	Phase     string `json:"phase"`
	Range     string `json:"range"`
	RangeV1   string `json:"range_v1"` // a tail in numbers
	SHA256    string `json:"sha256"`
	Shortened string `json:"shortened"`
	Source    string `json:"source"`
	Stale     bool   `json:"stale"`
	Tokens    int    `json:"tokens"`
}

// Omitted is something that does not stand in a pack, or not all of it.
type Omitted struct {
	Bytes     int64  `json:"bytes"`
	ID        string `json:"id"`
	Path      string `json:"path"`
	Range     string `json:"range"`
	Reason    string `json:"reason"`
	Source    string `json:"source"`
	TokensEst int    `json:"tokens_est"`
}

// ofLog reports whether a source is a log, and which one.
func ofLog(source string) (event, ok bool) {
	source = strings.TrimSuffix(source, ".jsonl") // which older daemons leave out
	return source == scheme(true), source == scheme(true) || source == scheme(false)
}

// NewPack reads a pack of the first n messages; account is its pack.json, nil where that is not known.
// It returns an error if account is not the JSON of a pack, or the encoding is unknown.
func NewPack(n int, markdown, account []byte, encoding string) (*Pack, error) {
	p := &Pack{Messages: n, Markdown: string(markdown), Encoding: encoding}
	if account != nil {
		if err := json.Unmarshal(account, p); err != nil {
			return nil, fmt.Errorf("%s: %w", ctxabi.PackJSONFile, err)
		}
	}
	var err error
	if p.counter, err = tokens.For(p.Encoding); err != nil {
		return nil, err
	}
	p.parts = takeApart(p.Markdown)
	if account == nil {
		p.Tokens = p.counter.CountParts(p.Markdown)
	}
	p.place()
	return p, nil
}

// Zone is the part of the conversation in which a record stands.
type Zone string

// The zones, from what stands whole to what does not stand there.
const (
	Absent    Zone = ""          // it had not arrived, or is no record that packs show
	Full      Zone = "full"      // as it is
	Shortened Zone = "shortened" // shorter than it is
	Kept      Zone = "kept"      // behind the boundary, but not folded
	Folded    Zone = "folded"    // behind the boundary, as one line
	LeftOut   Zone = "left_out"
)

// Place is a zone, and how or why a record stands there: the name of what shortened it, or the reason why it is left out.
type Place struct {
	Zone Zone   `json:"zone"`
	How  string `json:"how,omitempty"`
}

// String returns it in words.
func (p Place) String() string {
	switch {
	case p.Zone == Absent:
		return "not in the conversation"
	case p.Zone == Full:
		return "in full"
	case p.Zone == LeftOut:
		return "left out: " + p.How
	case p.Zone == Kept && p.How == "":
		return "kept in full"
	case p.Zone == Kept:
		return "kept, shortened as " + p.How
	case p.Zone == Shortened:
		return "shortened as " + p.How
	}
	return string(p.Zone)
}

// stretch is a run of records of one log that stand at one place.
type stretch struct {
	ctxabi.Span
	Place
}

// place finds out where each record stands.
func (p *Pack) place() {
	add := func(event bool, s stretch) {
		log := 0
		if event {
			log = 1
		}
		p.spans[log] = append(p.spans[log], s)
	}
	known := p.Items != nil
	for _, it := range p.Items {
		event, ok := ofLog(it.Source)
		span, err := ctxabi.ParseSpan(cmp.Or(it.RangeV1, it.Range))
		if !ok || it.Extra || err != nil {
			continue
		}
		add(event, stretch{span, it.place()})
	}
	for _, o := range p.Omitted {
		event, ok := ofLog(o.Source)
		if span, err := ctxabi.ParseSpan(o.Range); ok && err == nil {
			add(event, stretch{span, Place{LeftOut, o.Reason}})
		}
	}
	if !known {
		for _, a := range p.parts.order {
			place := Place{Zone: Full}
			if head, _, _ := strings.Cut(p.parts.records[a], "\n"); strings.Contains(head, " (folded)") {
				place.Zone = Folded
			}
			add(a.Event, stretch{ctxabi.Span{From: a.N, To: a.N}, place})
		}
		for _, g := range p.parts.gaps {
			if g.messages.From > 0 {
				add(false, stretch{g.messages, Place{Zone: LeftOut, How: "left out"}})
			}
			if g.events.From > 0 {
				add(true, stretch{g.events, Place{Zone: LeftOut, How: "left out"}})
			}
		}
	}
	for _, list := range p.spans {
		slices.SortStableFunc(list, func(a, b stretch) int { return cmp.Compare(a.From, b.From) })
	}
}

func (it *Item) place() Place {
	switch {
	case it.Kind == "folded":
		return Place{Zone: Folded}
	case strings.HasPrefix(it.Kind, "kept_"):
		return Place{Kept, it.Shortened}
	case it.Cut || it.Shortened != "":
		return Place{Shortened, it.Shortened}
	}
	return Place{Zone: Full}
}

// PlaceOf returns where a record stands. An event within a range that is left out may be one that packs do not show at all.
func (p *Pack) PlaceOf(a Address) Place {
	list := p.spans[0]
	if a.Event {
		list = p.spans[1]
	}
	// An event of a range that is left out may lie in the range of another; the last that begins before it is meant.
	for i := sort.Search(len(list), func(i int) bool { return list[i].From > a.N }) - 1; i >= 0; i-- {
		if list[i].To >= a.N {
			return list[i].Place
		}
		if !a.Event {
			break
		}
	}
	return Place{}
}

// TokensOf is how many tokens of the pack the record takes; 0 where it is left out.
func (p *Pack) TokensOf(a Address) int {
	if text := p.parts.records[a]; text != "" {
		return p.counter.CountCached(text)
	}
	return 0
}

// Zones are the tokens of the conversation by what they show. They add up to its tokens.
type Zones struct {
	UserWords int `json:"user_words"`
	Summary   int `json:"summary"`
	Files     int `json:"files_and_runs"`
	Notes     int `json:"notes"` // facts, decisions and refs that are derived
	KeyLines  int `json:"key_lines"`
	Folded    int `json:"folded"`
	Kept      int `json:"kept"`
	Full      int `json:"full"`
	Shortened int `json:"shortened"`
	Framing   int `json:"framing"` // the heading, and the lines that stand for what is left out
}

// Sections are the tokens of a pack by its sections. They add up to its tokens.
type Sections struct {
	Stable  int `json:"stable"`
	Session int `json:"session"`
	Journal int `json:"journal"`
	Footer  int `json:"footer"`
}

// Sections returns the tokens by section and, of the journal, by zone.
func (p *Pack) Sections() (s Sections, z Zones) {
	z.Framing, s.Journal = p.Framing, p.Framing
	for _, it := range p.Items {
		switch it.Phase {
		case "stable":
			s.Stable += it.Tokens
		case "session":
			s.Session += it.Tokens
		case "dynamic":
			s.Footer += it.Tokens
		default:
			s.Journal += it.Tokens
			*z.of(&it) += it.Tokens
		}
	}
	if marks := p.Fresh - s.Footer; marks > 0 {
		s.Footer, s.Journal, z.Framing = p.Fresh, s.Journal-marks, z.Framing-marks
	}
	return s, z
}

// noteKinds are the kinds of items that Zones counts as notes.
var noteKinds = []string{"facts", "decisions", "refs"}

func (z *Zones) of(it *Item) *int {
	switch {
	case it.Kind == "user_words" && it.Extra:
		return &z.UserWords
	case it.Kind == "state" && it.Extra:
		return &z.Files
	case it.Kind == "summary" && it.Extra:
		return &z.Summary
	case it.Kind == "key_lines" && it.Extra:
		return &z.KeyLines
	case it.Extra && slices.Contains(noteKinds, it.Kind):
		return &z.Notes
	}
	switch it.place().Zone {
	case Folded:
		return &z.Folded
	case Kept:
		return &z.Kept
	case Shortened:
		return &z.Shortened
	}
	return &z.Full
}
