package session

import (
	"context"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/log"
)

// Local returns the committer of a store that is alone: what is committed is what its own files
// hold. It is a [ChangeCommitter], too.
func Local() log.Committer { return local{log.Local()} }

type local struct{ log.Committer }

func (local) CommitChange(_ context.Context, x *Session, c Change) error { return x.Apply(c) }

func (local) CommitName(_ context.Context, s *Store, n NameChange) error { return s.applyName(n) }

// changesOf returns who commits changes where c commits records.
func changesOf(c log.Committer) ChangeCommitter {
	if changes, ok := c.(ChangeCommitter); ok {
		return changes
	}
	return local{c}
}

// Apply makes a change that was committed true in the session's files. It returns
// ctxabi.ErrMalformed for a kind that it does not know, ctxabi.ErrExists where a child has the name
// already, fs.ErrNotExist where the file or the child is not there, ctxabi.ErrConflict for a note that is not what it had to be, and the error of the disk; what was
// there stays then.
func (x *Session) Apply(c Change) error {
	switch c.Kind {
	case SetFile:
		return x.applyFile(c.Name, c.Data, c.time())
	case RemoveFile:
		return x.applyRemoveFile(c.Name, c.If)
	case DropFile:
		return x.applyDropFile(c.Name)
	case SetTime:
		return x.applyTime(c.Name, c.time())
	case SetNote:
		if err := x.checkNote(c.Name, c.Was); err != nil {
			return err
		}
		if c.Name == ctxabi.SummaryFile {
			return x.applySummaryNote(Note{Origin: c.To, Own: c.Data}, c.time())
		}
		return x.applyNote(c.Name, Note{Origin: c.To, Own: c.Data}, c.time())
	case SetSummary:
		if err := x.checkNote(c.Name, c.Was); err != nil {
			return err
		}
		return x.applySummary(c)
	case MakeChild:
		return x.applyMakeChild(c.Name)
	case RemoveChild:
		return x.applyRemoveChild(c.Name)
	case RenameChild:
		return x.applyRenameChild(c.Name, c.To)
	}
	return ctxabi.E("apply", c.Name, ctxabi.ErrMalformed, "%q is not a change of a session", c.Kind)
}

// time returns when the change was made; the zero time if that does not matter.
func (c *Change) time() time.Time {
	if c.At == 0 {
		return time.Time{}
	}
	return time.Unix(0, c.At)
}

// ApplyName makes a change of names that was committed elsewhere true in the store. It returns
// ctxabi.ErrMalformed for a kind that it does not know, ctxabi.ErrExists where the new name is
// taken, ctxabi.ErrNotFound where the session is not there, and the error of the disk.
func (s *Store) ApplyName(n NameChange) error {
	if n.Kind == RemoveSession {
		x, err := s.applyRemove(n.Ref, n.ID)
		if x != nil && x.Removed() {
			x.giveBack()
		}
		s.named(n)
		return err
	}
	return s.applyName(n)
}

// applyName is ApplyName for the store that asked: it gives the bytes of what it removes back itself.
func (s *Store) applyName(n NameChange) error {
	if n.Kind == CreateAgent {
		return s.EnsureAgent(n.Ref, n.Owner) // which concerns no session
	}
	defer s.named(n) // also where a step behind the change itself failed
	switch n.Kind {
	case CreateSession:
		return s.applyCreate(n)
	case RenameDir:
		return s.applyRename(n.From, n.To)
	case RemoveSession:
		_, err := s.applyRemove(n.Ref, n.ID)
		return err
	}
	return ctxabi.E("apply", "", ctxabi.ErrMalformed, "%q is not a change of names", n.Kind)
}
