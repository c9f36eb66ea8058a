package ctxabi

import (
	"errors"
	"fmt"
)

// The kinds of failure a user of the filesystem can meet. Each stands for one
// errno, given in parentheses; package fs does the mapping and nothing else
// does. Wrap them with [E] or fmt.Errorf("...: %w", ...).
var (
	ErrAppendOnly = errors.New("history is append-only")            // EPERM
	ErrMalformed  = errors.New("malformed")                         // EINVAL
	ErrTooLarge   = errors.New("record too large")                  // EMSGSIZE
	ErrOverBudget = errors.New("cannot fit the budget")             // EFBIG
	ErrReadOnly   = errors.New("derived, read-only")                // EACCES
	ErrDenied     = errors.New("not yours")                         // EACCES
	ErrProtected  = errors.New("protected")                         // EPERM
	ErrNoSpace    = errors.New("no space left")                     // ENOSPC
	ErrQuota      = errors.New("too much staged by this user")      // EDQUOT
	ErrNoFiles    = errors.New("too many files are open")           // ENFILE
	ErrNoMemory   = errors.New("not enough memory")                 // ENOMEM
	ErrIO         = errors.New("disk failed or data corrupt")       // EIO
	ErrNoData     = errors.New("a required source is missing")      // ENODATA
	ErrNotFound   = errors.New("not found")                         // ENOENT
	ErrExists     = errors.New("exists already")                    // EEXIST
	ErrConflict   = errors.New("the log has changed")               // EAGAIN
	ErrStale      = errors.New("a later one is in use")             // ESTALE
	ErrLocked     = errors.New("store is in use by another daemon") // EBUSY
	ErrVersion    = errors.New("store has another format version")  // EINVAL
)

// ErrnoName is the name of the errno that stands for the kind of err, for the
// rows of errors.jsonl; "EIO" for an error of no kind, "" for nil.
func ErrnoName(err error) string {
	if err == nil {
		return ""
	}
	kind := KindOf(err)
	for _, k := range errnoNames {
		if errors.Is(kind, k.kind) {
			return k.name
		}
	}
	return "EIO"
}

// KindOf returns the kind of the outermost [Error] in err, whatever its cause is;
// err itself where there is none.
func KindOf(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return err
}

var errnoNames = []struct {
	kind error
	name string
}{
	{ErrAppendOnly, "EPERM"}, {ErrMalformed, "EINVAL"}, {ErrTooLarge, "EMSGSIZE"}, {ErrOverBudget, "EFBIG"},
	{ErrReadOnly, "EACCES"}, {ErrDenied, "EACCES"}, {ErrProtected, "EPERM"}, {ErrNoSpace, "ENOSPC"}, {ErrQuota, "EDQUOT"}, {ErrNoFiles, "ENFILE"}, {ErrNoMemory, "ENOMEM"},
	{ErrIO, "EIO"}, {ErrNoData, "ENODATA"}, {ErrNotFound, "ENOENT"}, {ErrExists, "EEXIST"}, {ErrConflict, "EAGAIN"},
	{ErrStale, "ESTALE"}, {ErrLocked, "EBUSY"}, {ErrVersion, "EINVAL"},
}

// Error is one refusal or failure: what was tried, on which file, of which
// kind, and what to do about it.
type Error struct {
	Op   string // what was tried: "append", "truncate", "set budget"
	Path string // the file's name relative to its session, or ""
	Kind error  // one of the sentinels above
	Why  string // one sentence for a person: what was wrong and what to do
	Err  error  // the cause, or nil
}

// E makes an *Error whose Why is formatted from format and args.
func E(op, path string, kind error, format string, args ...any) *Error {
	return &Error{Op: op, Path: path, Kind: kind, Why: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	s := e.Op
	if e.Path != "" {
		s += " " + e.Path
	}
	s += ": " + e.Kind.Error()
	if e.Why != "" {
		s += ": " + e.Why
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns both the kind and the cause, so that errors.Is finds either.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// Reason returns what a person reads of err: the sentence of an [Error] without a cause, to which nothing was added, else err.Error().
func Reason(err error) string {
	if e, ok := err.(*Error); ok && e.Why != "" && e.Err == nil {
		return e.Why
	}
	return err.Error()
}
