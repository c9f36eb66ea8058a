package nats

import (
	"context"
	"fmt"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Last implements [engine.Engine] and returns the errors documented there. The engine of a host of
// some owners asks a replica even if leader is set: it may not ask the leader.
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

// ask asks the leader of a stream for one message; found is false if there is none such.
func (e *Engine) ask(ctx context.Context, stream string, what map[string]any) (m message, found bool, err error) {
	var got struct {
		Message struct {
			Subject string `json:"subject"`
			Seq     uint64 `json:"seq"`
			Header  []byte `json:"hdrs"`
			Data    []byte `json:"data"`
		} `json:"message"`
	}
	failed, err := e.api(ctx, "STREAM.MSG.GET."+stream, what, &got)
	if err != nil {
		return m, false, readable(err)
	}
	if failed != nil && failed.ErrCode == codeNoMessage {
		return m, false, nil
	}
	if err := failed.asError(stream); err != nil {
		return m, false, err
	}
	m.subject, m.Seq, m.Payload = got.Message.Subject, got.Message.Seq, got.Message.Data
	if len(got.Message.Header) > 0 {
		h, err := client.DecodeHeadersMsg(got.Message.Header)
		if err != nil {
			return m, false, nil // no entry of ours
		}
		m.Entry = entryOf(h, m.Payload, stream, 0)
		m.Seq = got.Message.Seq
	}
	return m, true, nil
}

// streamInfo returns settings and creation time of a stream, or ErrGone.
func (e *Engine) streamInfo(ctx context.Context, name string) (c config, created string, err error) {
	c, created, _, err = e.streamState(ctx, name)
	return c, created, err
}

// streamState returns the same, and the sequence of the last message that the stream ever had.
func (e *Engine) streamState(ctx context.Context, name string) (c config, created string, last uint64, err error) {
	info, err := e.info(ctx, name)
	return info.Config, info.Created, info.State.Last, err
}

// streamReport is what the leader of a stream says of it.
type streamReport struct {
	Config  config `json:"config"`
	Created string `json:"created"`
	State   struct {
		Last uint64 `json:"last_seq"`
	} `json:"state"`
	Cluster clusterDetail `json:"cluster"`
}

// info asks the leader of a stream. It returns ErrGone if there is no such stream.
func (e *Engine) info(ctx context.Context, name string) (r streamReport, err error) {
	failed, err := e.api(ctx, "STREAM.INFO."+name, struct{}{}, &r)
	if err != nil {
		return r, readable(err)
	}
	return r, failed.asError(name)
}
