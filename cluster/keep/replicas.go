package keep

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/gate"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// Stream is what the replicas of a stream have.
type Stream struct {
	Name     string           `json:"name"`
	Leader   string           `json:"leader,omitempty"`
	Election string           `json:"election,omitempty"` // which one made it the leader
	Replicas []engine.Replica `json:"replicas"`
	Attested bool             `json:"attested,omitempty"` // replicas have the same entries; those of others end by time
	Problems []string         `json:"problems,omitempty"`
	group    string           // of servers that keep it: the name of the directory of its log on each
}

// survey returns the servers, and what their replicas have. When replicas differ it looks a second time:
// entries are added and trimmed on one after the other, and what was on one has to be on all by then.
// leaders is which leaders are whole.
func survey(ctx context.Context, e *nats.Engine) (servers []nats.Server, now []Stream, leaders gate.Leaders, err error) {
	first, err := e.Survey(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	streams := reported(first)
	if behind(streams, streams) == nil && together(streams) == nil {
		return first.Servers, streams, judge(streams, streams), nil
	}
	select {
	case <-ctx.Done():
	case <-time.After(secondLook):
	}
	second, err := e.Survey(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	now = reported(second)
	leaders = judge(streams, now)
	for name, problems := range behind(streams, now) {
		i := slices.IndexFunc(now, func(s Stream) bool { return s.Name == name })
		now[i].Problems = append(now[i].Problems, problems...)
	}
	return second.Servers, now, leaders, nil
}

// twice looks at all replicas two times, and returns what it has seen at each.
func twice(ctx context.Context, e *nats.Engine) (servers []nats.Server, before, now []Stream, err error) {
	first, err := e.Survey(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if !wait(ctx, secondLook) {
		return nil, nil, nil, ctx.Err()
	}
	second, err := e.Survey(ctx)
	return second.Servers, reported(first), reported(second), err
}

// secondLook is how much later replicas are looked at again.
const secondLook = time.Second

// behind returns which replicas lack, now, what another one had before, by stream.
func behind(before, now []Stream) (problems map[string][]string) {
	for _, s := range now {
		i := slices.IndexFunc(before, func(b Stream) bool { return b.Name == s.Name })
		if i < 0 {
			continue
		}
		var end uint64
		for _, r := range before[i].Replicas {
			end = max(end, r.Last)
		}
		for _, r := range s.Replicas {
			if r.Last >= end {
				continue
			}
			if problems == nil {
				problems = map[string][]string{}
			}
			problems[s.Name] = append(problems[s.Name], fmt.Sprintf("%s ends at %d, and another replica at %d", r.Server, r.Last, end))
		}
	}
	return problems
}

// reported returns what a survey has found.
func reported(survey nats.Survey) (list []Stream) {
	for _, s := range survey.Streams {
		list = append(list, Stream{s.Name, s.Leader, s.Election, s.Replicas, s.Attested, s.Problems(), s.Group})
	}
	return list
}

// together returns the problems of streams, each with the names of those that have it.
func together(streams []Stream) (list []string) {
	names := map[string][]string{}
	for _, s := range streams {
		for _, p := range s.Problems {
			names[p] = append(names[p], s.Name)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(names)) {
		who := strings.Join(names[p], ", ")
		if n := len(names[p]); n > 3 {
			who = fmt.Sprintf("%d of %d streams", n, len(streams))
		}
		list = append(list, who+": "+p)
	}
	return list
}
