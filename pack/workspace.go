package pack

import (
	"context"
	"time"
)

// RendererVersion is part of every pack's id: raise it when the same inputs give other bytes.
const RendererVersion = 5

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
