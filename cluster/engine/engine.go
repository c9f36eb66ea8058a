package engine

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"
)

const (
	// MaxPayload is how long the payload of an entry may be, in bytes.
	MaxPayload = 512 << 10
	// MaxHeader is how long all names and values of an entry's header may be together, in bytes.
	MaxHeader = 4 << 10
	// MaxID is how long the id of an entry may be, in bytes.
	MaxID = 128
	// IDWindow is how long an engine remembers the ids of entries at least.
	IDWindow = 2 * time.Minute
)

// An Engine keeps journals and objects on several servers, so that what it acknowledges survives the
// loss of any one of them. Its methods may be called at the same time. They end when their context
// does, at the latest, and never block for longer than the engine's own time limit.
type Engine interface {
	// Append stores an entry right behind the entry with the sequence expected, or as the first one of
	// the subject if expected is 0, and returns the sequence of the entry. The package's documentation
	// explains each error. It returns ErrInvalid if id is empty or too long or a header has a
	// name or a value that is not plain text, ErrTooLarge if a limit is exceeded, ErrFull if the engine
	// has no room, and ErrDenied if the host may not write to the subject. Append does not keep or
	// change header and payload.
	Append(ctx context.Context, s Subject, expected uint64, id string, header Header, payload []byte) (seq uint64, err error)

	// Read returns entries of a subject in their order: those of the range that the engine has, or the
	// first ones of them. There may be more behind the last that it returns, but none between. It
	// returns no entries and no error if it has none in the range. It returns ErrUnreachable if
	// nobody answers, and ErrDenied if the host may not read the subject.
	Read(ctx context.Context, s Subject, r Range) ([]Entry, error)

	// Last returns the last entry of a subject, or an entry with the sequence 0 if it has none. With
	// leader set, the answer includes every entry whose Append returned before Last was called, but for
	// a leader that is cut off and does not know it yet; else it may be an older one. It returns ErrUnreachable if nobody answers that can, and ErrDenied if
	// the host may not read the subject, or may not ask the leader.
	Last(ctx context.Context, s Subject, leader bool) (Entry, error)

	// Follow returns a feed of the entries that are appended to a subject from now on, until ctx is
	// done. It returns once the feed is in force, with ErrUnreachable if that cannot be, and with
	// ErrDenied if the host may not follow the subject.
	Follow(ctx context.Context, s Subject) (*Feed, error)

	// Trim removes the entries of a subject whose sequence is below before. It removes none that is
	// appended meanwhile, since that one has a higher sequence. It returns ErrInvalid if before is 0,
	// ErrUnreachable or ErrUnknown if it may not have happened (it may be repeated), and ErrDenied if
	// the host may not remove entries.
	Trim(ctx context.Context, s Subject, before uint64) error

	// Attest returns what each replica of a shard has. It returns ErrUnreachable if too few replicas
	// answer for a statement, and ErrDenied if the host may not ask.
	Attest(ctx context.Context, shard int) (Attestation, error)

	// Objects returns the store of content beside the journals.
	Objects() Objects
}

// Header is short text beside the payload of an entry. Names begin with "Ctx-"; names are of letters,
// digits and dashes, and values of printable ASCII.
type Header map[string]string

// Entry is an entry of a journal.
type Entry struct {
	Seq     uint64
	Prev    uint64 // in a feed: the sequence of the entry before it on its subject, or 0; elsewhere 0
	ID      string // "" if Append did not store it
	Header  Header
	Payload []byte
}

// Same reports whether two entries have the same id, header and payload.
func (e Entry) Same(o Entry) bool {
	return e.ID == o.ID && maps.Equal(e.Header, o.Header) && string(e.Payload) == string(o.Payload)
}

// Range is which entries of a subject to read.
type Range struct {
	From   uint64 // the lowest sequence
	Count  int    // how many at most; 0: MaxCount, which is also the most
	Bytes  int    // stop behind the entry with which payloads and headers reach so many; 0: MaxBytes
	Leader bool   // ask the leader: slower, entry by entry, but not from a replica that is behind
}

// Limits of one Read.
const (
	MaxCount = 1000
	MaxBytes = 8 << 20
)

// Limited returns the range with its limits filled in.
func (r Range) Limited() Range {
	r.From = max(r.From, 1)
	if r.Count <= 0 || r.Count > MaxCount {
		r.Count = MaxCount
	}
	if r.Bytes <= 0 || r.Bytes > MaxBytes {
		r.Bytes = MaxBytes
	}
	return r
}

// Feed delivers the entries of one subject.
type Feed struct {
	// Entries delivers entries. It is closed some time after the context of Follow is done.
	Entries <-chan Entry
	// Lost is readable when entries may have been missed since it was last read. Then Read them.
	Lost <-chan struct{}
	// Last is the sequence of the last entry when the feed began: what comes behind it is delivered, or
	// lost, and earlier entries are to be read. It is 0 if there was none.
	Last uint64
}

// CheckEntry returns ErrInvalid or ErrTooLarge if no engine would take an entry with these parts.
func CheckEntry(id string, header Header, payload []byte) error {
	if len(payload) > MaxPayload {
		return fmt.Errorf("%w: a payload of %d bytes", ErrTooLarge, len(payload))
	}
	if id == "" || len(id) > MaxID || !printable(id) || strings.Contains(id, " ") {
		return fmt.Errorf("%w: id %q", ErrInvalid, id)
	}
	size := 0
	for name, value := range header {
		size += len(name) + len(value)
		if !strings.HasPrefix(name, "Ctx-") || strings.Trim(name, nameBytes) != "" || !printable(value) || strings.TrimSpace(value) != value {
			return fmt.Errorf("%w: header %q: %q", ErrInvalid, name, value)
		}
	}
	if size > MaxHeader {
		return fmt.Errorf("%w: a header of %d bytes", ErrTooLarge, size)
	}
	return nil
}

const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"

// printable reports whether s is of printable ASCII.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
