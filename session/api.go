package session

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Options say how a store is opened. The zero value is right for a daemon.
type Options struct {
	VFS       VFS              // nil: OS
	Committer Committer        // nil: the local one
	ReadOnly  bool             // no lock, nothing is written: a look beside a running daemon
	Now       func() time.Time // nil: time.Now
	Logger    *slog.Logger     // nil: discard
}

// Owner is to whom the files of a session belong in the store. For a home:
// uid and gid of the user, Mode 0700. For a shared space: the session maker's
// uid, the space's gid, Mode 02770.
type Owner struct {
	UID, GID uint32
	Mode     uint32
}

// Writer is who wrote a record.
type Writer struct{ UID, PID uint32 }

// Key identifies one request, so that a request sent twice is committed once.
type Key struct{ Conn, Unique uint64 }

// Batch is what one commit appends: whole records, each with its newline.
type Batch struct {
	Data   []byte
	Writer Writer
	Key    Key
}

// Committer is the one commit point. Commit makes batch durable against the
// death of the process at position expected of log and returns the log's new
// length. It may block. It reports ctxabi.ErrConflict when the log is not at
// expected, and returns the position without error when key was committed
// before. The local one writes the arrival row, then the data.
type Committer interface {
	Commit(ctx context.Context, log *Log, batch Batch, expected int64) (position int64, err error)
}

// Entry is what the index keeps of one record.
type Entry struct {
	Offset int64       // of the record's first byte
	Len    int32       // bytes without the newline
	Weight int32       // ctxabi.Weight of what a pack would show of it in full
	Tokens int32       // exact count of the full rendering, or 0 when not counted yet
	CallOf int32       // for a tool result: the line of the call it answers, else 0
	Events int32       // number of events that had arrived before it (messages only)
	Role   ctxabi.Role // RoleUnknown for a record that is damaged
	Flags  EntryFlags
}

// EntryFlags are facts about a record.
type EntryFlags uint8

// The flags.
const (
	HasCalls    EntryFlags = 1 << iota // an assistant record that calls tools
	HasResults                         // carries tool results as parts (Anthropic's form)
	HasImages                          // carries image parts
	Damaged                            // does not pass the check: served, reported, carried as text
	NewlineFree                        // the last record of a log still without its newline
)

// ErrorRow is one line of context/errors.jsonl.
type ErrorRow struct {
	Time   time.Time `json:"time"`
	UID    uint32    `json:"uid"`
	Op     string    `json:"op"`
	Path   string    `json:"path"`
	Errno  string    `json:"errno"` // "EINVAL", ...
	Reason string    `json:"reason"`
	Count  int       `json:"count,omitempty"` // repeats of the same row, folded by the rate limit
}

// What follows is the surface other packages build on.
type (
	storeAPI interface {
		Dir() string
		ID() string
		Sessions() iter.Seq[ctxabi.Ref]
		Create(ref ctxabi.Ref, o Owner) (*Session, error)
		Session(ref ctxabi.Ref) (*Session, error)
		Close() error
	}
	sessionAPI interface {
		ID() string
		Ref() ctxabi.Ref
		Dir() string
		Messages() *Log
		Events() *Log
		Control(name string) ([]byte, error)
		SetControl(name string, data []byte) error
		Report(row ErrorRow)
		Errors() []byte
		Created() time.Time
		Updated() time.Time
		Changes() uint64
	}
	logAPI interface {
		Name() string
		Len() int64
		Lines() (int, error)
		ModTime() time.Time
		Head() (string, error)
		ReadAt(p []byte, off int64) (int, error)
		Index() (*Index, error)
		Append(ctx context.Context, b Batch) (position int64, err error)
		Advance(position int64)
		Sync(ctx context.Context) error
		NewStage(w Writer) *Stage
	}
)

var (
	_ storeAPI    = (*Store)(nil)
	_ sessionAPI  = (*Session)(nil)
	_ logAPI      = (*Log)(nil)
	_ io.ReaderAt = (*Log)(nil)
)

// Store is an open store.
type Store struct{}

// Init makes a new, empty store in dir, which may exist if it is empty.
func Init(dir string, o Options) error { panic("not built") }

// Open opens the store in dir, making it when it does not exist. It fails with
// ctxabi.ErrLocked while a daemon serves it and with ctxabi.ErrVersion when
// its format is newer than this program.
func Open(dir string, o Options) (*Store, error) { panic("not built") }

