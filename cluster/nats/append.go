package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Append implements [engine.Engine] and returns the errors documented there.
func (e *Engine) Append(ctx context.Context, s engine.Subject, expected uint64, id string, header engine.Header, payload []byte) (uint64, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	return e.store(ctx, place{stream(s.Shard()), subject(s)}, expected, engine.Entry{ID: id, Header: header, Payload: payload})
}

// place is where messages lie.
type place struct{ stream, subject string }

// ack is the answer to a message that is to be stored.
type ack struct {
	Stream    string    `json:"stream"`
	Seq       uint64    `json:"seq"`
	Duplicate bool      `json:"duplicate"`
	Error     *apiError `json:"error"`
}

// store stores an entry as Append does.
func (e *Engine) store(ctx context.Context, p place, expected uint64, x engine.Entry) (uint64, error) {
	if err := engine.CheckEntry(x.ID, x.Header, x.Payload); err != nil {
		return 0, err
	}
	header := make(client.Header, len(x.Header)+3)
	for name, value := range x.Header {
		header[name] = []string{value}
	}
	header[client.MsgIdHdr] = []string{x.ID}
	header[client.ExpectedStreamHdr] = []string{p.stream}
	header[client.ExpectedLastSubjSeqHdr] = []string{strconv.FormatUint(expected, 10)}
	var got ack
	var doubt bool // an attempt before the one that was answered may be stored
	full, silent := 0, false
	err := e.exchange(ctx, p.subject, header, x.Payload, func(m *client.Msg, others bool) verdict {
		got, doubt = ack{}, others || silent
		if json.Unmarshal(m.Data, &got) != nil || got.Error == nil {
			return final
		}
		switch code := got.Error.ErrCode; {
		case code == codeDuplicate: // this very entry is under way
			silent = true
			return again
		case code == codeBusy && doubt: // perhaps by itself
			return again
		case code == codeConflict && doubt && conflictEnd(got.Error) < expected: // from a server that lags behind
			return again
		case code == codeNoResources && full < maxFull: // another leader may have room
			full++
			return again
		case code == codeSequence: // a leader has not stored what the others may have
			return unsure
		}
		return final
	})
	if errors.Is(err, engine.ErrUnreachable) && !e.restricted() && ctx.Err() == nil { // nobody takes it: is there a stream?
		if _, _, missing := e.streamInfo(ctx, p.stream); errors.Is(missing, engine.ErrGone) {
			err = missing
		}
	}
	if err != nil {
		return 0, err
	}
	return e.outcome(ctx, p, expected, x, got, doubt)
}

// maxFull is how often a message is sent again to servers without room: a leader that has none steps
// down for another.
const maxFull = 5

// outcome returns what the answer to an entry means for it.
func (e *Engine) outcome(ctx context.Context, p place, expected uint64, x engine.Entry, got ack, doubt bool) (uint64, error) {
	if got.Error == nil {
		switch {
		case got.Seq == 0 || got.Stream != p.stream:
			return 0, fmt.Errorf("%w: the answer is of stream %q, sequence %d", engine.ErrUnknown, got.Stream, got.Seq)
		case got.Duplicate:
			return e.same(ctx, p, x, got.Seq)
		}
		return got.Seq, nil
	}
	if got.Error.ErrCode == codeConflict {
		last := conflictEnd(got.Error)
		if !doubt || last < expected {
			return 0, &engine.Conflict{Last: last}
		}
		return e.behind(ctx, p, expected, x, last)
	}
	meaning := engine.ErrUnknown // of an answer to one attempt, where another one may be stored, too
	if !doubt {
		meaning = got.Error.refusal()
	}
	return 0, fmt.Errorf("%w: %s: %s (%d)", meaning, p.stream, got.Error.Description, got.Error.ErrCode)
}

// refusal returns what the error of an answer means for the one attempt that it answers: an error of package
// engine, which is ErrUnknown unless servers return it for what they have not begun to store alone.
func (a *apiError) refusal() error {
	switch a.ErrCode {
	case codeBusy:
		return engine.ErrBusy
	case codeTooLarge:
		return engine.ErrTooLarge
	case codeNoStream, codeOtherStream:
		return engine.ErrGone
	case codeNoResources, codeAccountFull:
		return engine.ErrFull
	case codeStoreFailed: // of which the one with these words is found before
		if strings.Contains(a.Description, "maximum bytes") {
			return engine.ErrFull
		}
	}
	return engine.ErrUnknown
}

// conflictEnd returns the end of the subject that a conflict names.
func conflictEnd(e *apiError) uint64 {
	_, number, _ := strings.Cut(e.Description, ": ")
	last, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0
	}
	return last
}

// same returns the sequence if the entry there is x, whose id the servers know. It returns ErrIDTaken if
// it is another one, and ErrUnknown if it cannot be read.
func (e *Engine) same(ctx context.Context, p place, x engine.Entry, seq uint64) (uint64, error) {
	for range 20 {
		at, found, err := e.at(ctx, p, seq)
		if errors.Is(err, errElsewhere) {
			return 0, fmt.Errorf("%w: %s at %d, in another journal", engine.ErrIDTaken, x.ID, seq)
		}
		if err != nil {
			return 0, fmt.Errorf("%w: entry %d cannot be read: %v", engine.ErrUnknown, seq, err)
		}
		if found && !at.Same(x) {
			return 0, fmt.Errorf("%w: %s at %d", engine.ErrIDTaken, x.ID, seq)
		}
		if found {
			return seq, nil
		}
		if !e.pause(ctx) { // a new leader reads its log first
			break
		}
	}
	return 0, fmt.Errorf("%w: the servers know the id %s from entry %d, which is not there", engine.ErrUnknown, x.ID, seq)
}

// behind returns the sequence of x if it is the entry right behind the expected one, else a conflict with
// the end last. It returns ErrUnknown if that entry cannot be read.
func (e *Engine) behind(ctx context.Context, p place, expected uint64, x engine.Entry, last uint64) (uint64, error) {
	for range 20 {
		list, err := e.entries(ctx, p, engine.Range{From: expected + 1, Count: 1, Leader: !e.restricted()}.Limited())
		if err != nil {
			return 0, fmt.Errorf("%w: what stands behind %d cannot be read: %v", engine.ErrUnknown, expected, err)
		}
		if len(list) > 0 {
			if list[0].Same(x) {
				return list[0].Seq, nil
			}
			return 0, &engine.Conflict{Last: last}
		}
		if !e.pause(ctx) {
			break
		}
	}
	return 0, fmt.Errorf("%w: nothing is read behind %d, and the end is %d", engine.ErrUnknown, expected, last)
}
