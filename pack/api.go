package pack

import (
	"context"
	"time"

	"github.com/ctxfs/ctxfs/session"
)

// RendererVersion is part of every pack's id: raise it when the same inputs give other bytes.
const RendererVersion = 1

// WorkspaceFile is one file of a workspace as its owner sees it.
type WorkspaceFile struct {
	Path   string // as asked for
	Exists bool
	Stale  bool // the answer did not come in time: this is the last known content
	Data   []byte
	Reason string // why it was not used (not readable, not a regular file, too large), else ""
}

// Workspace reads files outside the store as the owner of a session. The
// implementation is internal/runner, a process of its own.
type Workspace interface {
	// ReadFiles reads paths as uid with that user's groups, at most max bytes
	// each, and waits at most wait for all of them. It answers from its cache
	// when a file's identity, size and times did not change.
	ReadFiles(ctx context.Context, uid, gid uint32, paths []string, max int64, wait time.Duration) ([]WorkspaceFile, error)
}

// Config is what a mount decides for all its packs.
type Config struct {
	Budget    int                 // tokens; used when neither the session nor the recipe says; 0: no limit
	Encoding  string              // an encoding or a model name; "": o200k_base
	Workspace Workspace           // nil: no workspace files
	Wait      time.Duration       // how long a read may wait for workspace files; 0: 500 ms
	MapPath   func(string) string // translates a cwd as a container calls it; nil: as it is
}

// Build is one compiled pack. It never changes.
type Build struct {
	ID       string // "sha256-<hex>" of the inputs
	Markdown []byte // pack.md
	JSON     []byte // pack.json
	Report   []byte // pack.report.md
	Tokens   int    // exact, of Markdown
	Made     time.Time
}

// Builder makes and remembers packs. It is safe for concurrent use; one
// session is compiled once at a time.
type Builder struct{}

// NewBuilder fails on an unknown encoding.
func NewBuilder(c Config) (*Builder, error) { panic("not built") }

// Current gives the session's pack: the last build while nothing it was made from changed, else a new one.
func (b *Builder) Current(ctx context.Context, x *session.Session) (*Build, error) {
	panic("not built")
}

// Drop forgets the session's build; the next Current compiles anew.
func (b *Builder) Drop(x *session.Session) { panic("not built") }

// Forget lets go of all memory kept for the session id.
func (b *Builder) Forget(id string) { panic("not built") }

// CheckFits says whether data, written as the session file name (context/budget or a pin, relative to the session),
// leaves the required parts of a pack within its limit; if not, ctxabi.ErrOverBudget with the numbers.
func (b *Builder) CheckFits(x *session.Session, name string, data []byte) error { panic("not built") }
