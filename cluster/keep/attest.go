package keep

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// Report is what a look at all replicas has found.
type Report struct {
	At       time.Time     `json:"at"` // by the clock of who looked; for people alone
	By       string        `json:"by"` // the machine that looked
	Servers  []nats.Server `json:"servers"`
	Streams  []Stream      `json:"streams"`
	Problems []string      `json:"problems,omitempty"` // of the servers and of the settings of streams
}

// Stream is what the replicas of a stream have.
type Stream struct {
	Name     string           `json:"name"`
	Leader   string           `json:"leader,omitempty"`
	Replicas []engine.Replica `json:"replicas"`
	Problems []string         `json:"problems,omitempty"`
}

// Unsafe is what a cluster has ever run without while its operator accepted it.
type Unsafe struct {
	Since   time.Time `json:"since"`
	Reasons []string  `json:"reasons"`
}

// attest looks at all replicas and writes what it finds, unless another keeper has since the last time.
func (k *Keeper) attest(ctx context.Context) error {
	note, err := k.engine.Meta(ctx, nats.MetaAttest)
	if err != nil {
		return err
	}
	k.looked = time.Now()
	if note.Seq != k.seen && k.seen > 0 {
		k.seen = note.Seq
		return nil
	}
	k.seen = max(note.Seq, 1)
	r, err := k.look(ctx)
	if err != nil {
		return err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := k.engine.SetMeta(ctx, nats.MetaAttest, note.Seq, data); err != nil && !isConflict(err) {
		return err
	}
	if note, err = k.engine.Meta(ctx, nats.MetaAttest); err == nil { // a replica that is behind makes this keeper skip one look
		k.seen = max(note.Seq, 1)
	}
	k.alarm(r)
	if k.Unsafe && len(r.Problems) > 0 {
		return k.accept(ctx, r.Problems)
	}
	return nil
}

// look looks at servers and replicas.
func (k *Keeper) look(ctx context.Context) (Report, error) {
	s, err := k.engine.Certify(ctx)
	if err != nil {
		return Report{}, err
	}
	r := Report{By: k.Machine.Name, Servers: s.Servers, Problems: append(k.engine.Unsafe(), s.Problems...)}
	_, r.Streams, err = survey(ctx, k.engine)
	r.At = time.Now().UTC().Truncate(time.Second)
	return r, err
}

// survey returns the servers, and what their replicas have. When replicas differ it looks a second time:
// entries are added and trimmed on one after the other, and what was on one has to be on all by then.
func survey(ctx context.Context, e *nats.Engine) ([]nats.Server, []Stream, error) {
	first, err := e.Survey(ctx)
	if err != nil {
		return nil, nil, err
	}
	streams := reported(first)
	if behind(streams, streams) == nil && together(streams) == nil {
		return first.Servers, streams, nil
	}
	select {
	case <-ctx.Done():
	case <-time.After(secondLook):
	}
	second, err := e.Survey(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := reported(second)
	for name, problems := range behind(streams, now) {
		i := slices.IndexFunc(now, func(s Stream) bool { return s.Name == name })
		now[i].Problems = append(now[i].Problems, problems...)
	}
	return second.Servers, now, nil
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
		list = append(list, Stream{s.Name, s.Leader, s.Replicas, s.Problems()})
	}
	return list
}

// alarm logs what is wrong, with the remedy, when that has changed.
func (k *Keeper) alarm(r Report) {
	replicas, settings := "", ""
	if bad := together(r.Streams); bad != nil {
		replicas = "ALARM: " + strings.Join(bad, "; ") + ". See ctxfs cluster status; start servers that do not run"
	}
	if r.Problems != nil {
		settings = "ALARM: " + strings.Join(r.Problems, "; ") + ". Hosts refuse this cluster until that is repaired"
	}
	k.say("replicas", replicas)
	k.say("settings", settings)
}

// accept notes for ever what the operator accepts.
func (k *Keeper) accept(ctx context.Context, reasons []string) error {
	note, err := k.engine.Meta(ctx, nats.MetaUnsafe)
	if err != nil {
		return err
	}
	u := Unsafe{Since: time.Now().UTC().Truncate(time.Second)}
	if note.Seq > 0 {
		if err := json.Unmarshal(note.Data, &u); err != nil {
			return fmt.Errorf("what the cluster ran without cannot be read: %w", err)
		}
	}
	before := len(u.Reasons)
	u.Reasons = append(u.Reasons, reasons...)
	slices.Sort(u.Reasons)
	if u.Reasons = slices.Compact(u.Reasons); len(u.Reasons) == before {
		return nil
	}
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	if err = k.engine.SetMeta(ctx, nats.MetaUnsafe, note.Seq, data); isConflict(err) {
		err = nil // the next look adds it
	}
	return err
}
