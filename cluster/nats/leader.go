package nats

import (
	"context"
	"fmt"
	"strings"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Leader returns who leads a shard, and the name of the election that made it so, as the leader says. It
// returns ErrDenied for a host of some owners, ErrGone without a store, and ErrUnreachable if nobody leads.
func (e *Engine) Leader(ctx context.Context, shard int) (server, election string, err error) {
	if err := engine.CheckShard(shard); err != nil {
		return "", "", err
	}
	if e.restricted() {
		return "", "", fmt.Errorf("%w: a host of some owners does not ask who leads", engine.ErrDenied)
	}
	r, err := e.info(ctx, stream(shard))
	return r.Cluster.Leader, r.Cluster.Since, err
}

// StreamOf returns the name of the stream of a shard.
func StreamOf(shard int) string { return stream(shard) }

const electedSubject = "$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED."

// Elections returns the names of streams as they get leaders, until the engine is closed. It drops names
// that nobody takes, after 64. It is for the maintenance user, and returns ErrUnreachable if a link is down.
func (e *Engine) Elections() (<-chan string, error) {
	names := make(chan string, 64)
	for _, c := range e.links.conns { // one of them may be cut off from the other servers
		_, err := c.Subscribe(electedSubject+"*", func(m *client.Msg) {
			select {
			case names <- strings.TrimPrefix(m.Subject, electedSubject):
			default:
			}
		})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
		}
	}
	return names, nil
}

// StepDown makes the leader of a stream hand over to the server called to, or to any if it is "". It is for
// the maintenance user. It returns ErrDenied, ErrGone without such a stream, and ErrUnreachable or
// ErrUnknown if it may not have happened.
func (e *Engine) StepDown(ctx context.Context, stream, to string) error {
	body := map[string]any{}
	if to != "" {
		body["placement"] = map[string]any{"preferred": to}
	}
	var done struct{}
	failed, err := e.api(ctx, "STREAM.LEADER.STEPDOWN."+stream, body, &done)
	if err != nil {
		return err
	}
	return failed.asError(stream)
}
