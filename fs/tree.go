package fs

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/pack/build"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
)

// tree is what all nodes of one mount share.
type tree struct {
	// What it stands on.
	store   *session.Store
	builder *build.Builder
	search  *search.Engine
	log     *slog.Logger
	raw     *rawFS
	gc      *Collector
	memory  *memory.Limit // nil: none

	// What never changes while it is mounted.
	rootFd  int    // the store's directory, O_PATH
	rootDev uint64 // the device it lies on
	asRoot  bool   // serves every uid and gives each his own files
	uid     uint32 // of the daemon
	gid     uint32
	conn    uint64 // names this connection to the kernel, part of every idempotency key
	started time.Time

	// moves is held for reading while a rename runs, from the disk to
	// go-fuse's tree: whoever does not find a node where the tree says it is
	// waits for them and looks again.
	moves sync.RWMutex

	shelf shelf // the builds that were looked up last

	answers answers // to the queries that were searched for last

	recent sync.Mutex // held while a session's recent queries are changed

	policies sync.Mutex // held from the look at what a gc.policy says of history until it is changed

	shortAt   atomic.Int64  // unix ns, when the log told last that descriptors ran out
	blobsMade atomic.Uint64 // blobs that users began to make, from 1
	syncRound atomic.Uint64 // counts the calls of syncAll, from 1

	mu      sync.Mutex
	written map[*session.Log]struct{} // guarded by mu: logs with appends since the last sync
}

// waitForRenames returns when those that were between the disk and go-fuse's
// tree are done. A rename must not call it.
func (t *tree) waitForRenames() {
	t.moves.Lock()
	//lint:ignore SA2001 to have waited is all that is wanted
	t.moves.Unlock()
}

// How long the kernel may keep an answer. Names and attributes of what can
// change without the kernel's doing get none.
const (
	plainTimeout = time.Second    // ordinary files change only through the mount
	fixedTimeout = time.Second    // the names that a session always has
	foreverValid = 24 * time.Hour // attributes of content that never changes
)

// hidden says whether name is one the daemon keeps for itself in the store.
func hidden(name string) bool { return strings.HasPrefix(name, ctxabi.InternalDir) }

// inSpace says whether the store path rel lies in a shared space.
func inSpace(rel string) bool { return strings.HasPrefix(rel, ctxabi.SharedDir+"/") }

// storePath is where a node's file lies in the store: under the same name as
// in the mount. A node that lost its name has none, and gets one that does
// not exist.
func storePath(n *gofs.Inode) string { return n.Path(n.Root()) }
