package nats

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Errors of Ask.
var (
	// ErrNobody is the error of a request for which no host has the name, or that it refused as a whole.
	// Nobody has carried it out, and nobody will.
	ErrNobody = errors.New("no host of that name takes requests")
	// ErrNoAnswer is the error of a request that another host may carry out, or has.
	ErrNoAnswer = errors.New("the host does not answer")
)

// Request is what one host asks another one, and where it is about an owner's journals, whose.
type Request struct {
	Kind  string // letters
	Owner string // of an engine.Subject
	Body  []byte
}

// requests are those of this host that wait for an answer, and what answers those of others.
type requests struct {
	mu      sync.Mutex
	waiting map[string]chan *client.Msg // by token; guarded by mu
}

// Subjects of requests to a host, and of answers to it. The owner stands in the first one, so that servers
// refuse what is about others.
func askSubject(host, kind, owner string) string {
	return prefix + "h." + host + ".q." + kind + "." + owner
}

func answerSubject(host, token string) string { return prefix + "h." + host + ".r." + token }

// refused is the header of an answer that refuses the whole request.
const refused = "Ctx-Refused"

// Serve answers what other hosts ask this one, until the engine is closed, each request in a goroutine of its
// own. A request for which answer returns ErrNobody is refused as a whole; for another error there is no
// answer. A host serves once, before it asks. It returns ErrUnreachable if no link takes the subscriptions.
func (e *Engine) Serve(answer func(ctx context.Context, r Request) ([]byte, error)) error {
	e.requests.mu.Lock()
	e.requests.waiting = map[string]chan *client.Msg{}
	e.requests.mu.Unlock()
	for _, c := range e.links.conns {
		_, err := c.QueueSubscribe(askSubject(e.opts.Host, "*", "*"), "hosts", func(m *client.Msg) { go e.answer(m, c, answer) })
		if err == nil {
			_, err = c.Subscribe(answerSubject(e.opts.Host, "*"), e.arrived)
		}
		if err == nil {
			err = c.FlushTimeout(e.opts.Timeout)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
		}
	}
	return nil
}

// answer answers one request over the connection on which it came.
func (e *Engine) answer(m *client.Msg, c *client.Conn, answer func(ctx context.Context, r Request) ([]byte, error)) {
	parts := strings.Split(m.Subject, ".")
	if len(parts) != 7 || m.Reply == "" {
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, e.opts.Timeout)
	defer cancel()
	reply := &client.Msg{Subject: m.Reply}
	body, err := answer(ctx, Request{Kind: parts[5], Owner: parts[6], Body: m.Data})
	switch {
	case errors.Is(err, ErrNobody):
		reply.Header = client.Header{refused: {"1"}}
	case err != nil:
		return
	}
	reply.Data = body
	c.PublishMsg(reply) // who asks bears that it is lost
}

// arrived hands an answer to who waits for it.
func (e *Engine) arrived(m *client.Msg) {
	token := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	e.requests.mu.Lock()
	c := e.requests.waiting[token]
	delete(e.requests.waiting, token)
	e.requests.mu.Unlock()
	if c != nil {
		c <- m // it holds one
	}
}

// Ask sends a request to a host, once, and returns the answer. It returns ErrNobody if no host of that name
// takes it, ErrNoAnswer if ctx ended before an answer came, engine.ErrDenied, and engine.ErrUnreachable
// if it could not be sent.
func (e *Engine) Ask(ctx context.Context, host string, r Request) ([]byte, error) {
	subject, token := askSubject(host, r.Kind, r.Owner), rand.Text()
	answer := make(chan *client.Msg, 1)
	e.requests.mu.Lock()
	if e.requests.waiting == nil {
		e.requests.mu.Unlock()
		return nil, fmt.Errorf("%w: this host serves no requests itself", engine.ErrUnreachable)
	}
	e.requests.waiting[token] = answer
	e.requests.mu.Unlock()
	defer func() {
		e.requests.mu.Lock()
		delete(e.requests.waiting, token)
		e.requests.mu.Unlock()
	}()
	denied, unwatch := e.denials.watch(subject)
	defer unwatch()
	link := int(e.prefer.Load())
	if e.links.url(link) == "" {
		link = 1 - link
	}
	if err := e.links.conns[link].PublishMsg(&client.Msg{Subject: subject, Reply: answerSubject(e.opts.Host, token), Data: r.Body}); err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	select {
	case m := <-answer:
		if m.Header.Get("Status") == "503" && len(m.Data) == 0 || m.Header.Get(refused) != "" {
			return nil, fmt.Errorf("%w: %s", ErrNobody, host)
		}
		return m.Data, nil
	case <-denied:
		return nil, fmt.Errorf("%w: %s", engine.ErrDenied, subject)
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %s: %w", ErrNoAnswer, host, ctx.Err())
	}
}

// Probe reports whether a host of the name takes requests, whichever owner they are of. It is for who does not
// serve yet. It returns ErrNoAnswer if one may be there and does not answer within wait.
func (e *Engine) Probe(ctx context.Context, host, owner string, wait time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c := e.links.conns[e.prefer.Load()]
	inbox := answerSubject(e.opts.Host, rand.Text())
	answers := make(chan *client.Msg, 1)
	sub, err := c.ChanSubscribe(inbox, answers)
	if err != nil {
		return false, fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	defer sub.Unsubscribe()
	if err := c.PublishRequest(askSubject(host, "alive", owner), inbox, nil); err != nil {
		return false, fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	select {
	case m := <-answers:
		return m.Header.Get("Status") != "503" || len(m.Data) > 0, nil
	case <-ctx.Done():
		return false, fmt.Errorf("%w: %s: %w", ErrNoAnswer, host, ctx.Err())
	}
}
