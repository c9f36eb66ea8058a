package gc

import (
	"context"
	"iter"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Kind is what an item is.
type Kind string

// The kinds.
const (
	Packs      Kind = "packs"      // rows of packs.jsonl, and the packs that no other row names
	Memory     Kind = "memory"     // what is remembered of a session to compile its packs
	Blob       Kind = "blob"       // what a user stored under its hash
	Cache      Kind = "cache"      // derived content on the disk, which can be made again
	Quarantine Kind = "quarantine" // bytes that were no record when a log was opened
	Log        Kind = "log"        // history: archived at most
	Whole      Kind = "session"    // the session with its history
	Tmp        Kind = "tmp"        // what nobody owns in the tmp directory of the store
)

// Item is something that a sweep may remove, depending on the policy.
type Item struct {
	Kind Kind
	Path string    // relative to the session, as its owner knows it
	Size int64     // bytes
	Used time.Time // when it was made, or used last, as far as that is known
	Why  string    // why it stays under any policy; "": it may go
}

// Pack is a row of packs.jsonl.
type Pack struct {
	ID string
	At time.Time
}

// Named counts and lists the references to a content.
type Named struct {
	Count int      // of records and files that do; all packs that are kept count as one
	By    []string // some of them: "messages:12", "context/pinned/rules.md", "a pack that was read"
}

// Glance is what is known of a session from its directory alone, without opening the session.
type Glance struct {
	Stamp   string // another one when the policy changed, or the kinds of derived content that there are
	Derived bool   // there is derived content, or a policy that speaks of history
}

// Store is the part of a store that a collector needs.
type Store interface {
	Now() time.Time
	Sessions() iter.Seq[ctxabi.Ref]
	// Glance returns the [Glance] of a session; if the stamp still equals was, only the stamp.
	// It returns ctxabi.ErrNotFound if there is no such session.
	Glance(ref ctxabi.Ref, was string) (Glance, error)
	Session(ref ctxabi.Ref) (Session, error)
	// Tmp returns what lies in the tmp directory of the store, is older than before and belongs to no
	// open handle.
	Tmp(before time.Time) []Item
	RemoveTmp(Item) (freed int64, err error)
}

// Session is what a collector needs of a session, for one plan and the sweep after it.
type Session interface {
	Policy() ctxabi.Policy
	// Packs returns the rows of packs.jsonl, the oldest first.
	Packs() ([]Pack, error)
	// PackBytes returns how many bytes DropPacks would free.
	PackBytes(before time.Time) int64
	// Items returns the items of all other kinds.
	Items(ctx context.Context) ([]Item, error)
	// Names returns what names each of the contents ids.
	Names(ctx context.Context, ids []string) (map[string]Named, error)
	// Open returns how many handles are open on a file of the session, or on all its files if path is
	// "".
	Open(path string) int
	// Parents returns the sessions whose child links name this one.
	Parents(ctx context.Context) ([]string, error)

	// DropPacks removes the rows before a time, and the packs that only they name.
	DropPacks(before time.Time) (rows int, freed int64, err error)
	// Remove removes the item, or archives it if it is a log, if confirm, called with the item's
	// current state under the lock that guards it, returns true. done reports whether it did; freed is
	// in bytes.
	Remove(ctx context.Context, it Item, confirm func(Item) (bool, error)) (freed int64, done bool, err error)

	// SetReport stores the text of context/gc.report.
	SetReport([]byte) error
}
