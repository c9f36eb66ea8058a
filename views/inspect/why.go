package inspect

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Record is where a record stands now, and how it came there.
type Record struct {
	Record Address  `json:"record"`
	What   string   `json:"what"` // who speaks: "user", "tool read_file", "tool_call"
	Whole  int      `json:"whole_tokens"`
	Paths  []string `json:"paths"` // where it can be read: as it was written, decoded, and in chunks of what left the prompt
	Place
	Tokens   int      `json:"tokens"`              // that it takes of the pack where it stands
	KeyLines []Quote  `json:"key_lines,omitempty"` // lines of it that the key lines contain
	Cited    []Quote  `json:"cited,omitempty"`     // lines of blocks of compacted records that cite it
	Footer   []string `json:"footer,omitempty"`    // blocks of the footer that name it: "recall", "goal"
	Note     string   `json:"note,omitempty"`      // why it stands nowhere
	Life     []Turn   `json:"life"`
}

// Quote is a line about a record, and the blocks that contain it.
type Quote struct {
	Line   string   `json:"line"`
	Blocks []string `json:"blocks"` // "summary (messages:280-291)"
}

// Turn is a moment at which the place of a record changed, or at which it came.
type Turn struct {
	At          int    `json:"at"` // the message that brought it
	Place              // since then
	Tokens      int    `json:"tokens"`
	Compaction  bool   `json:"compaction,omitempty"` // that message brought a compaction
	EpochReason string `json:"epoch_reason,omitempty"`
}

// maxAsked is how many records Why answers for at a time.
const maxAsked = 1000

