package fs

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"golang.org/x/sys/unix"
)

// The inode numbers of go-fuse are also the node ids that the kernel knows (ExternalNodeID). They
// depend only on what a file is: the same file has the same number in the next daemon. Programs see
// the numbers of [numbers]. The top four bits are the class, which decides how a number can be
// turned back into a node:
//
//	0    the root (1)
//	1    a fixed directory or file of the tree, hash of its path
//	2    a file or directory of a session, hash of (session id, role)
//	3    content that never changes, hash of (session id, role, content)
//	8    an ordinary file: its inode number on the disk, its device and the time of its birth, mixed
const (
	classTree    = 1
	classSession = 2
	classContent = 3
	plainBit     = 1 << 63
	classShift   = 60
)

func hashIno(class uint64, parts ...string) uint64 {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	sum := h.Sum(nil)
	return class<<classShift | binary.LittleEndian.Uint64(sum)&(1<<classShift-1)
}

// treeAttr returns the identity of a fixed part of the tree, by its path.
func treeAttr(mode uint32, path string) gofs.StableAttr {
	return gofs.StableAttr{Mode: mode, Ino: hashIno(classTree, path), Gen: 1}
}

// roleAttr returns the identity of a session's own file. Its role outlives every change of content,
// and the session's id every change of its path.
func roleAttr(mode uint32, sessionID, role string) gofs.StableAttr {
	return gofs.StableAttr{Mode: mode, Ino: hashIno(classSession, sessionID, role), Gen: 1}
}

// contentAttr returns the identity of content that never changes.
func contentAttr(sessionID, role, content string) gofs.StableAttr {
	return gofs.StableAttr{Mode: syscall.S_IFREG, Ino: hashIno(classContent, sessionID, role, content), Gen: 1}
}

// plainAttr returns the identity of an ordinary file. The birth time distinguishes two files that
// had the same inode number on the disk one after the other: the kernel may still hold the first
// when the second is there, and one number for both would break the first's open handles.
func plainAttr(x *unix.Statx_t, rootDev uint64) gofs.StableAttr {
	var key [24]byte
	binary.LittleEndian.PutUint64(key[0:], x.Ino)
	binary.LittleEndian.PutUint64(key[8:], unix.Mkdev(x.Dev_major, x.Dev_minor)^rootDev)
	if x.Mask&unix.STATX_BTIME != 0 {
		binary.LittleEndian.PutUint64(key[16:], uint64(x.Btime.Sec)*1e9+uint64(x.Btime.Nsec))
	}
	sum := sha256.Sum256(key[:])
	return gofs.StableAttr{Mode: uint32(x.Mode) & syscall.S_IFMT, Ino: plainBit | binary.LittleEndian.Uint64(sum[:])&(1<<classShift-1), Gen: 1}
}

// The kernel knows a node by its id, which has 64 bits (ids.go). What programs see is a number that
// JavaScript can hold and that no signed integer makes negative: below 2^53. It follows from the
// id. Two files that would have the same number would look like one with two names, so that of two
// nodes which the kernel has at the same time the second gets another; a listing shows the first
// choice all the same. No file is ever found by its number.
const largestNumber = 1<<53 - 1

// numberOf returns the number of a node id.
func numberOf(node uint64) uint64 { return (node ^ node>>53) & largestNumber }

// numbers records which numbers are taken. Its zero value is ready; it is safe for concurrent use.
type numbers struct {
	fold func(node uint64) uint64 // nil: numberOf

	mu    sync.Mutex
	taken map[uint64]taker  // by number
	moved map[uint64]uint64 // node → number, where another node had its own first
}

type taker struct{ node, lookups uint64 }

// of returns the number that a node is shown with.
func (n *numbers) of(node uint64) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.find(node)
}

// find is of for a caller that holds mu.
func (n *numbers) find(node uint64) uint64 {
	if number, ok := n.moved[node]; ok {
		return number
	}
	if n.fold != nil {
		return n.fold(node)
	}
	return numberOf(node)
}

// take returns the number of a node that the kernel is handed once more, and counts that.
func (n *numbers) take(node uint64) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	first := n.find(node)
	number := first
	for t, is := n.taken[number]; number < 2 || is && t.node != node; t, is = n.taken[number] { // 1 is the root's
		number = (number + 0x9E3779B97F4A7C15) & largestNumber
	}
	if n.taken == nil {
		n.taken, n.moved = map[uint64]taker{}, map[uint64]uint64{}
	}
	if number != first {
		n.moved[node] = number
	}
	n.taken[number] = taker{node, n.taken[number].lookups + 1}
	return number
}

// forget takes back so many look-ups of a node.
func (n *numbers) forget(node, lookups uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	number := n.find(node)
	t, is := n.taken[number]
	switch {
	case !is || t.node != node:
	case t.lookups > lookups:
		t.lookups -= lookups
		n.taken[number] = t
	default:
		delete(n.taken, number)
		delete(n.moved, node)
	}
}
