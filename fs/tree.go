package fs

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc/world"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// tree is what all nodes of one mount share.
type tree struct {
	// What it uses.
	store   *session.Store
	builder *builder.Builder
	search  *search.Engine
	log     *slog.Logger
	raw     *rawFS
	gc      *world.Collector
	memory  *memory.Limit // nil: none

	// What never changes while it is mounted.
	rootFd  int    // the store's directory, O_PATH
	rootDev uint64 // the device it lies on
	asRoot  bool   // serves every uid; new files belong to who makes them
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

	policies sync.Mutex // held from the check of what a gc.policy does to history until it is committed

	shortAt   atomic.Int64  // unix ns, of the last warning that descriptors ran out
	blobsMade atomic.Uint64 // blobs that users began to make, from 1
	syncRound atomic.Uint64 // counts the calls of syncAll, from 1

	mu      sync.Mutex
	written map[*log.Log]struct{} // guarded by mu: logs with appends since the last sync
}

// waitForRenames waits for the renames that are between the disk and go-fuse's tree. A rename must
// not call it.
func (t *tree) waitForRenames() {
	t.moves.Lock()
	//lint:ignore SA2001 to have waited is all that is wanted
	t.moves.Unlock()
}

// How long the kernel may keep an answer. Names and attributes of what can
// change without the kernel's doing get none.
const (
	plainValid   = time.Second    // ordinary files change only through the mount
	fixedTimeout = time.Second    // the names that a session always has
	foreverValid = 24 * time.Hour // attributes of content that never changes
)

// hidden reports whether the daemon has the name for itself in the store.
func hidden(name string) bool { return strings.HasPrefix(name, ctxabi.InternalDir) }

// inSpace reports whether the store path rel lies in a shared space.
func inSpace(rel string) bool { return strings.HasPrefix(rel, ctxabi.SharedDir+"/") }

// storePath returns the path of a node's file in the store, which is that in the mount. For a node
// that lost its name it returns a path that does not exist.
func storePath(n *gofs.Inode) string { return n.Path(n.Root()) }

// go-fuse asks a node or a handle at run time which interfaces it has, and ignores a method with a
// wrong signature. So what each type has to be is written down here.
type (
	changeable interface {
		gofs.NodeSetattrer
		gofs.NodeSetxattrer
		gofs.NodeRemovexattrer
	}
	directoryNode interface {
		changeable
		gofs.NodeGetattrer
		gofs.NodeLookuper
		gofs.NodeReaddirer
		gofs.NodeCreater
		gofs.NodeMkdirer
		gofs.NodeMknoder
		gofs.NodeSymlinker
		gofs.NodeLinker
		gofs.NodeUnlinker // for a missing Unlink or Rmdir go-fuse answers success
		gofs.NodeRmdirer
		gofs.NodeRenamer
	}
	fileNode interface {
		changeable
		gofs.NodeGetattrer
		gofs.NodeOpener
	}
	factsNode interface {
		fileNode
		gofs.NodeGetxattrer
		gofs.NodeListxattrer
	}
	writeHandle interface {
		gofs.FileReader
		gofs.FileWriter
		gofs.FileFlusher
		gofs.FileFsyncer
		gofs.FileReleaser
	}
)

var (
	_ = []directoryNode{(*rootDir)(nil), (*usersDir)(nil), (*spacesDir)(nil), (*realmDir)(nil), (*agentsDir)(nil),
		(*agentDir)(nil), (*sessionsDir)(nil), (*sessionDir)(nil), (*childrenDir)(nil), (*blobDir)(nil),
		(*ownerSearchDir)(nil), (*projectsDir)(nil), (*projectDir)(nil), (*fixedDir)(nil), (*plain)(nil)}
	_ = []factsNode{(*view)(nil), (*controlFile)(nil), (*logFile)(nil), (*contentFile)(nil), (*plain)(nil)}
	_ = []fileNode{(*trustFile)(nil)}
	_ = []writeHandle{(*controlHandle)(nil), (*logHandle)(nil), (*trustHandle)(nil), (*blobHandle)(nil)}
)
