package nats

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// consumerLife is how long a server keeps a consumer that nobody asks.
const consumerLife = 10 * time.Second

// pull reads the messages of a pattern of subjects through a consumer, whose filter stands in the
// subject of the request. With heads set they come without their payloads.
func (e *Engine) pull(ctx context.Context, stream, pattern string, r engine.Range, heads bool) (list []message, err error) {
	name := rand.Text() // who knows it may read what the consumer reads
	var made struct {
		Pending uint64 `json:"num_pending"`
	}
	failed, err := e.api(ctx, "CONSUMER.CREATE."+stream+"."+name+"."+pattern, map[string]any{
		"stream_name": stream,
		"config": map[string]any{
			"name": name, "filter_subject": pattern, "deliver_policy": "by_start_sequence", "opt_start_seq": r.From,
			"ack_policy": "none", "mem_storage": true, "num_replicas": 1, "inactive_threshold": consumerLife, "headers_only": heads,
		},
	}, &made)
	if err == nil {
		err = failed.asError(stream)
	}
	if err != nil || made.Pending == 0 {
		return nil, err
	}
	defer e.links.conns[e.prefer.Load()].Publish("$JS.API.CONSUMER.DELETE."+stream+"."+name, nil)
	size := 0
	for len(list) < r.Count && uint64(len(list)) < made.Pending && size < r.Bytes {
		more, err := e.pullSome(ctx, stream, name, min(r.Count-len(list), int(min(made.Pending, engine.MaxCount))), uint64(len(list)), HedgeAfter)
		if err != nil || len(more) == 0 {
			return list, err
		}
		for _, m := range more {
			if size >= r.Bytes {
				break
			}
			size += length(m.Entry)
			list = append(list, m)
		}
	}
	return list, nil
}

// pullSome asks a consumer that has delivered so many messages for its next ones, as many as it has of n. It
// ends when nothing has come for the time silent.
func (e *Engine) pullSome(ctx context.Context, stream, name string, n int, delivered uint64, silent time.Duration) (list []message, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	c := e.links.conns[e.prefer.Load()]
	inbox := c.NewInbox()
	answers := make(chan *client.Msg, n+1)
	sub, err := c.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, engine.ErrUnreachable
	}
	defer sub.Unsubscribe()
	body, err := json.Marshal(map[string]any{"batch": n, "no_wait": true})
	if err != nil {
		return nil, err
	}
	if err := c.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+stream+"."+name, inbox, body); err != nil {
		return nil, engine.ErrUnreachable
	}
	silence := time.NewTimer(silent)
	defer silence.Stop()
	for len(list) < n {
		select {
		case <-ctx.Done():
			return list, nil
		case <-silence.C:
			return list, nil
		case m := <-answers:
			if m.Header.Get("Status") != "" {
				return list, nil // no more
			}
			at, err := m.Metadata()
			if delivered++; err != nil || at.Sequence.Consumer != delivered {
				return list, nil // one is missing
			}
			x := message{m.Subject, entryOf(m.Header, m.Data, stream, 0)}
			x.Seq = at.Sequence.Stream
			list = append(list, x)
			silence.Reset(silent)
		}
	}
	return list, nil
}
