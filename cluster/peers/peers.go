package peers

import (
	"context"
	"errors"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// ErrNobody is the error of a request that nobody took and nobody will take: there is no such host, or
// it is not the journal's home.
var ErrNobody = errors.New("no host takes it")

// Peers reaches the other hosts. Its methods may be called at the same time.
type Peers interface {
	// Alive reports whether a host is there, as far as is known.
	Alive(host string) bool

	// Append asks a host to commit requests to a journal. It returns ErrNobody if the host took none
	// of them and never will, and another error if it may have.
	Append(ctx context.Context, host string, a *Append) (*Receipt, error)

	// Head asks a host how far its copy of a journal is. It returns ErrNobody if it has none, and
	// another error if it does not answer.
	Head(ctx context.Context, host string, s engine.Subject) (Head, error)
}

// Handler is the host that is asked. Its methods are those of [Peers] and return the same errors.
type Handler interface {
	TakeAppend(ctx context.Context, a *Append) (*Receipt, error)
	TakeHead(ctx context.Context, s engine.Subject) (Head, error)
}

// Append is what one host asks another to commit.
type Append struct {
	Subject  engine.Subject
	From     string // who asks
	Next     uint64 // number of the next entry of the journal, as who asks knows it
	Requests []Request
}

// Request is one thing to be committed: records of a log, or a row of another kind as it stands.
type Request struct {
	Key  arrival.Key
	Kind journal.Kind
	// Alone means that it has to stand in an entry of its own.
	Alone bool

	// Of a row of [journal.Message] or [journal.Event].
	Data     []byte       // empty: the records are an object, the body of their hash
	SHA      arrival.Hash // of the records
	Len      int64        // of them, in bytes
	At       int64        // where they must come to stand; -1: anywhere
	UID, PID uint32

	// Of other kinds.
	Content []byte
	Body    []byte
}

// Outcome is what became of a request.
type Outcome int

// Outcomes of a request.
const (
	Void      Outcome = iota // it is not committed, and the host will not commit it any more
	Committed                // it stands in the journal
	Misplaced                // it is not committed: the log ends elsewhere than At
	Unknown                  // the host does not know whether it stands in the journal, or will
)

// Receipt is the answer to an Append.
type Receipt struct {
	Seq      uint64    // what was committed stands at or before this sequence
	Outcomes []Outcome // of the requests, in their order
}

// Head is how far a host's copy of a journal is.
type Head struct {
	journal.Position
	Seq uint64
}
