package runner

import (
	"crypto/sha256"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxHashed = 8 << 20 // bytes up to which a file counts by its content
	maxSums   = 200_000 // files whose content a reader remembers
)

// sums remembers the content of the files that this process has looked at.
var sums = contentSums{known: map[inode]contentSum{}}

// inode identifies a file while it exists.
type inode struct{ dev, ino uint64 }

// contentSum is the hash of a file's content as long as its identity is this one.
type contentSum struct {
	id  identity
	sum [sha256.Size]byte
}

// contentSums hashes files and remembers the hashes of those that have settled. It is safe for concurrent use.
type contentSums struct {
	mu    sync.Mutex
	known map[inode]contentSum // at most maxSums; guarded by mu
}

// row returns what a file counts by: the hash of its content or, where it is no regular file, above maxHashed, not
// readable or on a FUSE filesystem, its identity. name is relative to the directory dir; st is what it is or, for a symlink,
// what it leads to.
func (c *contentSums) row(dir int, name string, st *unix.Stat_t) string {
	id := identity{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size <= maxHashed {
		if sum, ok := c.of(dir, name, id); ok {
			return "content " + string(sum[:])
		}
	}
	return "identity " + string(id.appendTo(nil))
}

// of returns the hash of the file's content, which it reads unless a file of that identity is known.
func (c *contentSums) of(dir int, name string, id identity) (sum [sha256.Size]byte, ok bool) {
	key := inode{id.Dev, id.Ino}
	c.mu.Lock()
	was, known := c.known[key]
	c.mu.Unlock()
	if known && was.id == id {
		return was.sum, true
	}
	look, err := openAt(dir, name, unix.O_PATH|unix.O_CLOEXEC)
	if err != nil {
		return sum, false
	}
	defer unix.Close(look)
	// A file of a session's mount may be one that is made when it is opened, by whoever waits for this look.
	var where unix.Statfs_t
	if err := unix.Fstatfs(look, &where); err != nil || where.Type == unix.FUSE_SUPER_MAGIC {
		return sum, false
	}
	before, a := identify(look)
	if a.Reason != "" {
		return sum, false
	}
	data, err := readAll(look, maxHashed)
	if err != nil || len(data) > maxHashed {
		return sum, false
	}
	sum = sha256.Sum256(data)
	after, _ := identify(look)
	if before == after && settled(after) {
		c.mu.Lock()
		if len(c.known) >= maxSums {
			clear(c.known)
		}
		c.known[inode{after.Dev, after.Ino}] = contentSum{after, sum}
		c.mu.Unlock()
	}
	return sum, true
}

// settled reports whether the file's next change will alter its identity.
func settled(id identity) bool {
	return time.Since(time.Unix(0, id.Ctime)) > settleTime && time.Since(time.Unix(0, id.Mtime)) > settleTime
}
