package shared

import (
	"context"
	"errors"
	"time"
)

// Errors of a Store. Only ErrUnknown leaves open whether the change happened; after every other
// error it did not happen and never will.
var (
	// ErrUnknown reports that the change may have happened, or may still happen.
	ErrUnknown = errors.New("the database did not answer; the change may be stored")
	// ErrUnavailable reports that nothing was stored, and that the same call may succeed later.
	ErrUnavailable = errors.New("the database is not available; nothing was stored")
	// ErrConflict reports that the state of the database is not the one that the change expects.
	ErrConflict = errors.New("another host changed this first")
	// ErrMissing reports that the database lacks the session, the name, or the object. A store that
	// was restored lacks rows, too, so ErrMissing never means that a session was removed.
	ErrMissing = errors.New("the database has no such row")
	// ErrExists reports that another session, agent, or file has the name.
	ErrExists = errors.New("the name is in use")
	// ErrDenied reports that the role of this host has no right to do this.
	ErrDenied = errors.New("the role of this host has no right to do this")
	// ErrMoved reports that a fence reached another server than the read before it.
	ErrMoved = errors.New("the connection reached another server; read again")
)

// Server identifies one run of one database server. A fence proves only reads of the same Server.
type Server string

// Append is the argument of Store.Append: one entry after the position Prev.
type Append struct {
	Journal ID
	Prev    Position // before the entry; Prev.I is the entry's number
	Entry   Entry
	Head    Hash        // chain after the entry
	Sizes   [2]int64    // lengths of messages and events after the entry, for stat without a copy
	Removes bool        // the entry ends with a row of kind End; its session is removed with it
	Creates *NewSession // a child that is created in the same transaction; nil for none
}

// Page is a part of a journal as one server shows it.
type Page struct {
	Server  Server
	Root    ID     // journal in which the chain starts: the first base, or the journal itself
	Own     uint64 // number of the first entry that the journal has itself; a base has those before it
	Next    uint64 // number of the next entry of the journal
	Head    Hash   // chain before the entry Next
	Removed bool
	Entries []Entry // consecutive from the requested number; fewer than asked for if they are large
}

// Head is the state of one journal in the result of Store.Heads.
type Head struct {
	Next    uint64
	Chain   Hash
	Removed bool
}

// Journals is the part of a Store that follower needs. All methods may be called at the same time.
//
// A method returns when ctx ends. The statement then may still run: a method that changes something
// returns ErrUnknown, unless it knows that nothing was sent. An implementation never sends a
// cancel request, because a canceled commit becomes visible before other servers have it.
type Journals interface {
	// Append stores one entry if the journal is at Prev and its session is not removed. A nil error
	// means that the entry survives a fail-over. A repeated call waits for an earlier one that
	// still runs. Append returns ErrConflict if the journal is elsewhere, removed, or missing, and the
	// errors of CreateSession for a child.
	Append(ctx context.Context, a Append) error

	// AppendLocked locks the journal against other hosts, passes build the entries from number from
	// on, stores the result, and unlocks it. The entries that build gets are not confirmed before
	// AppendLocked returns nil. If build returns an error, AppendLocked returns that error, and
	// stores nothing. Build runs for at most one second and must not call the Store. If the journal
	// has more entries than one page, AppendLocked returns ErrConflict without a call of build.
	AppendLocked(ctx context.Context, journal ID, from uint64, build func(Page) (Append, error)) error

	// Read returns entries from number from on. They are not confirmed: a fail-over may lose them
	// until Fence with the Server of the page returned nil. It returns ErrMissing, with the Server
	// in the page, if the database lacks the journal or the entry from.
	Read(ctx context.Context, journal ID, from uint64) (Page, error)

	// Fence writes a row of this host synchronously on the given server. If it returns nil,
	// everything that this host read from that server before the call survives a fail-over. It
	// returns ErrMoved if it reached another server.
	Fence(ctx context.Context, s Server) error

	// Heads returns the state of several journals. The result lacks journals that the database
	// lacks. It is not confirmed, as with Read.
	Heads(ctx context.Context, journals []ID) (map[ID]Head, Server, error)

	// Beat records synchronously that this host is alive, and returns the server that it reached.
	Beat(ctx context.Context) (Server, error)
}