// Why returns where records stand in the present pack and how they came there. It fails with ctxabi.ErrNotFound when there are not so many.
func (h *History) Why(ctx context.Context, event bool, span ctxabi.Span) ([]Record, error) {
	log, name := h.Messages(), ctxabi.MessagesFile
	if event {
		log, name = h.Events(), ctxabi.EventsFile
	}
	if span.To > log.Len() {
		return nil, ctxabi.E("read", name, ctxabi.ErrNotFound, "there is no record %d in %s, which has %d", span.To, name, log.Len())
	}
	if span.Len() > maxAsked {
		return nil, ctxabi.E("read", name, ctxabi.ErrMalformed, "%s are %d records; ask for %d at most", span, span.Len(), maxAsked)
	}
	var out []Record
	for n := span.From; n <= span.To; n++ {
		r, err := h.record(ctx, Address{event, n})
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (h *History) record(ctx context.Context, a Address) (r Record, err error) {
	r = Record{Record: a, Paths: []string{a.Path(), a.Path() + ".txt"}}
	if r.What, r.Whole, err = h.describe(a); err != nil {
		return r, err
	}
	now, err := h.At(ctx, h.Len())
	if err != nil {
		return r, err
	}
	if a.Event && !h.stands(a.N) {
		r.Note = "packs show only tool_call and tool_result events that no message has; this is not one of them"
		return r, nil
	}
	r.Place, r.Tokens = now.PlaceOf(a), now.TokensOf(a)
	r.KeyLines, r.Cited, r.Footer = now.mentions(a)
	if r.Life, err = h.life(ctx, a, now); err != nil {
		return r, err
	}
	if len(r.Life) == 0 {
		r.Note = "no pack shows it"
	}
	chunks, err := h.chunks(ctx, a)
	r.Paths = append(r.Paths, chunks...)
	return r, err
}

// chunks are the chunks of context/swap that hold a record: the smallest range of raw lines that left the prompt with it, and
// what its tool said.
func (h *History) chunks(ctx context.Context, a Address) (paths []string, err error) {
	if h.swapped == nil {
		if h.swapped, err = h.Swapped(ctx); err != nil {
			return nil, err
		}
	}
	var lines, said string
	least := 0
	for _, row := range h.swapped {
		span, err := ctxabi.ParseSpan(row.Range)
		if err != nil || row.Log != scheme(a.Event) || a.N < span.From || a.N > span.To {
			continue
		}
		switch {
		case row.Kind == ctxabi.SwapOutput:
			said = row.ID
		case lines == "" || span.Len() < least:
			lines, least = row.ID, span.Len()
		}
	}
	for _, id := range []string{lines, said} {
		if id != "" {
			paths = append(paths, ctxabi.SwapChunkDir+"/"+id)
		}
	}
	return paths, nil
}

// stands reports whether an event can have a place in packs.
func (h *History) stands(event int) bool {
	if s, ok := h.Source.(interface{ Stands(event int) bool }); ok {
		return s.Stands(event)
	}
	raw, err := h.Events().Record(event)
	if err != nil {
		return false
	}
	_, ok := ctxabi.DecodeToolEvent(raw)
	return ok
}

// Stands reports whether an event is one that packs show.
func (s *Stored) Stands(event int) bool {
	_, ok := slices.BinarySearchFunc(s.timeline.Tools, event, func(e ctxabi.EventPlace, event int) int { return int(e.Line) - event })
	return ok
}

// describe returns what a record is, in a word or two, and how many tokens it takes in full.
func (h *History) describe(a Address) (what string, whole int, err error) {
	p, err := h.counter()
	if err != nil {
		return "", 0, err
	}
	if !a.Event {
		text, err := record.RenderRecord(h.Messages(), a.N, 0, nil)
		if err != nil {
			return "", 0, err
		}
		head, _, _ := strings.Cut(text, "\n")
		_, what, _ = strings.Cut(strings.TrimPrefix(head, "## "), " ")
		return what, p.CountCached(text), nil
	}
	text, err := record.RenderEvent(h.Events(), a.N, 0)
	if err != nil {
		return "", 0, err
	}
	raw, err := h.Events().Record(a.N)
	if err != nil {
		return "", 0, err
	}
	if _, ok := ctxabi.DecodeToolEvent(raw); !ok {
		var e struct{ Type string }
		if err := json.Unmarshal(raw, &e); err != nil {
			e.Type = "of no type" // its bytes were changed on the disk
		}
		return "event " + e.Type, p.CountCached(string(raw)), nil
	}
	head, _, _ := strings.Cut(text, "\n")
	_, what, _ = strings.Cut(strings.TrimPrefix(head, "## "), " ")
	return what, p.CountCached(text), nil
}

// mentions returns the lines about a record in the blocks of compacted records, and the blocks of
// the footer that name the record.
func (p *Pack) mentions(a Address) (lines, cited []Quote, footer []string) {
	for _, b := range p.parts.blocks {
		name, span := SplitBlockID(b.id)
		switch {
		case span == "":
		case name == "key lines":
			for _, line := range keyLinesOf(b.text, a) {
				lines = quote(lines, line, b.id)
			}
		default:
			for line := range strings.Lines(b.text) {
				if line = strings.TrimSuffix(line, "\n"); cites(name, line, a) {
					cited = quote(cited, line, b.id)
				}
			}
		}
	}

	for _, it := range p.Items {
		if it.Phase == "dynamic" && !slices.Contains(footer, it.ID) {
			if text, _ := p.parts.block(it.ID); names(text, a) {
				footer = append(footer, it.ID)
			}
		}
	}
	return lines, cited, footer
}

// cites reports whether a line of a block with this name is about a record.
func cites(name, line string, a Address) bool {
	switch name {
	case "user's words":
		return strings.HasPrefix(line, "- ["+a.Mark()+"] ")
	case "files and runs":
		marked := strings.Contains(line, "("+a.Mark()+")") || strings.Contains(line, "("+a.Mark()+": ")
		return marked && strings.HasPrefix(line, "- ")
	}
	return strings.HasSuffix(line, "("+a.String()+")")
}

// quote adds a line of a block. A line that several blocks contain is one quote.
func quote(list []Quote, line, block string) []Quote {
	for i, q := range list {
		if q.Line == line {
			if !slices.Contains(q.Blocks, block) {
				list[i].Blocks = append(q.Blocks, block)
			}
			return list
		}
	}
	return append(list, Quote{line, []string{block}})
}

// keyLinesOf returns the lines of a record in a block of key lines: "[57] text" or "[57 read a.go] text", and those below it that begin
// with a blank.
func keyLinesOf(block string, a Address) (out []string) {
	ours := false
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "["); ok {
			mark, text, _ := strings.Cut(rest, "] ")
			mark, _, _ = strings.Cut(mark, " ")
			if ours = mark == a.Mark(); ours {
				out = append(out, text)
			}
		} else if text, ok := strings.CutPrefix(line, " "); ok && ours {
			out = append(out, text)
		}
	}
	return out
}

