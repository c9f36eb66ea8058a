package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Stats is what the packs of a session were made of over time, and what they would cost.
type Stats struct {
	Messages    int         `json:"messages"`
	Events      int         `json:"events"`
	Budget      int         `json:"budget_tokens"`
	Encoding    string      `json:"encoding"`
	Points      []Point     `json:"points"`
	Tools       []Tool      `json:"tools"`
	Compactions []Epoch     `json:"compactions"`
	Cache       Cache       `json:"cache"`
	Calls       []Call      `json:"calls"`
	Read        bool        `json:"packs_read"`         // packs.jsonl has a pack that a program read
	Recorded    *Recorded   `json:"recorded,omitempty"` // nil: no usage was recorded
	Now         *StatsEpoch `json:"now"`
}

// StatsEpoch is the present epoch.
type StatsEpoch struct {
	Epoch       string `json:"epoch"`
	Reason      string `json:"epoch_reason"`
	Compactions int    `json:"compactions"`
	Tokens      int    `json:"tokens"`
	// Request is the state of the summary request in pack.json.
	Request *ctxabi.SummaryRequest `json:"summary_request,omitempty"`
}

// Point is the pack of one moment.
type Point struct {
	Messages    int      `json:"messages"`
	Tokens      int      `json:"tokens"`
	Compactions int      `json:"compactions"`
	Sections    Sections `json:"sections"`
	Zones       Zones    `json:"zones"`
	Calls       int      `json:"calls"`  // that were looked at since the point before
	Cached      float64  `json:"cached"` // share of their tokens
}

// Epoch is a call whose request began another epoch than the one before.
type Epoch struct {
	Messages    int    `json:"messages"` // of the first request that was seen in it
	Compactions int    `json:"compactions"`
	Reason      string `json:"epoch_reason"`
	Tokens      int    `json:"tokens"`
	Before      int    `json:"before_tokens"` // of the request before it
}

// Tool is one tool: what its results take, and what the present pack shows of them.
type Tool struct {
	Name    string `json:"name"` // "": not known
	Results int    `json:"results"`
	Whole   int    `json:"whole_tokens"`
	Shown   int    `json:"shown_tokens"`
	InPack  int    `json:"results_in_pack"`
}

// Cache adds up calls.
type Cache struct {
	All     int     `json:"calls_in_all"`
	Calls   int     `json:"calls"` // that were looked at
	Sampled bool    `json:"sampled"`
	Tokens  int     `json:"tokens"`
	Cached  int     `json:"cached"`
	Written int     `json:"written"`
	Fresh   int     `json:"fresh"`
	Share   float64 `json:"share"` // cached of all tokens
}

// StatsOptions say what is looked at.
type StatsOptions struct {
	Points   int                // at most so many moments, evenly spread, the first and the last among them
	Calls    int                // at most so many calls, evenly spread; 0: all
	Progress func(done, of int) // before each pack; nil: not
}

// Stats goes through the history once. It builds a pack for each point and each call: the time grows with both.
// It returns the error of the first pack that cannot be made, or ctx.Err().
func (h *History) Stats(ctx context.Context, o StatsOptions) (*Stats, error) {
	now, err := h.At(ctx, h.Len())
	if err != nil {
		return nil, err
	}
	s := &Stats{Messages: h.Len(), Events: h.Events().Len(), Budget: now.BudgetTokens, Encoding: now.Encoding,
		Points: []Point{}, Compactions: []Epoch{}, Calls: []Call{},
		Now: &StatsEpoch{now.Epoch, now.EpochReason, now.Compactions, now.Tokens, now.Request}}
	if s.Tools, err = h.tools(now); err != nil {
		return nil, err
	}
	answers := h.answers()
	asked := map[int]int{} // of the moment of a request, the answer
	first := map[int]bool{}
	var moments []int
	s.Cache.All, s.Cache.Sampled = len(answers), o.Calls > 0 && o.Calls < len(answers)
	before := map[int]int{} // of the moment of a request, that of the request before it
	for _, i := range evenly(len(answers), o.Calls) {
		n := answers[i] - 1
		asked[n] = answers[i]
		moments = append(moments, n)
		if i > 0 {
			before[n] = answers[i-1] - 1
			moments = append(moments, before[n])
		}
	}
	for _, i := range evenly(h.Len(), max(1, o.Points)) {
		first[i+1] = true
		moments = append(moments, i+1)
	}
	slices.Sort(moments)
	moments = slices.Compact(moments)
	var seen *Pack // the last request
	since := Cache{}
	for done, n := range moments {
		if o.Progress != nil {
			o.Progress(done, len(moments))
		}
		p, err := h.At(ctx, n)
		if err != nil {
			return nil, err
		}
		if answer := asked[n]; answer > 0 {
			var last *Pack
			if was, ok := before[n]; ok {
				if last, err = h.At(ctx, was); err != nil {
					return nil, err
				}
			}
			c := call(answer, p, last)
			s.Calls = append(s.Calls, c)
			s.Cache.add(c)
			since.add(c)
			if last == nil {
				last = seen
			}
			if last != nil && last.Epoch != p.Epoch {
				s.Compactions = append(s.Compactions, Epoch{n, p.Compactions, p.EpochReason, p.Tokens, last.Tokens})
			}
			seen = p
		}
		if first[n] {
			point := Point{Messages: n, Tokens: p.Tokens, Compactions: p.Compactions, Calls: since.Calls, Cached: since.Share}
			point.Sections, point.Zones = p.Sections()
			s.Points = append(s.Points, point)
			since = Cache{}
		}
	}
	if s.Recorded, err = h.Recorded(); err != nil {
		return nil, err
	}
	rows, err := h.Served()
	s.Read = len(rows) > 0
	return s, err
}

