package nats

import (
	"context"
	"fmt"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Last does what engine.Engine says, and returns its errors. A host of some owners has to ask a replica
// and cannot ask the leader.
func (e *Engine) Last(ctx context.Context, s engine.Subject, leader bool) (engine.Entry, error) {
	if err := s.Check(); err != nil {
		return engine.Entry{}, err
	}
	p := place{stream(s.Shard()), subject(s)}
	if !leader || e.restricted() {
		m, _, err := e.lastOf(ctx, p)
		return m.Entry, err
	}
	m, _, err := e.ask(ctx, p.stream, map[string]any{"last_by_subj": p.subject})
	return m.Entry, err
}

// lastOf asks any replica for the last message of a subject; found is false if it has none.
func (e *Engine) lastOf(ctx context.Context, p place) (m message, found bool, err error) {
	var broken string
	err = e.exchange(ctx, "$JS.API.DIRECT.GET."+p.stream+"."+p.subject, nil, nil, func(got *client.Msg, _ bool) verdict {
		m, found, broken = message{}, false, ""
		switch status := got.Header.Get("Status"); status {
		case "404":
		case "":
			m = message{lastValue(got.Header, subjHeader), entryOf(got.Header, got.Data, p.stream, 1)}
			if found = m.subject == p.subject && m.Seq > 0; !found {
				broken = m.subject
			}
		default:
			broken = status
		}
		return final
	})
	if err == nil && broken != "" {
		err = fmt.Errorf("%w: %s answers %s", engine.ErrUnreachable, p.subject, broken)
	}
	return m, found, readable(err)
}
