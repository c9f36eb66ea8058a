package runner

import (
	"context"
	"time"

	"github.com/ctxfs/ctxfs/pack"
)

// Client talks to a runner process. It implements pack.Workspace.
type Client struct{}

var _ pack.Workspace = (*Client)(nil)

// Start starts the runner process from the running binary (hidden verb "runner"). Call it
// before the mount is made.
func Start(ctx context.Context) (*Client, error) { panic("not built") }

// ReadFiles implements pack.Workspace.
func (c *Client) ReadFiles(ctx context.Context, uid, gid uint32, paths []string, max int64, wait time.Duration) ([]pack.WorkspaceFile, error) {
	panic("not built")
}

// Close ends the runner process and waits for it.
func (c *Client) Close() error { panic("not built") }

// Main is the runner process itself: it serves requests on the inherited socket (descriptor 3) until it closes.
func Main() error { panic("not built") }
