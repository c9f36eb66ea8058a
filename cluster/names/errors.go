package names

import (
	"errors"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Causes of refusals that ctxabi has no kind for. A refusal that has one of them is an [ctxabi.Error] of the
// kind that stands behind it.
var (
	ErrNotEmpty = errors.New("the directory is not empty")        // ctxabi.ErrExists
	ErrNotDir   = errors.New("not a directory")                   // ctxabi.ErrNotFound
	ErrIsDir    = errors.New("a directory")                       // ctxabi.ErrProtected
	ErrCrosses  = errors.New("one of the names is of one host")   // ctxabi.ErrProtected: copy it instead
	ErrPerHost  = errors.New("the file is of one host")           // ctxabi.ErrTooLarge, or ctxabi.ErrProtected
	ErrDiverged = errors.New("two hosts have read other entries") // ctxabi.ErrIO
)

// refuse returns a refusal of a kind.
func refuse(op, path string, kind error, format string, args ...any) *ctxabi.Error {
	return ctxabi.E(op, path, kind, format, args...)
}

// refuseFor returns a refusal that has a cause.
func refuseFor(cause error, op, path string, kind error, format string, args ...any) *ctxabi.Error {
	e := ctxabi.E(op, path, kind, format, args...)
	e.Err = cause
	return e
}
