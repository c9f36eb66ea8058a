package inspect

import (
	"slices"
	"sort"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Recorded compares what a provider said of calls with what their packs promised.
type Recorded struct {
	Records int           `json:"records"` // of usage in events.jsonl
	Matched int           `json:"matched"`
	By      string        `json:"matched_by"` // how: served, order, arrival; "": not at all
	Calls   []UsageOfCall `json:"calls"`
	Input   int           `json:"input_tokens"`   // recorded
	Counted int           `json:"counted_tokens"` // of the packs
	// Calibration is the median of recorded by counted tokens of a request: what a token that is counted here costs there.
	Calibration float64 `json:"calibration"`
	Cached      int     `json:"calls_with_cache"` // that say something of a cache; the shares are of these
	Predicted   float64 `json:"predicted_share"`  // read from the cache
	Share       float64 `json:"recorded_share"`
	Difference  float64 `json:"difference"` // predicted - recorded
}

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

// Ways to find the pack that a usage record speaks of.
const (
	byServed  = "served"  // the last that was opened before the record came
	byOrder   = "order"   // there are as many as calls: the first belongs to the first
	byArrival = "arrival" // the records that were there when it came
)

// recorded reads the usage records; nil where there are none.
func (h *History) recorded(s *Stats) (*Recorded, error) {
	type usage struct {
		event int
		ctxabi.Usage
	}
	var all []usage
	events := h.Events()
	for n := 1; n <= events.Len(); n++ {
		raw, err := events.Record(n)
		if err != nil {
			return nil, err
		}
		if u, ok := ctxabi.DecodeUsage(raw); ok {
			all = append(all, usage{n, u})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	rows, err := h.Served()
	if err != nil {
		return nil, err
	}
	r := &Recorded{Records: len(all), Calls: []UsageOfCall{}}
	match := func(u usage, messages, counted, kept int) {
		r.Calls = append(r.Calls, UsageOfCall{Event: u.event, Messages: messages, Counted: counted, Input: u.Input, Caches: u.Caches, kept: kept, read: u.CacheRead})
	}
	for _, u := range all {
		if k := h.inForce(rows, h.Events().At(u.event).Offset); k >= 0 {
			match(u, rows[k].Messages, rows[k].Tokens, rows[k].KeptTokens)
		}
	}
	if r.By = byServed; len(r.Calls) == 0 {
		switch {
		case !s.Cache.Sampled && len(all) == len(s.Calls):
			r.By = byOrder
			for i, c := range s.Calls {
				match(all[i], c.Messages, c.Tokens, c.Cached)
			}
		default:
			r.By = byArrival
			for _, u := range all {
				if c, ok := h.requestBefore(s.Calls, u.event); ok {
					match(u, c.Messages, c.Tokens, c.Cached)
				}
			}
		}
	}
	r.addUp()
	return r, nil
}

// inForce is the row of the pack that was opened last before an event came that begins at an offset of events.jsonl; -1: none was.
// A pack that ends with an answer is no request: somebody looked at it in between.
func (h *History) inForce(rows []Served, offset int64) int {
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

// requestBefore is the call that a usage record speaks of, by the messages that were there when it came: its answer was the
// last of them, or the next one.
func (h *History) requestBefore(calls []Call, event int) (Call, bool) {
	n, ok := h.Before(event)
	if !ok || n == 0 {
		return Call{}, false
	}
	if h.Messages().At(n).Role == ctxabi.Assistant {
		n--
	}
	i, found := slices.BinarySearchFunc(calls, n, func(c Call, n int) int { return c.Messages - n })
	if !found {
		return Call{}, false
	}
	return calls[i], true
}

func (r *Recorded) addUp() {
	r.Matched = len(r.Calls)
	if r.Matched == 0 {
		r.By = ""
		return
	}
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
