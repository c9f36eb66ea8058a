package nats

import (
	"strconv"
	"strings"

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

// length returns how many bytes an entry counts for in a range.
func length(x engine.Entry) int {
	n := len(x.Payload)
	for name, value := range x.Header {
		n += len(name) + len(value)
	}
	return n
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
