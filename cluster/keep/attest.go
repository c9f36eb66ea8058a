package keep

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/gate"
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
		var r Report
		if err := json.Unmarshal(note.Data, &r); err == nil {
			k.report = r.Streams
		}
		return nil
	}
	k.seen = max(note.Seq, 1)
	before, err := k.engine.Meta(ctx, nats.MetaLeaders)
	if err != nil {
		return err
	}
	r, leaders, err := k.look(ctx)
	if err != nil {
		return err
	}
	if err := k.writeLeaders(ctx, before, leaders); err != nil && !isConflict(err) {
		return err
	}
	k.report = r.Streams
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

// look looks at servers and replicas, and returns which leaders are whole.
func (k *Keeper) look(ctx context.Context) (Report, gate.Leaders, error) {
	s, err := k.engine.Certify(ctx)
	if err != nil {
		return Report{}, nil, err
	}
	r := Report{By: k.Machine.Name, Servers: s.Servers, Problems: append(k.engine.Unsafe(), s.Problems...)}
	_, streams, leaders, err := survey(ctx, k.engine)
	r.At, r.Streams = time.Now().UTC().Truncate(time.Second), streams
	return r, leaders, err
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
