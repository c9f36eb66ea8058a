package gc

import (
	"context"
	"iter"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Kind is what a candidate is.
type Kind string

// The kinds.
const (
	Packs      Kind = "packs"      // rows of packs.jsonl, and the packs that no other row names
	Memory     Kind = "memory"     // what is remembered of a session to compile its packs
	Blob       Kind = "blob"       // what a user stored under its hash
	Cache      Kind = "cache"      // derived content on the disk that is made again when it is needed
	Quarantine Kind = "quarantine" // bytes that were no record when a log was opened
	Log        Kind = "log"        // history: archived at most
	Whole      Kind = "session"    // the session with its history
	Tmp        Kind = "tmp"        // what nobody owns in the tmp directory of the store
)

// Item is something that a policy may let go.
type Item struct {
	Kind Kind
	Path string    // relative to the session, as its owner knows it
	Size int64     // bytes
	Used time.Time // when it was made, or used last, as far as that is known
	Why  string    // what keeps it whatever the policy says; "": nothing
}

// Pack is a row of packs.jsonl.
type Pack struct {
	ID string
	At time.Time
}

// Named says what names a content.
type Named struct {
	Count int      // of records and files that do; all packs that are kept count as one
	By    []string // some of them: "messages:12", "context/pinned/rules.md", "a pack that was read"
}

// Glance is what a glance at a session tells that opens nothing of it.
type Glance struct {
	Stamp   string // another one when the policy changed, or the kinds of derived content that there are
	Derived bool   // there is derived content, or a policy that speaks of history
}

// Store is the store as the collector sees it.
type Store interface {
	Now() time.Time
	Sessions() iter.Seq[ctxabi.Ref]
	// Glance glances at a session. Where the stamp is still was, the rest need not be told.
	Glance(ref ctxabi.Ref, was string) (Glance, error)
	Session(ref ctxabi.Ref) (Session, error)
	// Tmp lists what lies in the tmp directory of the store, is older than before and belongs to no open handle.
	Tmp(before time.Time) []Item
	RemoveTmp(Item) (freed int64, err error)
}

// Session is a session as the collector sees it.
type Session interface {
	Policy() ctxabi.Policy
	// Packs are the rows of packs.jsonl, the oldest first.
	Packs() ([]Pack, error)
	// PackBytes is what is freed by dropping the rows before a time.
	PackBytes(before time.Time) int64
	// Items are those of all other kinds.
	Items(ctx context.Context) ([]Item, error)
	// Names says what names each of the contents ids.
	Names(ctx context.Context, ids []string) (map[string]Named, error)
	// Open counts the handles that are open on a file of the session; of all of them when path is "".
	Open(path string) int
	// Parents are sessions whose child links name this one.
	Parents(ctx context.Context) ([]string, error)

	// DropPacks drops the rows before a time, and what only they name.
	DropPacks(before time.Time) (rows int, freed int64, err error)
	// Remove takes the lock that guards the item, asks again with the item as it is then, and removes it (archives it, for a log) when
	// the answer is yes. done says whether it did.
	Remove(ctx context.Context, it Item, confirm func(Item) (bool, error)) (freed int64, done bool, err error)

	// SetReport keeps what context/gc.report shows.
	SetReport([]byte) error
}
