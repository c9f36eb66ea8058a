package nats

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

const (
	stretchBatch   = 32              // entries that are asked for at once
	stretchSilence = 4 * time.Second // how long a server may take for one
	maxPlaces      = 200             // how often a consumer is made until it is on the server that is wanted
)

// Stretch calls yield with the entries that one server has of a stream, from a sequence to another, as far as
// it can read them. It reads through consumers of a single replica, which the servers place at random: until
// one is where it is wanted. It is for the maintenance user, and returns ErrGone without the stream, ErrDenied,
// and ErrUnreachable if the server has no replica or does not answer.
func (e *Engine) Stretch(ctx context.Context, server, stream string, from, to uint64, yield func(s engine.Subject, x engine.Entry)) error {
	for failed := 0; from <= to; {
		name, pending, err := e.consumerOn(ctx, server, stream, from)
		if err != nil || pending == 0 {
			return err
		}
		last, err := e.drain(ctx, stream, name, pending, to, yield)
		e.links.conns[e.prefer.Load()].Publish("$JS.API.CONSUMER.DELETE."+stream+"."+name, nil)
		switch {
		case err != nil:
			return err
		case last > 0:
			from, failed = last+1, 0
		case failed == 0: // the server may be busy
			failed++
		default: // it cannot read this one
			from, failed = from+1, 0
		}
	}
	return nil
}

// drain reads what a consumer has up to a sequence. It returns the last sequence that it has read or passed
// over, and 0 if it could read none although there are some.
func (e *Engine) drain(ctx context.Context, stream, name string, pending, to uint64, yield func(s engine.Subject, x engine.Entry)) (last uint64, err error) {
	for done := uint64(0); done < pending; {
		list, err := e.pullSome(ctx, stream, name, int(min(stretchBatch, pending-done)), done, stretchSilence)
		if err != nil || len(list) == 0 {
			return last, err
		}
		for _, m := range list {
			if last = m.Seq; last > to {
				return to, nil
			}
			yield(journalOf(m.subject), m.Entry)
		}
		done += uint64(len(list))
	}
	return to, nil
}

// consumerOn makes a consumer on a server, which begins at a sequence, and returns its name and how many
// messages it has.
func (e *Engine) consumerOn(ctx context.Context, server, stream string, from uint64) (name string, pending uint64, err error) {
	for range maxPlaces {
		name := rand.Text()
		var made struct {
			Pending uint64        `json:"num_pending"`
			Cluster clusterDetail `json:"cluster"`
		}
		failed, err := e.api(ctx, "CONSUMER.CREATE."+stream+"."+name, map[string]any{
			"stream_name": stream,
			"config": map[string]any{
				"name": name, "deliver_policy": "by_start_sequence", "opt_start_seq": from,
				"ack_policy": "none", "mem_storage": true, "num_replicas": 1, "inactive_threshold": consumerLife,
			},
		}, &made)
		if err == nil {
			err = failed.asError(stream)
		}
		if err != nil {
			return "", 0, readable(err)
		}
		if made.Cluster.Leader == server {
			return name, made.Pending, nil
		}
		e.links.conns[e.prefer.Load()].Publish("$JS.API.CONSUMER.DELETE."+stream+"."+name, nil)
	}
	return "", 0, fmt.Errorf("%w: %s does not read %s", engine.ErrUnreachable, server, stream)
}

// journalOf returns the journal of a subject, the zero one if it is of none.
func journalOf(subject string) (s engine.Subject) {
	switch f := strings.Split(strings.TrimPrefix(subject, prefix), "."); {
	case len(f) == 4 && f[0] == "j":
		s = engine.Subject{Owner: f[2], Session: f[3]}
	case len(f) == 2 && f[0] == "t":
		s = engine.Subject{Owner: f[1]}
	}
	if s.Check() != nil {
		return engine.Subject{}
	}
	return s
}
