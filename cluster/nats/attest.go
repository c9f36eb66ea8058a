package nats

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// jsz is the report of a server about its JetStream.
type jsz struct {
	Server struct {
		Name    string `json:"name"`
		Version string `json:"ver"`
	} `json:"server"`
	Data struct {
		Config struct {
			SyncAlways bool `json:"sync_always"`
		} `json:"config"`
		Meta struct {
			Size int `json:"cluster_size"`
		} `json:"meta_cluster"`
		Accounts []struct {
			Name    string         `json:"name"`
			Streams []streamDetail `json:"stream_detail"`
		} `json:"account_details"`
	} `json:"data"`
	Error *apiError `json:"error"`
}

// streamDetail is what one server has of a stream.
type streamDetail struct {
	Name    string        `json:"name"`
	Created string        `json:"created"`
	Cluster clusterDetail `json:"cluster"`
	State   struct {
		Messages uint64 `json:"messages"`
		First    uint64 `json:"first_seq"`
		Last     uint64 `json:"last_seq"`
		Deleted  uint64 `json:"num_deleted"`
		Lost     *struct {
			Seqs []uint64 `json:"msgs"`
		} `json:"lost"`
	} `json:"state"`
}

// clusterDetail is what a server knows of the group of servers that keep a stream.
type clusterDetail struct {
	Group  string `json:"raft_group"`
	Leader string `json:"leader"`
	Since  string `json:"leader_since"` // by the clock of the leader, which alone knows it: the name of an election
}

// Attest implements [engine.Engine] and returns the errors documented there. It needs system credentials.
func (e *Engine) Attest(ctx context.Context, shard int) (engine.Attestation, error) {
	a := engine.Attestation{Shard: shard, Wanted: replicas}
	if err := engine.CheckShard(shard); err != nil {
		return a, err
	}
	list, err := e.ping(ctx, true, patience)
	if err != nil {
		return a, err
	}
	a = e.attestation(list, stream(shard), shard).Attestation
	if len(a.Replicas) < replicas/2+1 {
		return a, fmt.Errorf("%w: %d of %d replicas of shard %d answer", engine.ErrUnreachable, len(a.Replicas), replicas, shard)
	}
	return a, nil
}

// addReplica adds what a server has to an attestation.
func addReplica(a *engine.Attestation, server string, d streamDetail) {
	r := engine.Replica{Server: server, First: d.State.First, Last: d.State.Last, Entries: d.State.Messages, Deleted: d.State.Deleted}
	if r.First == 0 && r.Last == 0 { // an empty one that was started again, elsewhere 1 and 0
		r.First = 1
	}
	if d.State.Lost != nil {
		r.Lost = uint64(len(d.State.Lost.Seqs))
	}
	a.Replicas = append(a.Replicas, r)
	if a.Created == "" || d.Created < a.Created {
		a.Created = d.Created
	}
}

// servers returns the report of each server about itself. It returns the error of the request.
func (e *Engine) servers(ctx context.Context) (list []Server, err error) {
	answers, err := e.ping(ctx, false, patience)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		list = append(list, Server{a.Server.Name, a.Server.Version, a.Data.Config.SyncAlways})
	}
	return list, nil
}

// How long who asks all servers waits for those that do not answer.
const (
	patience = 2 * HedgeAfter
	haste    = HedgeAfter / 3
)

// ping asks all servers at once, and returns the answers of those that have JetStream, by name. It waits
// for as many as the cluster has, and once a majority has answered for the rest no longer than so long. It
// returns ErrDenied without system credentials, and ErrUnreachable if no server answers.
func (e *Engine) ping(ctx context.Context, streams bool, rest time.Duration) (list []jsz, err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	if e.system.conns[0] == nil {
		return nil, fmt.Errorf("%w: there are no system credentials", engine.ErrDenied)
	}
	body, err := json.Marshal(map[string]any{"account": e.opts.Account, "accounts": streams, "streams": streams})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	answers := make(chan *client.Msg, 256)
	for _, c := range e.system.conns { // one of them may be cut off from the other servers
		inbox := c.NewInbox()
		if sub, err := c.ChanSubscribe(inbox, answers); err == nil {
			defer sub.Unsubscribe()
			c.PublishRequest("$SYS.REQ.SERVER.PING.JSZ", inbox, body)
		}
	}
	size := replicas
	silence := time.NewTimer(patience)
	defer silence.Stop()
	for len(list) < size {
		select {
		case <-ctx.Done():
			size = 0
		case <-silence.C:
			size = 0
		case m := <-answers:
			var a jsz
			if err := json.Unmarshal(m.Data, &a); err != nil || a.Error != nil || a.Server.Name == "" {
				continue
			}
			if slices.ContainsFunc(list, func(b jsz) bool { return a.Server.Name == b.Server.Name }) {
				continue
			}
			list = append(list, a)
			if size = max(size, a.Data.Meta.Size); len(list) == size/2+1 {
				silence.Reset(rest)
			}
		}
	}
	slices.SortFunc(list, func(a, b jsz) int { return strings.Compare(a.Server.Name, b.Server.Name) })
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: no server answers the system account", engine.ErrUnreachable)
	}
	return list, nil
}

// Trim implements [engine.Engine] and returns the errors documented there.
func (e *Engine) Trim(ctx context.Context, s engine.Subject, before uint64) error {
	if before == 0 {
		return fmt.Errorf("%w: trim without a sequence", engine.ErrInvalid)
	}
	if err := s.Check(); err != nil {
		return err
	}
	return e.purge(ctx, stream(s.Shard()), map[string]any{"filter": subject(s), "seq": before})
}

// purge removes messages of a stream.
func (e *Engine) purge(ctx context.Context, stream string, what map[string]any) error {
	var done struct {
		Success bool `json:"success"`
	}
	failed, err := e.api(ctx, "STREAM.PURGE."+stream, what, &done)
	if err == nil {
		err = failed.asError(stream)
	}
	if err == nil && !done.Success {
		err = fmt.Errorf("%w: %s was not purged", engine.ErrUnknown, stream)
	}
	return err
}
