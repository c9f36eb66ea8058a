package session

import (
	"context"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Revision is a change of a control file that stands in a journal.
type Revision struct {
	Entry uint64    `json:"entry"`         // its number
	Time  time.Time `json:"time,omitzero"` // when it was asked for; zero: nobody knows
	Host  string    `json:"host"`          // where
	UID   uint32    `json:"uid"`           // by whom, if Known
	Known bool      `json:"known"`         // UID says something
	Size  int64     `json:"size"`          // how many bytes were written; -1: the file was removed
}

// Historian is a [ChangeCommitter] that numbers changes, and keeps what files held before.
type Historian interface {
	ChangeCommitter

	// LastSet returns the last change of the control file name that was applied here; ok is false if
	// the journal never set it. It asks nobody.
	LastSet(x *Session, name string) (r Revision, ok bool)

	// History returns the changes of the control file name that were applied here, the first one
	// first, as far back as the cluster keeps them. It returns the errors of the cluster.
	History(ctx context.Context, x *Session, name string) ([]Revision, error)

	// Earlier returns what the change of an entry made of the control file name. It returns
	// ctxabi.ErrNotFound if the entry is none of its History or has removed it, and the errors of
	// the cluster.
	Earlier(ctx context.Context, x *Session, name string, entry uint64) ([]byte, error)
}

// Numbered reports whether changes of the session have numbers. Those of a store that is alone have none.
func (x *Session) Numbered() bool {
	_, ok := x.store.changes.(Historian)
	return ok
}

// LastSet returns the last change of a control file; ok is false if there is none that has a number.
func (x *Session) LastSet(name string) (r Revision, ok bool) {
	if h, numbered := x.store.changes.(Historian); numbered {
		return h.LastSet(x, name)
	}
	return Revision{}, false
}

// Opened returns what a process of the user uid knows of a control file that it reads after this call.
func (x *Session) Opened(name string, uid uint32) Edit {
	if !x.Numbered() {
		return Edit{}
	}
	e := Edit{Known: true, UID: uid}
	if last, ok := x.LastSet(name); ok {
		e.Seen = last.Entry + 1
	}
	return e
}

// History returns the changes of a control file that have numbers, the first one first. It returns
// ctxabi.ErrNotFound in a store that is alone, and the errors of [Historian].
func (x *Session) History(ctx context.Context, name string) ([]Revision, error) {
	h, ok := x.store.changes.(Historian)
	if !ok {
		return nil, x.noHistory(name)
	}
	return h.History(ctx, x, name)
}

// Earlier returns what the change of an entry made of a control file. It returns ctxabi.ErrNotFound in a
// store that is alone, and the errors of [Historian].
func (x *Session) Earlier(ctx context.Context, name string, entry uint64) ([]byte, error) {
	h, ok := x.store.changes.(Historian)
	if !ok {
		return nil, x.noHistory(name)
	}
	return h.Earlier(ctx, x, name, entry)
}

func (x *Session) noHistory(name string) error {
	return ctxabi.E("history", name, ctxabi.ErrNotFound, "the store belongs to no cluster, and keeps no earlier contents of a file")
}