// Objects are contents that are too large for an entry, by owner and hash.
type Objects interface {
	// PutObject stores content by its hash. A repeated call succeeds.
	PutObject(ctx context.Context, owner string, content []byte) (Hash, error)
	// Object returns a stored content of the given size. It returns ErrMissing if the database
	// lacks a piece, and ErrDamaged if the content has another hash.
	Object(ctx context.Context, owner string, sum Hash, size int64) ([]byte, error)
}

// Store is a shared store. The role of the host limits it to some owners; ErrDenied is the error of
// calls for others, except that a call which could reveal existence returns ErrMissing.
type Store interface {
	Journals
	Objects

	// Incarnation returns the id of this database. A restore and a staging clone get a new one.
	Incarnation(ctx context.Context) (ID, error)

	// CreateAgent creates an agent of an owner. It returns ErrExists if another agent has the name.
	// A repeated call with the same id succeeds.
	CreateAgent(ctx context.Context, a Agent) error
	// CreateSession creates a session. It returns ErrExists if another session has the name, and
	// ErrMissing without the agent or the base. A repeated call with the same journal succeeds.
	CreateSession(ctx context.Context, s NewSession) error
	// RenameAgent and RenameSession change a name. They return ErrExists if the new name is in use,
	// and ErrMissing if the agent or session is missing or removed. A repeated call succeeds.
	RenameAgent(ctx context.Context, id ID, name string) error
	RenameSession(ctx context.Context, journal ID, agent ID, name string) error
	// RemoveAgent removes an agent. It returns ErrExists if the agent has sessions.
	RemoveAgent(ctx context.Context, id ID) error

	// Names returns the agents, sessions, and files of an owner that changed after a version,
	// including removed ones.
	Names(ctx context.Context, owner string, after int64) (Names, error)
	// PutFile stores a file if the version of the existing one is Expect, and returns the new
	// version. A removed file counts as version 0. It returns ErrConflict otherwise.
	PutFile(ctx context.Context, owner string, f File, expect int64) (int64, error)
	// RemoveFile removes a file if its version is expect. It returns ErrConflict otherwise.
	RemoveFile(ctx context.Context, owner, path string, expect int64) (int64, error)
}

// PieceBytes is the size of all pieces of an object except the last one.
const PieceBytes = 4 << 20

// Agent is a named group of sessions of an owner ("u1000" for a user, "sNAME" for a space).
type Agent struct {
	ID      ID
	Owner   string
	Name    string
	Removed bool
	Version int64 // of the owner, at the last change
}

// NewSession is the argument of CreateSession.
type NewSession struct {
	Journal ID
	ID      ID // of the session, which a withdrawn session keeps when it returns
	Agent   ID
	Name    string
	Base    ID     // base journal of a fork; zero for none
	BaseI   uint64 // entries of the base that belong to the fork
	Head    Hash   // chain at BaseI, or that of Start(Journal)
	Sizes   [2]int64
}

// Session is the row of a session in the result of Names.
type Session struct {
	Journal, ID, Agent ID
	Name               string
	Sizes              [2]int64
	Removed            bool
	Version            int64
}

// File is an ordinary file of an owner. Its content is inline; larger content is an object with the
// hash SHA256 and a nil Content.
type File struct {
	Path     string
	Version  int64
	Mode     uint32
	Modified time.Time // microseconds
	UID, GID uint32
	Xattrs   []byte
	Target   string // of a symbolic link
	SHA256   Hash
	Content  []byte
	Removed  bool
}

// Names are the changes of an owner up to Version.
type Names struct {
	Version  int64
	Agents   []Agent
	Sessions []Session
	Files    []File
}
