package keep

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/cluster/scrub"
)

// Healing is who repairs a replica now, and what is to be repaired. It stands in CTX_META under
// nats.MetaHeal; who writes its name to Server there has the right to stop its server, and nobody else has.
type Healing struct {
	Server  string         `json:"server,omitempty"`  // whose replicas are repaired; "": nobody's
	Streams []string       `json:"streams,omitempty"` // which
	Tries   map[string]int `json:"tries,omitempty"`   // how often it was in vain, by server and stream
	Asked   []Ask          `json:"asked,omitempty"`   // what an operator or a scrub wants repaired
}

// Ask is a replica that is to be made anew although it has as many entries as the others.
type Ask struct {
	Server string `json:"server"`
	Stream string `json:"stream"`
	Why    string `json:"why"`
}

// Healings returns who repairs a replica now, and the sequence for SetHealing. It returns the errors of
// nats.Engine's Meta.
func Healings(ctx context.Context, e *nats.Engine) (h Healing, seq uint64, err error) {
	note, err := e.Meta(ctx, nats.MetaHeal)
	if err == nil && note.Seq > 0 {
		err = json.Unmarshal(note.Data, &h)
	}
	if h.Tries == nil {
		h.Tries = map[string]int{}
	}
	return h, note.Seq, err
}

// SetHealing replaces what stands there, if nothing has been written since the sequence after. It returns
// *engine.Conflict if something has, and the errors of nats.Engine's SetMeta.
func SetHealing(ctx context.Context, e *nats.Engine, after uint64, h Healing) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return e.SetMeta(ctx, nats.MetaHeal, after, data)
}

// AskToHeal asks the keeper of a server to make a replica anew, and forgets tries that were in vain. With an
// empty Ask it does the latter alone. It returns the errors of Healings and SetHealing.
func AskToHeal(ctx context.Context, e *nats.Engine, list ...Ask) error {
	for {
		h, seq, err := Healings(ctx, e)
		if err != nil {
			return err
		}
		for _, a := range list {
			same := func(b Ask) bool { return a.Server == b.Server && a.Stream == b.Stream }
			if !slices.ContainsFunc(h.Asked, same) {
				h.Asked = append(h.Asked, a)
			}
		}
		clear(h.Tries)
		if err := SetHealing(ctx, e, seq, h); !isConflict(err) {
			return err
		}
	}
}

// Scrubbed is what the last scrub has found. It stands in CTX_META under nats.MetaScrub.
type Scrubbed struct {
	At       time.Time       `json:"at"`                 // when it ended, by the clock of who scrubbed; zero: there was none
	Since    time.Time       `json:"since,omitzero"`     // when a keeper first found that there was none
	Objects  time.Time       `json:"objects,omitzero"`   // when objects were last read
	By       string          `json:"by"`                 // the machine
	Findings []scrub.Finding `json:"findings,omitempty"` // those that were not repaired yet
	scrub.Sum
}

// due returns when the next scrub begins that comes so long after the last one, or after a keeper has found that
// there was none; a clock that is wrong makes it a scrub more or less.
func (s Scrubbed) due(every time.Duration, now time.Time) time.Time {
	last := s.At
	if last.IsZero() {
		last = s.Since
	}
	if last.IsZero() {
		last = now
	}
	return now.Add(min(max(every-now.Sub(last), 0), every))
}

// readScrubbed returns what the last scrub has found, and its sequence.
func readScrubbed(ctx context.Context, e *nats.Engine) (s Scrubbed, seq uint64, err error) {
	note, err := e.Meta(ctx, nats.MetaScrub)
	if err == nil && note.Seq > 0 {
		err = json.Unmarshal(note.Data, &s)
	}
	return s, note.Seq, err
}

// putScrubbed changes what the last scrub has found.
func putScrubbed(ctx context.Context, e *nats.Engine, change func(Scrubbed) Scrubbed) error {
	for {
		s, seq, err := readScrubbed(ctx, e)
		if err != nil {
			return err
		}
		data, err := json.Marshal(change(s))
		if err != nil {
			return err
		}
		if err := e.SetMeta(ctx, nats.MetaScrub, seq, data); !isConflict(err) {
			return err
		}
	}
}

// repaired takes the findings about replicas off that were made anew.
func repaired(ctx context.Context, e *nats.Engine, server string, streams []string) error {
	mine := func(f scrub.Finding) bool { return f.Server == server && slices.Contains(streams, f.Stream) }
	s, _, err := readScrubbed(ctx, e)
	if err != nil || !slices.ContainsFunc(s.Findings, mine) {
		return err
	}
	return putScrubbed(ctx, e, func(s Scrubbed) Scrubbed {
		s.Findings = slices.DeleteFunc(s.Findings, mine)
		return s
	})
}
