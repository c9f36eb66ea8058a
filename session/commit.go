package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// ChangeKind is what a [Change] does.
type ChangeKind string

// The kinds of changes of a session.
const (
	SetFile     ChangeKind = "set"          // the control file Name holds Data
	RemoveFile  ChangeKind = "remove"       // the control file Name is removed where it holds If; another one stays
	DropFile    ChangeKind = "drop"         // the control file Name is removed, whatever it holds
	SetTime     ChangeKind = "time"         // the control file Name was changed at At
	SetNote     ChangeKind = "note"         // what the agent wrote of the note Name is Data; To is its origin
	SetSummary  ChangeKind = "summary"      // a version is delivered, or all are retracted: see VersionRow.change
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
	Was  []byte // of SetNote and SetSummary: what [Note.Sum] of the note must be, or it stays; empty: anything
	At   int64  // when it was asked for, in nanoseconds since 1970, which the file's time becomes; 0: nobody knows
	Edit Edit
}

// Edit is what is known of who changes a control file.
type Edit struct {
	Known bool   // else the rest says nothing
	UID   uint32 // whose process it is
	Seen  uint64 // entries of the journal with this number or a later one are not in what the process has seen of the file
	Only  bool   // the change is refused with ctxabi.ErrStale if such an entry has set the file
}

// editOf returns the edit that an optional argument names.
func editOf(by []Edit) Edit {
	if len(by) > 0 {
		return by[0]
	}
	return Edit{}
}

// NameKind is what a [NameChange] does.
type NameKind string

// The kinds of changes of names.
const (
	CreateAgent   NameKind = "agent"  // there is an agent Ref of Owner, without sessions
	CreateSession NameKind = "create" // there is a session Ref of Owner with the id ID
	RenameDir     NameKind = "rename" // the session or the agent's home From, a path in the store, is called To
	RemoveSession NameKind = "remove" // the session Ref, if it has the id ID, is removed for good
)

// NameChange is one change of the names of a store.
type NameChange struct {
	Kind     NameKind
	Ref      ctxabi.Ref
	Owner    disk.Owner
	ID       string
	From, To string
	Built    string // of CreateSession: a directory of this store that has all of the session, and becomes it (its agent is there); "": an empty one is made
}

// ChangeCommitter is the one commit point of changes: it decides in which order they come to be
// true, as [Committer] does for records. A Committer of [Options] that is a ChangeCommitter too is
// asked for both; beside another one changes are committed as [Local] does.
//
// What is built lies in the store that asks: elsewhere a session is made without it, and filled by what
// is committed to it.
//
// Both methods make a change durable and have it applied to the store that asks, by [Session.Apply]
// or [Store.ApplyName], before they return; they return the error of that. They may block, and must
// not keep Data or If. The change was checked by the rules of what it changes, and no lock of the
// store is held but that of the session's notes for SetNote and SetSummary, and the turns of the logs for
// RemoveSession.
type ChangeCommitter interface {
	CommitChange(ctx context.Context, x *Session, c Change) error
	CommitName(ctx context.Context, s *Store, n NameChange) error
}

// Shared reports whether what is in the store is committed elsewhere, and the same in other stores.
func (s *Store) Shared() bool { return !s.alone() }

// alone reports whether what is committed to the store is what its own files hold.
func (s *Store) alone() bool {
	_, alone := s.changes.(local)
	return alone
}

// Looker is a [ChangeCommitter] whose sessions may be behind what is committed. Look brings one up to date and
// keeps it so for a while; Glance only brings it up to date. They return an error if the session may be older, also
// when ctx ends; it can be read all the same.
type Looker interface {
	Look(ctx context.Context, x *Session) error
	Glance(ctx context.Context, x *Session) error
}

// lookWithin is how long who reads a session by way of another one waits for what it lacks.
const lookWithin = 500 * time.Millisecond

// lookPause is for how long nobody waits again after that was in vain: a session may have many children.
const lookPause = 5 * time.Second

// looked returns the session ref as it is read by way of another one. It returns the errors of Session.
func (s *Store) looked(ref ctxabi.Ref) (*Session, error) {
	x, err := s.Session(ref)
	if err != nil || s.looker == nil {
		return x, err
	}
	began := time.Now()
	if until := s.blind.Load(); until != nil && began.Before(*until) {
		return x, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookWithin)
	defer cancel()
	if err := s.looker.Look(ctx, x); err != nil || time.Since(began) > lookWithin/2 {
		until := time.Now().Add(lookPause)
		s.blind.Store(&until)
	}
	return x, nil
}

// Enterer is a [ChangeCommitter] that keeps what owners have beside their sessions. Enter brings that of one up to date.
// It returns an error if nothing of it is known.
type Enterer interface {
	Enter(ctx context.Context, ref ctxabi.Ref) error
}

// enter brings what the owner of ref has up to date for who reads a file of it by way of a session. What cannot be is
// as it is on this host.
func (s *Store) enter(ref ctxabi.Ref) {
	e, ok := s.looker.(Enterer)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookWithin)
	defer cancel()
	e.Enter(ctx, ref)
}

// Parental is a [Looker] that knows which sessions may have children, so that the others need not be looked at by who
// looks for the parents of one.
type Parental interface {
	// Parents returns those of the sessions list, which are of one owner, that may have children. known is false if that
	// is not known, and all may.
	Parents(ctx context.Context, list []ctxabi.Ref) (may []ctxabi.Ref, known bool)
	// NoteParents has it known from now on, after all sessions of an owner were looked at, and parents are those with
	// children. Where that fails it is known another time.
	NoteParents(ctx context.Context, looked, parents []ctxabi.Ref)
}

// lookAllWithin is how long who looks for something in all sessions of an owner waits for what this host lacks.
const lookAllWithin = time.Minute

// lookAt brings sessions up to date, several at a time, until one cannot be reached. The others are as they are on
// this host.
func (s *Store) lookAt(refs []ctxabi.Ref) {
	if s.looker == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookAllWithin)
	defer cancel()
	next := make(chan ctxabi.Ref)
	var all sync.WaitGroup
	for range min(len(refs), 16) {
		all.Go(func() {
			for ref := range next {
				x, err := s.Session(ref)
				if err == nil && ctx.Err() == nil && errors.Is(s.looker.Glance(ctx, x), ctxabi.ErrUnreachable) {
					cancel()
				}
			}
		})
	}
	for _, ref := range refs {
		next <- ref
	}
	close(next)
	all.Wait()
}

// ask makes c who is asked for all that it can be asked for.
func (s *Store) ask(c log.Committer) {
	s.looker, _ = c.(Looker)
	s.kept, _ = c.(KeptCommitter)
	s.shares, _ = c.(BlobCommitter)
}

// commit has a change of the session committed.
func (x *Session) commit(c Change) error {
	return x.store.changes.CommitChange(context.Background(), x, c)
}
