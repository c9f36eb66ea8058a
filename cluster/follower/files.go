package follower

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/ctxfs/ctxfs/cluster/shared"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Files is the local copy of one session on the disk of a host. Calls for one copy do not overlap.
type Files interface {
	// Load returns what the copy holds, and the zero Mark if there is none. It first removes what
	// an interrupted Apply left after the mark.
	Load() (Mark, error)
	// Seeds returns the chain before the first row of messages and of events.
	Seeds() [2]arrival.Hash
	// Apply adds an entry and records the mark after it: both or none survive the death of the
	// process. The content of a row of a log is the row that the log gets.
	Apply(entry *shared.Opened, after Mark) error
	// Note records a mark without an entry.
	Note(m Mark) error
	// ChainAt returns the chain of the copy before the entry with a number. ok is false if the copy
	// no longer knows it.
	ChainAt(i uint64) (chain shared.Hash, ok bool)
	// RecordsFrom returns the records of the entries from a number on, in order.
	RecordsFrom(i uint64) ([]Request, error)
	// SetAside keeps the copy under another name and leaves an empty one.
	SetAside() error
	// Drop deletes the copy. The session was removed.
	Drop() error
}

// LogEnd is the end of one log of a copy.
type LogEnd struct {
	Size  int64 // bytes
	Chain arrival.Hash
}

// Mark is the position of a copy: the journal that it follows, and how far.
type Mark struct {
	Journal shared.ID
	shared.Position
	Complete bool      // the copy has reached the end of the journal once
	Ended    bool      // the last entry removed the session
	Logs     [2]LogEnd // messages, events
}

// AppendMark appends the text form of a mark, one line with a checksum, to dst.
func AppendMark(dst []byte, m Mark) []byte {
	begin := len(dst)
	dst = fmt.Appendf(dst, "%s %d %x %t %t", m.Journal, m.I, m.Chain, m.Complete, m.Ended)
	for _, l := range m.Logs {
		dst = fmt.Appendf(dst, " %d %x", l.Size, l.Chain)
	}
	return fmt.Appendf(dst, " %08x\n", crc32.Checksum(dst[begin:], vfs.Castagnoli))
}

// ParseMark reads the text form of a mark with its newline. ok is false for everything that
// AppendMark does not write.
func ParseMark(line []byte) (m Mark, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) != 10 {
		return Mark{}, false
	}

	m.Journal, _ = shared.ParseID(string(fields[0]))
	m.I, _ = strconv.ParseUint(string(fields[1]), 10, 64)
	m.Complete, m.Ended = string(fields[3]) == "true", string(fields[4]) == "true"
	hashes := []*shared.Hash{&m.Chain, (*shared.Hash)(&m.Logs[0].Chain), (*shared.Hash)(&m.Logs[1].Chain)}
	for i, field := range [][]byte{fields[2], fields[6], fields[8]} {
		if len(field) == hex.EncodedLen(len(hashes[i])) {
			hex.Decode(hashes[i][:], field)
		}
	}
	for i, field := range [][]byte{fields[5], fields[7]} {
		m.Logs[i].Size, _ = strconv.ParseInt(string(field), 10, 64)
	}
	return m, bytes.Equal(AppendMark(nil, m), line)
}