// Predicts reports whether the cache prediction from packs applies to the session's calls. If
// usage records exist, a program must have read a pack and a record must match a pack.
func (s *Stats) Predicts() bool { return s.Recorded == nil || s.Read && s.Recorded.Matched > 0 }

func (c *Cache) add(call Call) {
	c.Calls++
	c.Tokens += call.Tokens
	c.Cached += call.Cached
	c.Written += call.Written
	c.Fresh += call.Fresh
	if c.Tokens > 0 {
		c.Share = float64(c.Cached) / float64(c.Tokens)
	}
}

// maxRendered is up to how many results are rendered to count them; of more, their weights are added up.
const maxRendered = 20000

// tools adds up results by the tool that gave them, those that take most first.
func (h *History) tools(now *Pack) ([]Tool, error) {
	byName := map[string]*Tool{}
	add := func(a Address, name string, whole int) {
		t := byName[name]
		if t == nil {
			t = &Tool{Name: name}
			byName[name] = t
		}
		t.Results++
		t.Whole += whole
		if shown := now.TokensOf(a); shown > 0 {
			t.InPack++
			t.Shown += shown
		}
	}
	m := h.Messages()
	for n := 1; n <= m.Len(); n++ {
		e := m.At(n)
		if e.Role != ctxabi.Tool && e.Flags&ctxabi.HasResults == 0 {
			continue
		}
		name, err := toolOf(m, n)
		if err != nil {
			return nil, err
		}
		whole := int(e.Weight)
		if n <= maxRendered {
			text, err := record.RenderRecord(m, n, 0, nil)
			if err != nil {
				return nil, err
			}
			whole = now.counter.CountCached(text)
		}
		add(Address{N: n}, name, whole)
	}
	events := h.Events()
	for n := 1; n <= events.Len(); n++ {
		a := Address{true, n}
		if events.At(n).Flags&ctxabi.HasResults == 0 || !h.stands(n) || now.PlaceOf(a).Zone == Absent {
			continue
		}
		raw, err := events.Record(n)
		if err != nil {
			return nil, err
		}
		e, _ := ctxabi.DecodeToolEvent(raw)
		name := e.Name
		if call := int(events.At(n).CallOf); name == "" && call > 0 {
			if raw, err = events.Record(call); err != nil {
				return nil, err
			}
			asked, _ := ctxabi.DecodeToolEvent(raw)
			name = asked.Name
		}
		text, err := record.RenderEvent(events, n, 0)
		if err != nil {
			return nil, err
		}
		add(a, name, now.counter.CountCached(text))
	}
	out := []Tool{}
	for _, t := range byName {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Tool) int { return cmp.Or(cmp.Compare(b.Whole, a.Whole), cmp.Compare(a.Name, b.Name)) })
	return out, nil
}

// toolOf names the tool or tools whose results a message carries.
func toolOf(m record.Records, n int) (string, error) {
	raw, err := m.Record(n)
	if err != nil {
		return "", err
	}
	msg := ctxabi.DecodeMessage(raw)
	ids := []string{msg.CallID}
	if len(msg.Results) > 0 {
		ids = nil
		for _, r := range msg.Results {
			ids = append(ids, r.CallID)
		}
	} else if msg.Name != "" {
		return msg.Name, nil
	}
	call := int(m.At(n).CallOf)
	if call == 0 {
		return "", nil
	}
	if raw, err = m.Record(call); err != nil {
		return "", err
	}
	var names []string
	for _, c := range ctxabi.DecodeMessage(raw).Calls {
		if slices.Contains(ids, c.ID) && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", "), nil
}
