package session

import (
	"context"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/log"
)

// ChangeKind is what a [Change] does.
type ChangeKind string

// The kinds of changes of a session.
const (
	SetFile     ChangeKind = "set"          // the control file Name holds Data
	RemoveFile  ChangeKind = "remove"       // the control file Name is removed where it holds If; another one stays
	SetNote     ChangeKind = "note"         // what the agent wrote of the note Name is Data; To is its origin
	MakeChild   ChangeKind = "make child"   // there is a child Name
	RemoveChild ChangeKind = "remove child" // the child Name, which is empty, is removed
	RenameChild ChangeKind = "rename child" // the child Name is called To
)

// Change is one change of what is true of a session beside its records.
type Change struct {
	Kind ChangeKind
	Name string
	To   string
	Data []byte
	If   []byte
}

// NameKind is what a [NameChange] does.
type NameKind string

// The kinds of changes of names.
const (
	CreateSession NameKind = "create" // there is a session Ref of Owner with the id ID
	RenameDir     NameKind = "rename" // the session or the agent's home From, a path in the store, is called To
	RemoveSession NameKind = "remove" // the session Ref, if it has the id ID, is removed for good
)

// NameChange is one change of the names of a store.
type NameChange struct {
	Kind     NameKind
	Ref      ctxabi.Ref
	Owner    Owner
	ID       string
	From, To string
}

// ChangeCommitter is the one commit point of changes: it decides in which order they come to be true, as [Committer] does for records.
// A Committer of [Options] that is a ChangeCommitter too is asked for both; beside another one changes are committed as [Local] does.
//
// Both methods make a change durable and have it applied to the store that asks, by [Session.Apply] or [Store.ApplyName], before they
// return; they return the error of that. They may block, and must not keep Data or If. The change was checked by the rules of what it
// changes, and no lock of the store is held but that of the session's notes for SetNote and the turns of the logs for RemoveSession.
type ChangeCommitter interface {
	CommitChange(ctx context.Context, x *Session, c Change) error
	CommitName(ctx context.Context, s *Store, n NameChange) error
}

// Local returns the committer of a store that is alone: what is committed is what its own files hold. It is a [ChangeCommitter], too.
func Local() Committer { return local{log.Local()} }

type local struct{ Committer }

func (local) CommitChange(_ context.Context, x *Session, c Change) error { return x.Apply(c) }

func (local) CommitName(_ context.Context, s *Store, n NameChange) error { return s.applyName(n) }

// changesOf returns who commits changes where c commits records.
func changesOf(c Committer) ChangeCommitter {
	if changes, ok := c.(ChangeCommitter); ok {
		return changes
	}
	return local{c}
}

// commit has a change of the session committed.
func (x *Session) commit(c Change) error {
	return x.store.changes.CommitChange(context.Background(), x, c)
}

// Apply makes a change that was committed true in the session's files. It returns ctxabi.ErrMalformed for a kind that it does not know,
// ctxabi.ErrExists where a child has the name already, and the error of the disk; what was there stays then.
func (x *Session) Apply(c Change) error {
	switch c.Kind {
	case SetFile:
		return x.applyFile(c.Name, c.Data)
	case RemoveFile:
		return x.applyRemoveFile(c.Name, c.If)
	case SetNote:
		return x.applyNote(c.Name, Note{Origin: c.To, Own: c.Data})
	case MakeChild:
		return x.applyMakeChild(c.Name)
	case RemoveChild:
		return x.applyRemoveChild(c.Name)
	case RenameChild:
		return x.applyRenameChild(c.Name, c.To)
	}
	return ctxabi.E("apply", c.Name, ctxabi.ErrMalformed, "%q is not a change of a session", c.Kind)
}

// ApplyName makes a change of names that was committed elsewhere true in the store. It returns ctxabi.ErrMalformed for a kind that it
// does not know, ctxabi.ErrExists where the new name is taken, ctxabi.ErrNotFound where the session is not there, and the error of the
// disk.
func (s *Store) ApplyName(n NameChange) error {
	if n.Kind == RemoveSession {
		x, err := s.applyRemove(n.Ref, n.ID)
		if x != nil && x.Removed() {
			x.giveBack()
		}
		return err
	}
	return s.applyName(n)
}

// applyName is ApplyName for the store that asked: it gives the bytes of what it removes back itself.
func (s *Store) applyName(n NameChange) error {
	switch n.Kind {
	case CreateSession:
		return s.applyCreate(n.Ref, n.Owner, n.ID)
	case RenameDir:
		return s.applyRename(n.From, n.To)
	case RemoveSession:
		_, err := s.applyRemove(n.Ref, n.ID)
		return err
	}
	return ctxabi.E("apply", "", ctxabi.ErrMalformed, "%q is not a change of names", n.Kind)
}