// names reports whether a text of the footer names a record: by its source, by its path or as "message 57".
func names(text string, a Address) bool {
	for _, name := range []string{a.String(), a.Path(), "message " + a.Mark()} {
		for rest := text; ; {
			i := strings.Index(rest, name)
			if i < 0 {
				break
			}
			if rest = rest[i+len(name):]; rest == "" || rest[0] < '0' || rest[0] > '9' {
				return true
			}
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n()[],;", r) }) {
		word = strings.TrimRight(word, ":.")
		event, span, ok, err := ParseRecords(word)
		if strings.Contains(word, ":") && ok && err == nil && event == a.Event && span.From <= a.N && a.N <= span.To {
			return true
		}
	}
	return false
}

// probes is how many moments between its first and now are looked at before the turns of a record are searched between them.
const probes = 8

// life finds the moments at which the place of a record changed. Between two moments at which it stands at the same place it is
// taken to have stood there: packs only ever shorten a record, but for those that a new file or a tighter fold touches.
func (h *History) life(ctx context.Context, a Address, now *Pack) ([]Turn, error) {
	from := 0
	if !a.Event {
		from = a.N - 1
	}
	at := func(n int) (Place, error) {
		p, err := h.At(ctx, n)
		if err != nil {
			return Place{}, err
		}
		return p.PlaceOf(a), nil
	}
	var turns []Turn
	var search func(lo int, before Place, hi int, after Place) error
	search = func(lo int, before Place, hi int, after Place) error {
		if before == after {
			return nil
		}
		if hi-lo > 1 {
			mid := lo + (hi-lo)/2
			between, err := at(mid)
			if err == nil {
				err = search(lo, before, mid, between)
			}
			if err == nil {
				err = search(mid, between, hi, after)
			}
			return err
		}
		was, err := h.At(ctx, lo)
		if err != nil {
			return err
		}
		is, err := h.At(ctx, hi)
		if err != nil {
			return err
		}
		t := Turn{At: hi, Place: after, Tokens: is.TokensOf(a)}
		if before.Zone != Absent {
			t.Compaction = is.Compactions > was.Compactions
			if is.Epoch != was.Epoch {
				t.EpochReason = is.EpochReason
			}
		}
		turns = append(turns, t)
		return nil
	}
	lo, before := from, Place{}
	if from == 0 && a.Event {
		var err error
		if before, err = at(0); err != nil {
			return nil, err
		}
		if before.Zone != Absent {
			p, err := h.At(ctx, 0)
			if err != nil {
				return nil, err
			}
			turns = append(turns, Turn{At: 0, Place: before, Tokens: p.TokensOf(a)})
		}
	}
	step := max(1, (now.Messages-from)/probes)
	for hi := from + 1; hi <= now.Messages; {
		after, err := at(hi)
		if err != nil {
			return nil, err
		}
		if err := search(lo, before, hi, after); err != nil {
			return nil, err
		}
		lo, before = hi, after
		if hi == now.Messages {
			break
		}
		hi = min(hi+step, now.Messages)
	}
	return turns, nil
}
