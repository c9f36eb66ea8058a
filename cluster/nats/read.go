package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Read implements [engine.Engine] and returns the errors documented there.
func (e *Engine) Read(ctx context.Context, s engine.Subject, r engine.Range) ([]engine.Entry, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return e.entries(ctx, place{stream(s.Shard()), subject(s)}, r.Limited())
}

// entries reads as Read does; the range is Limited. A host of some owners cannot ask the leader.
func (e *Engine) entries(ctx context.Context, p place, r engine.Range) ([]engine.Entry, error) {
	switch {
	case e.restricted():
		list, err := e.pull(ctx, p.stream, p.subject, r, false)
		return plain(list), readable(err)
	case r.Leader:
		return e.oneByOne(ctx, p, r)
	}
	return e.batch(ctx, p, r)
}

// oneByOne reads from the leader, which hands out one entry at a time.
func (e *Engine) oneByOne(ctx context.Context, p place, r engine.Range) (list []engine.Entry, err error) {
	size := 0
	for from := r.From; len(list) < r.Count && size < r.Bytes; {
		m, found, err := e.ask(ctx, p.stream, map[string]any{"seq": from, "next_by_subj": p.subject})
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
		list = append(list, m.Entry)
		size += length(m.Entry)
		from = m.Seq + 1
	}
	return list, nil
}

// errElsewhere is the error of reading a sequence at which another subject has its entry.
var errElsewhere = errors.New("the entry is of another journal")

// at reads the entry at a sequence. It returns errElsewhere if that is not of the subject.
func (e *Engine) at(ctx context.Context, p place, seq uint64) (x engine.Entry, found bool, err error) {
	if e.restricted() { // sees its own alone: another owner's entry is none
		list, err := e.entries(ctx, p, engine.Range{From: seq, Count: 1}.Limited())
		if err != nil || len(list) == 0 || list[0].Seq != seq {
			if err == nil && len(list) > 0 {
				err = errElsewhere
			}
			return x, false, err
		}
		return list[0], true, nil
	}
	m, found, err := e.ask(ctx, p.stream, map[string]any{"seq": seq})
	if err == nil && found && m.subject != p.subject {
		return x, false, errElsewhere
	}
	return m.Entry, found, err
}

// batch reads from any replica, in one request.
func (e *Engine) batch(ctx context.Context, p place, r engine.Range) ([]engine.Entry, error) {
	body, err := json.Marshal(map[string]any{"seq": r.From, "next_by_subj": p.subject, "batch": r.Count, "max_bytes": r.Bytes})
	if err != nil {
		return nil, err
	}
	list, err := e.gather(ctx, "$JS.API.DIRECT.GET."+p.stream, body, r.Count, p.subject)
	return plain(list), err
}

// gather sends a request whose answer is several messages, over one link after the other, and returns
// those messages that came one behind the other.
func (e *Engine) gather(ctx context.Context, request string, body []byte, most int, pattern string) ([]message, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	denied, unwatch := e.denials.watch(request)
	defer unwatch()
	for link := int(e.prefer.Load()); ; link = 1 - link {
		list, done, err := e.gatherOver(ctx, e.links.conns[link], denied, request, body, most, pattern)
		if err != nil || done || len(list) > 0 {
			return list, err
		}
		if !e.pause(ctx) {
			return nil, fmt.Errorf("%w: %w", engine.ErrUnreachable, context.Cause(ctx))
		}
	}
}

// gatherOver is gather over one link. done is false if the end of the answer did not come.
func (e *Engine) gatherOver(ctx context.Context, c *client.Conn, denied <-chan struct{}, request string, body []byte, most int, pattern string) (list []message, done bool, err error) {
	inbox := c.NewInbox()
	answers := make(chan *client.Msg, most+1)
	sub, err := c.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, false, nil // the link is down
	}
	defer sub.Unsubscribe()
	if err := c.PublishRequest(request, inbox, body); err != nil {
		return nil, false, nil
	}
	before := uint64(0)
	silence := time.NewTimer(HedgeAfter)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return list, len(list) > 0, nil
		case <-denied:
			return nil, false, fmt.Errorf("%w: %s", engine.ErrDenied, request)
		case <-silence.C:
			return list, len(list) > 0, nil
		case m := <-answers:
			switch status := m.Header.Get("Status"); {
			case status == "204":
				return list, lastNumber(m.Header, lastHeader) == before, nil
			case status == "404":
				return nil, true, nil
			case status != "":
				return list, false, nil
			}
			x := message{lastValue(m.Header, subjHeader), entryOf(m.Header, m.Data, lastValue(m.Header, fromHeader), 1)}
			if lastNumber(m.Header, lastHeader) != before || !matches(x.subject, pattern) {
				return list, len(list) > 0, nil // one is missing
			}
			before = x.Seq
			list = append(list, x)
			silence.Reset(HedgeAfter)
		}
	}
}
