package fs

import (
	"crypto/sha256"
	"encoding/binary"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"golang.org/x/sys/unix"
)

// The numbers of go-fuse's inodes are also the node ids that the kernel knows (ExternalNodeID), so
// they say nothing but what a file is: the same file has the same number in
// the next daemon. Programs see others, see numbers.go. The top four bits tell the class, which decides how a
// number can be turned back into a node:
//
//	0    the root (1)
//	1    a fixed directory or file of the tree, hash of its path
//	2    a file or directory of a session, hash of (session id, role)
//	3    content that never changes, hash of (session id, role, content)
//	8    an ordinary file: the backing inode number, its device and the time of its birth, mixed
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

// treeAttr is the identity of a fixed part of the tree, by its path.
func treeAttr(mode uint32, path string) gofs.StableAttr {
	return gofs.StableAttr{Mode: mode, Ino: hashIno(classTree, path), Gen: 1}
}

// roleAttr is the identity of a session's own file: its role outlives every
// change of content, and the session's id every change of place.
func roleAttr(mode uint32, sessionID, role string) gofs.StableAttr {
	return gofs.StableAttr{Mode: mode, Ino: hashIno(classSession, sessionID, role), Gen: 1}
}

// contentAttr is the identity of content that never changes.
func contentAttr(sessionID, role, content string) gofs.StableAttr {
	return gofs.StableAttr{Mode: syscall.S_IFREG, Ino: hashIno(classContent, sessionID, role, content), Gen: 1}
}

// plainAttr is the identity of an ordinary file. The birth time tells apart
// two files that had the same backing inode number one after the other: the
// kernel may still hold the first when the second is there, and a number that
// means both makes the first's open handles fail.
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
