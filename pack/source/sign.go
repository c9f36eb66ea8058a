package source

import (
	"time"

	"golang.org/x/sys/unix"
)

// maxFile is the most that is read of one file of the store, in bytes.
const maxFile = 16 << 20

// Sign is what lstat says of a file; a file with the same sign has the same
// content, but for changes within one tick of the disk's clock.
type Sign struct {
	mtime, ctime, size int64
	ino                uint64
	mode, UID, GID     uint32
}

func (s Sign) exists() bool  { return s.mode != 0 }
func (s Sign) regular() bool { return s.mode&unix.S_IFMT == unix.S_IFREG }

// tick is how long after a change of a file its sign may still hide another one.
const tick = 20 * time.Millisecond

func (s Sign) fresh(now time.Time) bool {
	return s.exists() && now.Sub(time.Unix(0, max(s.mtime, s.ctime))) < tick
}

// signOf returns the sign of an open file, and the zero sign if it cannot be read.
func signOf(fd int) Sign {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return Sign{}
	}
	return Sign{st.Mtim.Nano(), st.Ctim.Nano(), st.Size, st.Ino, st.Mode, st.Uid, st.Gid}
}
