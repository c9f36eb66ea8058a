package session

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strconv"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Derived content that grows is kept in lines, each behind its CRC-32C in hex:
//
//	9a3cf0b1 {"range":"1-118","source":"messages"}
//
// What an append adds begins a line of its own, so that one which a crash tore costs that line alone.

// ProjectFile is derived content of that form: what packs of the session show of the memory of its
// workspace, and from which message on.
const ProjectFile = "project"

// AppendDerived appends lines, none of which is empty or has a newline, to derived content of that
// form. It makes it where there is none. It returns ctxabi.ErrMalformed for another name,
// ctxabi.ErrReadOnly, and the error of the disk, which may have a part of it.
func (x *Session) AppendDerived(name string, lines ...[]byte) error {
	rel, err := x.changeDerived("append", name)
	if err != nil {
		return err
	}
	data := summedLines(lines)
	s := x.store
	s.disk.Move.RLock()
	defer s.disk.Move.RUnlock()
	var f vfs.File
	err = x.derived().inDir(rel, func(file string) (err error) {
		f, err = s.disk.FS.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		return err
	})
	if err != nil {
		return vfs.Failed("append", rel, err, "it was not stored")
	}
	err = vfs.WriteFull(f, data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return vfs.Failed("append", rel, err, "only a part of it was stored")
	}
	return nil
}

// summedLines returns lines as they are appended.
func summedLines(lines [][]byte) []byte {
	data := []byte{'\n'}
	for _, line := range lines {
		data = fmt.Appendf(data, "%08x %s\n", crc32.Checksum(line, vfs.Castagnoli), line)
	}
	return data
}

// DerivedLines returns the lines that were appended and are whole; none when there is no such
// content. It returns ctxabi.ErrMalformed for another name, and the error of the disk.
func (x *Session) DerivedLines(name string) (lines [][]byte, err error) {
	err = x.EachDerivedLine(name, func(line []byte) bool {
		lines = append(lines, bytes.Clone(line))
		return true
	})
	return lines, err
}

// EachDerivedLine yields the lines that were appended and are whole, one after another, until yield
// returns false. A line is valid until yield returns. There is one piece of the content in memory
// at a time. It returns ctxabi.ErrMalformed for another name, and the error of the disk.
func (x *Session) EachDerivedLine(name string, yield func(line []byte) bool) error {
	rel, err := derivedName("read", name)
	if err != nil {
		return err
	}
	x.store.disk.Move.RLock()
	f, size, err := vfs.OpenRegular(x.store.disk.FS, x.dir.Path(rel), os.O_RDONLY)
	x.store.disk.Move.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return vfs.ScanLines(f, 0, size, func(_, length int64, line []byte, whole bool) bool {
		if !whole || int64(len(line)) != length {
			return true
		}
		content, err := summedContent(line)
		return err != nil || yield(content)
	})
}

// DerivedLineContent returns the content of a line, without its checksum and its newline. It returns
// an error if the newline is missing or the content does not match the checksum.
func DerivedLineContent(line []byte) ([]byte, error) {
	line, whole := bytes.CutSuffix(line, []byte{'\n'})
	if !whole {
		return nil, errTorn
	}
	return summedContent(line)
}

var errTorn = errors.New("it is incomplete")

// summedContent returns what stands behind the checksum of a line without its newline.
func summedContent(line []byte) ([]byte, error) {
	const sum = len("9a3cf0b1 ")
	if len(line) <= sum {
		return nil, errTorn
	}
	crc, err := strconv.ParseUint(string(line[:sum-1]), 16, 32)
	if err != nil || uint32(crc) != crc32.Checksum(line[sum:], vfs.Castagnoli) {
		return nil, errors.New("it does not match its checksum")
	}
	return line[sum:], nil
}

// syncLines makes the lines of content survive the loss of power.
func (x *Session) syncLines(name string) error {
	rel, err := derivedName("append", name)
	if err != nil {
		return err
	}
	s := x.store.disk
	s.Move.RLock()
	defer s.Move.RUnlock()
	f, err := s.FS.OpenFile(x.dir.Path(rel), os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), s.FS.SyncDir(x.dir.Path(ctxabi.InternalDir)))
	}
	if err != nil {
		return vfs.Failed("append", rel, err, "it may not survive a loss of power")
	}
	return nil
}
