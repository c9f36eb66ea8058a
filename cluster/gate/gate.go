package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// Patience is how long Pass waits for a look at the replicas of a new leader.
const Patience = 5 * time.Second

// watchEvery is how often Watch looks.
const watchEvery = 10 * time.Second

// pause is how long Pass waits before it asks again.
const pause = 100 * time.Millisecond

// Leaders is what the last looks have found, by stream. It stands in CTX_META under nats.MetaLeaders.
type Leaders map[string]Leader

// Leader is a leader of a stream that was looked at.
type Leader struct {
	Server   string `json:"server"`
	Election string `json:"election"`      // which one made it the leader
	Why      string `json:"why,omitempty"` // why it was not found whole; "" if it was
}

// Cluster is what a gate asks. *nats.Engine is one.
type Cluster interface {
	Leader(ctx context.Context, shard int) (server, election string, err error)
	Meta(ctx context.Context, key string) (nats.Note, error)
}

// Gate is what a host passes before it makes its first copy of a journal. Its methods may be called at the same time.
type Gate struct {
	c       Cluster
	waited  atomic.Int64
	refused atomic.Int64
	bad     atomic.Int64 // shards, at the last Unattested
}

// New returns the gate of a cluster.
func New(c Cluster) *Gate { return &Gate{c: c} }

// Stats returns how many calls of Pass had to wait, how many of them were in vain, and of how many shards the
// last Unattested has found no whole leader.
func (g *Gate) Stats() (waited, refused, unattested int64) {
	return g.waited.Load(), g.refused.Load(), g.bad.Load()
}

// Watch calls Unattested from time to time until ctx is done.
func (g *Gate) Watch(ctx context.Context) {
	for {
		g.Unattested(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchEvery):
		}
	}
}

// Pass returns nil once the leader of a journal's shard was found whole since it was elected. It waits
// [Patience] for that. It returns engine.ErrUnreachable with the reason if it was not, or if nobody answers.
func (g *Gate) Pass(ctx context.Context, s engine.Subject) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for first := true; ; first = false {
		why, err := g.look(ctx, s.Shard())
		if err == nil && why == "" {
			return nil
		}
		if first {
			g.waited.Add(1)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			continue
		}
		g.refused.Add(1)
		if err != nil {
			return fmt.Errorf("%w: whether the leader of %s has all of it: %w", engine.ErrUnreachable, nats.StreamOf(s.Shard()), err)
		}
		return fmt.Errorf("%w: a first copy is not made from a leader that may lack entries: %s: %s; see ctxfs cluster status", engine.ErrUnreachable, nats.StreamOf(s.Shard()), why)
	}
}

// look returns why the leader of a shard counts as one that may lack entries, "" if it does not.
func (g *Gate) look(ctx context.Context, shard int) (why string, err error) {
	server, election, err := g.c.Leader(ctx, shard)
	denied := errors.Is(err, engine.ErrDenied)
	if err != nil && !denied {
		return "", err
	}
	list, ever, err := g.leaders(ctx)
	if err != nil || !ever {
		return "", err
	}
	last, ok := list[nats.StreamOf(shard)]
	switch {
	case !ok:
		return "no look at its replicas has found a leader yet", nil
	case last.Why != "":
		return last.Why, nil
	case !denied && (last.Server != server || last.Election != election):
		return fmt.Sprintf("%s leads, and nobody has looked at the replicas since its election; ctxfs cluster serve does", server), nil
	}
	return "", nil
}

// leaders returns what the last looks have found. ever is false if nobody ever looked.
func (g *Gate) leaders(ctx context.Context) (list Leaders, ever bool, err error) {
	note, err := g.c.Meta(ctx, nats.MetaLeaders)
	if err != nil || note.Seq == 0 {
		return nil, false, err
	}
	if err := json.Unmarshal(note.Data, &list); err != nil {
		return nil, true, fmt.Errorf("the leaders that were looked at: %w", err)
	}
	return list, true, nil
}

// Unattested returns the shards whose leader was not found whole by the last look, each with the reason. It
// does not ask who leads now. It returns the errors of nats.Engine's Meta.
func (g *Gate) Unattested(ctx context.Context) (map[int]string, error) {
	list, ever, err := g.leaders(ctx)
	if err != nil {
		return nil, err
	}
	bad := map[int]string{}
	for shard := range engine.OwnerShard + 1 {
		switch last, ok := list[nats.StreamOf(shard)]; {
		case !ever:
			bad[shard] = "nobody has ever looked at the replicas; ctxfs cluster serve does"
		case !ok:
			bad[shard] = "no look at its replicas has found a leader yet"
		case last.Why != "":
			bad[shard] = last.Why
		}
	}
	g.bad.Store(int64(len(bad)))
	return bad, nil
}
