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

const (
	// HedgeAfter is how long a request waits for an answer before it goes over the other link, too.
	HedgeAfter = 750 * time.Millisecond

	maxAttempts = 128
	minPause    = 10 * time.Millisecond
	maxPause    = 500 * time.Millisecond
)

// verdict is what an answer means for a request.
type verdict int

const (
	final  verdict = iota // the request has its answer
	again                 // it was not carried out; send it again
	unsure                // it may be carried out still, or may have been; send it again
)

// answer is what came back from one attempt.
type answer struct {
	link int
	msg  *client.Msg
	err  error
}

// exchange sends a request, and again over the other link when there is no answer or none that counts,
// until judge is content with one. judge gets an answer and whether other attempts may be carried out. It
// returns ErrDenied if the servers refuse each attempt, ErrUnreachable if no server has answered or may have
// an attempt within the time limit, and else ErrUnknown.
func (e *Engine) exchange(ctx context.Context, subject string, header client.Header, body []byte, judge func(m *client.Msg, others bool) verdict) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	denied, unwatch := e.denials.watch(subject)
	defer unwatch()

	answers := make(chan answer, maxAttempts) // holds all, so that no sender blocks when the caller has returned
	first := int(e.prefer.Load())
	link, sent, open, refused := first, 0, 0, 0
	taken := false // a server has answered an attempt
	wait := HedgeAfter
	pause := minPause
	timer := time.NewTimer(wait)
	defer timer.Stop()
	send := func() {
		if sent == maxAttempts {
			return
		}
		sent++
		open++
		go func(link int) {
			m, err := e.links.conns[link].RequestMsgWithContext(ctx, &client.Msg{Subject: subject, Header: header, Data: body})
			answers <- answer{link, m, err}
		}(link)
		link = 1 - link
	}
	send()
	for {
		select {
		case <-ctx.Done():
			if open > 0 || taken {
				return fmt.Errorf("%w: %w", engine.ErrUnknown, ctx.Err())
			}
			return fmt.Errorf("%w: %w", engine.ErrUnreachable, ctx.Err())
		case <-denied: // of which attempt is not known, and rights may have changed since the first
			if refused++; refused >= open && !taken {
				return fmt.Errorf("%w: %s", engine.ErrDenied, subject)
			}
		case <-timer.C:
			send()
			if sent > 2 {
				wait = min(2*wait, 4*HedgeAfter)
			}
			timer.Reset(wait)
		case a := <-answers:
			v := unsure
			if a.err == nil {
				taken = true
				v = judge(a.msg, open > 1)
			} else if notSent(a.err) {
				v = again
			} else if ctx.Err() == nil {
				v = unsure
			} else {
				continue // the end of ctx is looked at above
			}
			if v != unsure {
				open--
			}
			if v == final {
				if a.link != first {
					e.hedges.Add(1)
					e.choose(a.link)
				}
				return nil
			}
			timer.Reset(pause)
			pause = min(2*pause, maxPause)
		}
	}
}

// notSent reports whether an error of a request means that no server has taken it. client.ErrDisconnected does
// not: the client returns it for requests that it has sent and whose answers can no longer come.
func notSent(err error) bool {
	return errors.Is(err, client.ErrNoResponders) || errors.Is(err, client.ErrReconnectBufExceeded) || errors.Is(err, client.ErrConnectionReconnecting)
}

// apiError is the error of an answer of JetStream.
type apiError struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

// Codes of JetStream.
const (
	codeAccountFull = 10002
	codeNoResources = 10023
	codeNoMessage   = 10037
	codeTooLarge    = 10054
	codeNoStream    = 10059
	codeOtherStream = 10060
	codeSequence    = 10063
	codeConflict    = 10071
	codeStoreFailed = 10077
	codeDuplicate   = 10158
	codeBusy        = 10164
)

// api sends a request to JetStream that may be repeated, and decodes the answer into into. It returns
// nil and the error of the answer, if it has one, or an error of exchange.
func (e *Engine) api(ctx context.Context, request string, body, into any) (*apiError, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	var failed *apiError
	var bad error
	err = e.exchange(ctx, "$JS.API."+request, nil, data, func(m *client.Msg, _ bool) verdict {
		var head struct {
			Error *apiError `json:"error"`
		}
		if bad = json.Unmarshal(m.Data, &head); bad != nil {
			return final
		}
		if failed = head.Error; failed != nil {
			if failed.Code == 503 {
				return again
			}
			return final
		}
		bad = json.Unmarshal(m.Data, into)
		return final
	})
	if err == nil && bad != nil {
		err = fmt.Errorf("%w: %s: %w", engine.ErrUnreachable, request, bad)
	}
	if err != nil {
		return nil, err
	}
	return failed, nil
}

// readable returns err for a call that changes nothing: ErrUnreachable in place of ErrUnknown, else err.
func readable(err error) error {
	if errors.Is(err, engine.ErrUnknown) {
		return fmt.Errorf("%w: %v", engine.ErrUnreachable, err)
	}
	return err
}

// asError returns what an answer of JetStream means where no other meaning is expected.
func (a *apiError) asError(what string) error {
	switch {
	case a == nil:
		return nil
	case a.ErrCode == codeNoStream:
		return fmt.Errorf("%w: %s", engine.ErrGone, what)
	}
	return fmt.Errorf("%w: %s: %s (%d)", engine.ErrUnreachable, what, a.Description, a.ErrCode)
}
