package nats

import (
	"context"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Survey is what all servers have, as they describe it at one moment.
type Survey struct {
	Servers []Server
	Streams []Stream
}

// Stream is one stream as its replicas have it.
type Stream struct {
	Name string
	engine.Attestation
	Group    string // the name of the group of servers that keep it, and of the directory of its log on each
	Attested bool   // Problems looks at the entries; elsewhere at the number of replicas alone
}

// Problems returns what is wrong with the replicas, as engine.Attestation does.
func (s Stream) Problems() []string {
	list := s.Attestation.Problems()
	if !s.Attested { // entries there end by time, on each server for itself
		if list = list[:min(1, len(list))]; len(s.Replicas) >= s.Wanted {
			list = nil
		}
	}
	if s.Leader == "" {
		list = append(list, "no leader")
	}
	return list
}

// Look connects as Open does, and does not ask whether there is a store and whether it is safe: for who
// asks the servers how they are. It returns Open's errors but for ErrUnsafe and ErrGone.
func Look(ctx context.Context, o Options) (*Engine, error) { return connect(ctx, o) }

// Survey asks all servers what they have. It needs system credentials, and returns ErrDenied without
// them and ErrUnreachable if no server answers.
func (e *Engine) Survey(ctx context.Context) (Survey, error) { return e.survey(ctx, patience) }

// Glance is Survey in haste: it waits a quarter of a second for the third server once two have answered. It
// returns the errors of Survey.
func (e *Engine) Glance(ctx context.Context) (Survey, error) { return e.survey(ctx, haste) }

func (e *Engine) survey(ctx context.Context, rest time.Duration) (s Survey, err error) {
	list, err := e.ping(ctx, true, rest)
	if err != nil {
		return s, err
	}
	for _, a := range list {
		s.Servers = append(s.Servers, Server{a.Server.Name, a.Server.Version, a.Data.Config.SyncAlways})
	}
	for shard := range engine.OwnerShard + 1 {
		x := e.attestation(list, stream(shard), shard)
		x.Attested = true
		s.Streams = append(s.Streams, x)
	}
	for _, c := range []struct {
		name     string
		attested bool
	}{{objects, true}, {"KV_" + metaBucket, false}, {"KV_" + hostsBucket, false}} {
		x := e.attestation(list, c.name, -1)
		x.Attested = c.attested
		s.Streams = append(s.Streams, x)
	}
	return s, nil
}

// attestation returns what the replicas of a stream have, of what servers answered.
func (e *Engine) attestation(list []jsz, name string, shard int) Stream {
	x := Stream{Name: name, Attestation: engine.Attestation{Shard: shard, Wanted: replicas}}
	a := &x.Attestation
	leads, elections := map[string]int{}, map[string]string{}
	for _, s := range list {
		for _, account := range s.Data.Accounts {
			if account.Name != e.opts.Account {
				continue
			}
			for _, d := range account.Streams {
				if d.Name != name {
					continue
				}
				addReplica(a, s.Server.Name, d)
				x.Group = max(x.Group, d.Cluster.Group)
				if d.Cluster.Leader == s.Server.Name {
					elections[d.Cluster.Leader] = d.Cluster.Since
				}
				if leader := d.Cluster.Leader; leader != "" { // one that is cut off may name itself
					if leads[leader]++; leads[leader] > leads[a.Leader] || leads[leader] == leads[a.Leader] && strings.Compare(leader, a.Leader) < 0 {
						a.Leader = leader
					}
				}
			}
		}
	}
	a.Election = elections[a.Leader]
	return x
}
