package nats

import (
	"context"
	"strings"

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
	Attested bool // Problems looks at the entries; elsewhere at the number of replicas alone
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
func (e *Engine) Survey(ctx context.Context) (s Survey, err error) {
	list, err := e.ping(ctx, true)
	if err != nil {
		return s, err
	}
	for _, a := range list {
		s.Servers = append(s.Servers, Server{a.Server.Name, a.Server.Version, a.Data.Config.SyncAlways})
	}
	for shard := range engine.OwnerShard + 1 {
		s.Streams = append(s.Streams, Stream{stream(shard), e.attestation(list, stream(shard), shard), true})
	}
	for _, c := range []struct {
		name     string
		attested bool
	}{{objects, true}, {"KV_" + metaBucket, false}, {"KV_" + hostsBucket, false}} {
		s.Streams = append(s.Streams, Stream{c.name, e.attestation(list, c.name, -1), c.attested})
	}
	return s, nil
}

// attestation returns what the replicas of a stream have, of what servers answered.
func (e *Engine) attestation(list []jsz, name string, shard int) engine.Attestation {
	a := engine.Attestation{Shard: shard, Wanted: replicas}
	leads := map[string]int{}
	for _, s := range list {
		for _, account := range s.Data.Accounts {
			if account.Name != e.opts.Account {
				continue
			}
			for _, d := range account.Streams {
				if d.Name != name {
					continue
				}
				addReplica(&a, s.Server.Name, d)
				if leader := d.Cluster.Leader; leader != "" { // one that is cut off may name itself
					if leads[leader]++; leads[leader] > leads[a.Leader] || leads[leader] == leads[a.Leader] && strings.Compare(leader, a.Leader) < 0 {
						a.Leader = leader
					}
				}
			}
		}
	}
	return a
}
