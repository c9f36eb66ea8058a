package replica

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// Position is how far a copy follows its journal.
type Position struct {
	journal.Position        // behind so many entries
	Seq              uint64 // sequence of the last of them, or of what stands behind it and is no entry; 0: of nothing
	Host             string // who made the last entry; "": there is none
	Ended            bool   // the journal ends here: nothing counts but what begins the session anew
	Messages, Events log.Mark
}

// Row returns the one row of .ctxfs/journal of a copy that is at p, for who makes the files of one.
func (p *Position) Row() []byte { return p.row() }

// row returns the row of .ctxfs/journal for a position: its fields, a checksum and a newline.
func (p *Position) row() []byte {
	host := p.Host
	if host == "" {
		host = "-"
	}
	if p.Ended {
		host += "!"
	}
	b := fmt.Appendf(nil, "%d %d %x %s %d %d %d %d ", p.I, p.Seq, p.Chain, host,
		p.Messages.Size, p.Messages.Arrivals, p.Events.Size, p.Events.Arrivals)
	return fmt.Appendf(b, "%08x\n", crc32.Checksum(b, vfs.Castagnoli))
}

// parsePosition reads a row without its newline; ok is false if row would not write it so.
func parsePosition(line []byte) (p Position, ok bool) {
	f := bytes.Fields(line)
	if len(f) != 9 {
		return Position{}, false
	}
	for i, to := range []*uint64{&p.I, &p.Seq} {
		*to, _ = strconv.ParseUint(string(f[i]), 10, 64)
	}
	if len(f[2]) != hex.EncodedLen(len(p.Chain)) {
		return Position{}, false
	}
	hex.Decode(p.Chain[:], f[2])
	if p.Host, p.Ended = strings.CutSuffix(string(f[3]), "!"); p.Host == "-" {
		p.Host = ""
	}
	for i, to := range []*int64{&p.Messages.Size, &p.Messages.Arrivals, &p.Events.Size, &p.Events.Arrivals} {
		*to, _ = strconv.ParseInt(string(f[4+i]), 10, 64)
	}
	row := p.row()
	return p, bytes.Equal(row[:len(row)-1], line)
}

// Kept returns where the log called name of the session in dir may end at most, as [log.Copies] wants
// to know it of a session whose copy is not open: at the last position that both logs reach, or at
// their beginning if they reach none. ok is false if the session is no copy, or its position cannot be
// read.
func Kept(dir *disk.Dir, name string) (at log.Mark, ok bool) {
	p, ok, err := held(dir)
	if err != nil || !ok {
		return log.Mark{}, false
	}
	if name == ctxabi.MessagesFile {
		return p.Messages, true
	}
	return p.Events, true
}

// held returns the last position that both logs of the session in dir reach, and the zero Position if
// they reach none that is written there. ok is false if the session is no copy. The caller holds
// Root.Move for reading.
func held(dir *disk.Dir) (p Position, ok bool, err error) {
	f, size, err := vfs.OpenRegular(dir.Root.FS, dir.Path(log.JournalFile), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return Position{}, false, nil
	}
	if err != nil {
		return Position{}, false, err
	}
	defer f.Close()
	messages, err := log.Look(dir, ctxabi.MessagesFile)
	if err != nil {
		return Position{}, false, err
	}
	events, err := log.Look(dir, ctxabi.EventsFile)
	if err != nil {
		return Position{}, false, err
	}
	reaches := func(end, to log.Mark) bool { return to.Size <= end.Size && to.Arrivals <= end.Arrivals }
	err = vfs.ScanLinesBackward(f, size, func(_ int64, line []byte) bool {
		at, whole := parsePosition(line)
		if whole && reaches(messages, at.Messages) && reaches(events, at.Events) {
			p = at
			return false
		}
		return true
	})
	return p, err == nil, err
}

// ReadPosition returns the last position in a file of the session in dir that has what log.JournalFile has; ok is
// false if there is none. It returns the error of the disk.
func ReadPosition(dir *disk.Dir, name string) (p Position, ok bool, err error) {
	dir.Root.Move.RLock()
	defer dir.Root.Move.RUnlock()
	data, err := vfs.ReadFile(dir.Root.FS, dir.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return p, false, nil
	}
	for line := range bytes.Lines(data) {
		if at, whole := parsePosition(bytes.TrimSuffix(line, []byte{'\n'})); whole {
			p, ok = at, true
		}
	}
	return p, ok, err
}

// maxPositions is how long .ctxfs/journal may become before it is written anew, in bytes.
const maxPositions = 128 << 10

// positions is the file of a copy's positions.
type positions struct {
	dir  *disk.Dir
	size int64 // of the file; -1: it has to be written anew
}

// add appends a position. It returns the error of the disk; the position is not there then, or has to
// be added again.
func (s *positions) add(p *Position) error {
	if s.size < 0 {
		return s.replace(p)
	}
	s.dir.Root.Move.RLock()
	defer s.dir.Root.Move.RUnlock()
	f, _, err := vfs.OpenRegular(s.dir.Root.FS, s.dir.Path(log.JournalFile), os.O_RDWR|os.O_APPEND)
	if err != nil {
		s.size = -1
		return err
	}
	defer f.Close()
	row := p.row()
	if err := vfs.WriteFull(f, row); err != nil {
		if cut := f.Truncate(s.size); cut != nil {
			s.size = -1 // the next row must not stand behind half of this one
		}
		return err
	}
	s.size += int64(len(row))
	return nil
}

// replace makes p the one position there is, durably. What it says of the logs must be durable, too.
func (s *positions) replace(p *Position) error {
	s.dir.Root.Move.RLock()
	defer s.dir.Root.Move.RUnlock()
	row := p.row()
	if err := s.dir.Replace(log.JournalFile, row, true); err != nil {
		s.size = -1
		return err
	}
	s.size = int64(len(row))
	return nil
}