func (s *Store) Dir() string                                      { panic("not built") }
func (s *Store) ID() string                                       { panic("not built") }
func (s *Store) Sessions() iter.Seq[ctxabi.Ref]                   { panic("not built") }
func (s *Store) Create(ref ctxabi.Ref, o Owner) (*Session, error) { panic("not built") }
func (s *Store) Session(ref ctxabi.Ref) (*Session, error)         { panic("not built") }
func (s *Store) Close() error                                     { panic("not built") }

// Session is one session of an open store. It is cheap: its files are opened
// when they are first used and closed when they have been idle for a while.
type Session struct{}

func (x *Session) ID() string      { panic("not built") } // 32 hex digits, for life
func (x *Session) Ref() ctxabi.Ref { panic("not built") }
func (x *Session) Dir() string     { panic("not built") } // absolute, in the store
func (x *Session) Messages() *Log  { panic("not built") }
func (x *Session) Events() *Log    { panic("not built") }

// Control reads a file of the session that is not a log, whole; fs.ErrNotExist when absent.
func (x *Session) Control(name string) ([]byte, error) { panic("not built") }

// SetControl checks data by the rules of the file called name (state, cwd,
// meta.json, budget, gc.policy, facts.jsonl, ...) and replaces it atomically.
func (x *Session) SetControl(name string, data []byte) error { panic("not built") }

// Report adds a row to context/errors.jsonl; the last 100 are kept.
func (x *Session) Report(row ErrorRow) { panic("not built") }
func (x *Session) Errors() []byte      { panic("not built") } // context/errors.jsonl as it stands
func (x *Session) Created() time.Time  { panic("not built") }
func (x *Session) Updated() time.Time  { panic("not built") } // last append or change of a control file

// Changes counts every change of the session's own files made through this
// package (appends included); equal values mean nothing changed.
func (x *Session) Changes() uint64 { panic("not built") }

// Touch tells the session that a file of it was changed by other means (through the mount, by fsnotify).
func (x *Session) Touch() { panic("not built") }

// CheckControl applies the rules of the session file called name (relative to the session) to data.
func CheckControl(name string, data []byte) error { panic("not built") }

// Log is messages.jsonl or events.jsonl of one session.
type Log struct{}

func (l *Log) Name() string          { panic("not built") }
func (l *Log) Len() int64            { panic("not built") } // committed bytes: the only truth about EOF
func (l *Log) Lines() (int, error)   { panic("not built") }
func (l *Log) ModTime() time.Time    { panic("not built") }
func (l *Log) Head() (string, error) { panic("not built") } // hex of the last chain value

// ReadAt reads committed bytes; io.EOF at Len.
func (l *Log) ReadAt(p []byte, off int64) (int, error) { panic("not built") }

// Append checks the records of b and commits them all or none.
func (l *Log) Append(ctx context.Context, b Batch) (int64, error) { panic("not built") }

// Advance publishes position as the new length, whoever committed it.
func (l *Log) Advance(position int64) { panic("not built") }

// Sync makes all that is committed survive the loss of power.
func (l *Log) Sync(ctx context.Context) error { panic("not built") }

// Index brings the index up to Len and gives a snapshot of it that never changes.
func (l *Log) Index() (*Index, error) { panic("not built") }

// SetTokens remembers the exact count of record line (1-based) for encoding; it is persisted with the index.
func (l *Log) SetTokens(encoding string, line int, tokens int32) { panic("not built") }

// Index is a snapshot of a log's records.
type Index struct{}

func (ix *Index) Len() int          { panic("not built") } // number of records
func (ix *Index) At(line int) Entry { panic("not built") } // 1-based

// Record reads the bytes of a record, without its newline.
func (ix *Index) Record(line int) ([]byte, error) { panic("not built") }

// Stage holds what one open handle has written and not yet committed.
type Stage struct{}

// NewStage gives an empty stage for a handle opened by w.
func (l *Log) NewStage(w Writer) *Stage { panic("not built") }

// Write takes the bytes of one request. append says that the handle has
// O_APPEND now (off is ignored); otherwise off must be the log's length plus
// what this handle has staged, else ErrAppendOnly. It commits whole records and stages the rest. n < len(p) comes with an
// error, and n counts only bytes of records committed before the refused one;
// n == len(p) otherwise, also when p only continues a staged record.
func (s *Stage) Write(ctx context.Context, p []byte, off int64, append bool, key Key) (n int, err error) {
	panic("not built")
}

// Flush commits a complete record that has no newline yet; an incomplete one gives ErrMalformed and stays.
func (s *Stage) Flush(ctx context.Context, key Key) error { panic("not built") }

// Size is the number of staged bytes.
func (s *Stage) Size() int64 { panic("not built") }

// Release drops what is incomplete, with a row in errors.jsonl, and frees the stage.
func (s *Stage) Release() { panic("not built") }
