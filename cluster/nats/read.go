package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Headers that servers add to what they hand out.
const (
	seqHeader  = "Nats-Sequence"
	lastHeader = "Nats-Last-Sequence"
	subjHeader = "Nats-Subject"
	fromHeader = "Nats-Stream"
)

// Read does what engine.Engine says, and returns its errors.
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

// message is an entry with its subject.
type message struct {
	subject string
	engine.Entry
}

// plain returns the entries of messages.
func plain(list []message) (entries []engine.Entry) {
	for _, m := range list {
		entries = append(entries, m.Entry)
	}
	return entries
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

// length returns how many bytes an entry counts for in a range.
func length(x engine.Entry) int {
	n := len(x.Payload)
	for name, value := range x.Header {
		n += len(name) + len(value)
	}
	return n
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

// entryOf returns the entry with a header that servers hand out and have added their own to so many times.
// Its sequence is the last that is named, because servers add theirs behind what the entry came with. Its
// ID is empty unless it looks as store makes it: a host can have the servers send answers to any subject,
// and such an answer, when it lands in a journal, has headers of the servers in it or lacks some of ours.
func entryOf(h client.Header, payload []byte, stream string, added int) engine.Entry {
	x := engine.Entry{Payload: payload, Seq: lastNumber(h, seqHeader)}
	ids, in := h[client.MsgIdHdr], h[client.ExpectedStreamHdr]
	if len(ids) == 1 && len(in) == 1 && in[0] == stream && len(h[client.ExpectedLastSubjSeqHdr]) == 1 &&
		len(h[seqHeader]) == added && len(h[subjHeader]) == added && len(h[fromHeader]) == added {
		x.ID = ids[0]
	}
	for name, values := range h {
		if strings.HasPrefix(name, "Ctx-") && len(values) == 1 {
			if x.Header == nil {
				x.Header = engine.Header{}
			}
			x.Header[name] = values[0]
		}
	}
	return x
}

// lastNumber returns the number in the last of the values of a header, or 0.
func lastNumber(h client.Header, name string) uint64 {
	values := h[name]
	if len(values) == 0 {
		return 0
	}
	n, _ := strconv.ParseUint(values[len(values)-1], 10, 64)
	return n
}

// lastValue returns the last of the values of a header, or "".
func lastValue(h client.Header, name string) string {
	values := h[name]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
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

// matches reports whether a subject is one of a pattern, in which "*" stands for a token.
func matches(subject, pattern string) bool {
	if subject == pattern {
		return true
	}
	s, p := strings.Split(subject, "."), strings.Split(pattern, ".")
	if len(s) != len(p) {
		return false
	}
	for i := range s {
		if p[i] != "*" && p[i] != s[i] {
			return false
		}
	}
	return true
}
