package inspect

import (
	"slices"
	"sort"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/blob"
)

// Recorded is the token usage that a provider reported, compared with the preceding packs.
type Recorded struct {
	Records   int           `json:"records"` // of usage in events.jsonl
	All       int           `json:"all_input_tokens"`
	CacheRead int           `json:"all_cache_read_tokens"` // of All
	Output    int           `json:"all_output_tokens"`
	Caches    int           `json:"records_with_cache"`
	Matched   int           `json:"matched"`
	By        string        `json:"matched_by"` // "served": with the pack that was opened last before the record came; "": not at all
	Calls     []UsageOfCall `json:"calls"`
	Input     int           `json:"input_tokens"`   // recorded of matched records
	Counted   int           `json:"counted_tokens"` // of their packs
	// Calibration is the median of recorded by counted tokens of a request: what a token that is counted here costs there.
	Calibration float64 `json:"calibration"`
	Cached      int     `json:"calls_with_cache"` // that say something of a cache; the shares are of these
	Predicted   float64 `json:"predicted_share"`  // read from the cache
	Share       float64 `json:"recorded_share"`
	Difference  float64 `json:"difference"` // predicted - recorded
}

// AllShare returns the share of all recorded input tokens that the provider read from its cache,
// from 0 to 1.
func (r *Recorded) AllShare() float64 { return float64(r.CacheRead) / float64(max(1, r.All)) }

// UsageOfCall is one usage record and the pack that it is matched with.
type UsageOfCall struct {
	Event     int     `json:"event"`
	Messages  int     `json:"messages"` // of the pack
	Counted   int     `json:"counted_tokens"`
	Input     int     `json:"input_tokens"`
	Caches    bool    `json:"caches"` // the record says something of a cache
	Predicted float64 `json:"predicted_share"`
	Share     float64 `json:"recorded_share"`

	kept, read int
}

// Recorded reads the usage records. It returns nil if there are none, and an error if it cannot
// read events.jsonl or packs.jsonl.
//
// A pack matches at most one call. If most records arrived without a preceding pack of their own,
// as with an agent program that builds its own requests, Recorded matches none: in such a session,
// an occasional read of a pack is unrelated to the calls.
func (h *History) Recorded() (*Recorded, error) {
	rows, err := h.Served()
	if err != nil {
		return nil, err
	}
	r := &Recorded{Calls: []UsageOfCall{}}
	events, last := h.Events(), -1
	for n := 1; n <= events.Len(); n++ {
		raw, err := events.Record(n)
		if err != nil {
			return nil, err
		}
		u, ok := ctxabi.DecodeUsage(raw)
		if !ok {
			continue
		}
		r.Records++
		r.All, r.CacheRead, r.Output = r.All+u.Input, r.CacheRead+u.CacheRead, r.Output+u.Output
		if u.Caches {
			r.Caches++
		}
		if k := h.inForce(rows, events.At(n).Offset); k >= 0 && k != last {
			last = k
			r.Calls = append(r.Calls, UsageOfCall{Event: n, Messages: rows[k].Messages, Counted: rows[k].Tokens, Input: u.Input, Caches: u.Caches,
				kept: rows[k].KeptTokens, read: u.CacheRead})
		}
	}
	if r.Records == 0 {
		return nil, nil
	}
	if 2*len(r.Calls) < r.Records {
		r.Calls = []UsageOfCall{}
	}
	r.addUp()
	return r, nil
}

// inForce is the row of the pack that was opened last before an event came that begins at an offset of events.jsonl; -1: none was.
// A pack that ends with an answer is no request: somebody looked at it in between.
func (h *History) inForce(rows []blob.Row, offset int64) int {
	k := sort.Search(len(rows), func(i int) bool { return rows[i].EventsBytes > offset }) - 1
	for k > 0 {
		n := rows[k].Messages
		if n < 1 || n > h.Len() || h.Messages().At(n).Role != ctxabi.Assistant {
			break
		}
		k--
	}
	return k
}

func (r *Recorded) addUp() {
	r.Matched = len(r.Calls)
	if r.Matched == 0 {
		return
	}
	r.By = "served"
	var factors []float64
	kept, counted, read, input := 0, 0, 0, 0
	for i := range r.Calls {
		c := &r.Calls[i]
		r.Input += c.Input
		r.Counted += c.Counted
		if c.Counted > 0 {
			factors = append(factors, float64(c.Input)/float64(c.Counted))
			c.Predicted = float64(c.kept) / float64(c.Counted)
		}
		if c.Input > 0 {
			c.Share = float64(c.read) / float64(c.Input)
		}
		if c.Caches {
			r.Cached++
			kept, counted, read, input = kept+c.kept, counted+c.Counted, read+c.read, input+c.Input
		}
	}
	r.Calibration = median(factors)
	if counted > 0 {
		r.Predicted = float64(kept) / float64(counted)
	}
	if input > 0 {
		r.Share = float64(read) / float64(input)
	}
	if r.Cached > 0 {
		r.Difference = r.Predicted - r.Share
	}
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	if k := len(list) / 2; len(list)%2 == 1 {
		return list[k]
	} else {
		return (list[k-1] + list[k]) / 2
	}
}
