package bulk

import (
	"bytes"
	"context"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lru"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Parts reads sealed parts of sessions from the objects, frame by frame. It is the [archive.Source] of
// a store, and safe for concurrent use.
//
// A frame is fetched when a byte of it is read, with what lies around it, checked against the whole hash that
// the part's own description has for it, and kept in a file with holes, where the next read finds it and
// checks it again. The description is checked against the hash in the row of the part. What cannot be had, or is
// wrong, is [archive.ErrAway]: no byte of it is returned, and the next read tries again.
type Parts struct {
	objects engine.Objects
	timeout time.Duration
	fetched atomic.Int64

	flights singleflight.Group // of pieces that are fetched, by the name of the object and their place

	mu    sync.Mutex
	known lru.Cache[journal.Hash, *description] // by the hash of the part; guarded by mu
}

// description is what stands in a part about the part, and the end of its file that has it.
type description struct {
	archive.Meta
	trailer []byte
}

// knownFrames is how many frames the descriptions in memory have together at most.
const knownFrames = 64 << 10

// NewParts returns the parts that lie among objects. A read waits for an object for timeout at most.
func NewParts(objects engine.Objects, timeout time.Duration) *Parts {
	return &Parts{objects: objects, timeout: timeout}
}

// Fetched returns how many bytes were read from the objects.
func (s *Parts) Fetched() int64 { return s.fetched.Load() }

// Owner returns the owner of the sessions beside ref, as [engine.Subject] calls it.
func Owner(ref ctxabi.Ref) string {
	if ref.Space == "" {
		return fmt.Sprint("u", ref.UID)
	}
	return "s" + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(ref.Space)))
}

// OpenPart opens a part; see [archive.Source]. It returns fs.ErrNotExist if the session has no row of
// that part, [ErrDamaged] if the row is not one, or that of other records, and the error of the disk.
func (s *Parts) OpenPart(dir *disk.Dir, log string, e *archive.Entry) (vfs.File, error) {
	name := archive.PartName(log, e.Number)
	raw, err := vfs.ReadFile(dir.Root.FS, dir.Path(archive.AwayRow(log, e.Number)))
	if err != nil {
		return nil, err
	}
	row, err := ParseAway(raw)
	if err == nil && (row.Log != log || row.Off != e.Off || row.Size != e.Size || hex.EncodeToString(row.SHA[:]) != e.SHA256) {
		err = fmt.Errorf("%w: the row of %s is that of other records", ErrDamaged, name)
	}
	if err != nil {
		return nil, err
	}
	f := &partFile{s: s, from: NewStore(s.objects, Owner(dir.Ref())), id: dir.ID(), row: row, name: name, dir: dir, frames: archive.AwayFrames(log, e.Number)}
	if _, err := f.keep(0); errors.Is(err, ctxabi.ErrNoFiles) {
		return nil, err
	}
	return f, nil
}

// keep returns the file of what is kept of the part, which is opened unless it is open; flag may be os.O_CREATE. It returns
// the error of the disk: what cannot be kept is fetched again.
func (f *partFile) keep(flag int) (kept vfs.File, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept != nil {
		return f.kept, nil
	}
	if flag |= os.O_RDWR; f.dir.Root.ReadOnly {
		flag = os.O_RDONLY
	}
	f.kept, err = f.dir.Root.FS.OpenFile(f.dir.Path(f.frames), flag, 0o600)
	return f.kept, err
}

// partFile is a part that is open.
type partFile struct {
	s    *Parts
	from *Store
	id   string
	row  Away
	name string

	dir    *disk.Dir
	frames string // of the file of what is kept, in dir
	mu     sync.Mutex
	kept   vfs.File // with holes; nil: nothing was kept yet; guarded by mu
}

var _ vfs.File = (*partFile)(nil)

// ReadAt implements io.ReaderAt. It returns archive.ErrAway for bytes that cannot be had.
func (f *partFile) ReadAt(b []byte, off int64) (n int, err error) {
	m, err := f.describe()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", archive.ErrAway, err)
	}
	begin := int64(0)
	for i := range m.Frames {
		end := begin + int64(m.Frames[i].Packed)
		if at := off + int64(n); n < len(b) && at < end {
			packed, err := f.frame(&m.Frames[i], begin)
			if err != nil {
				return n, fmt.Errorf("%w: %w", archive.ErrAway, err)
			}
			n += copy(b[n:], packed[at-begin:])
		}
		begin = end
	}
	if at := off + int64(n) - begin; n < len(b) && at < int64(len(m.trailer)) {
		n += copy(b[n:], m.trailer[at:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// describe returns the description of a part. It returns [ErrDamaged] if that is not what its row
// has, and the errors of get.
func (f *partFile) describe() (*description, error) {
	f.s.mu.Lock()
	d, ok := f.s.known.Get(f.row.File.SHA)
	f.s.mu.Unlock()
	if ok {
		return d, nil
	}
	r := &f.row
	at := r.File.Size - r.Part.Trailer.Size
	trailer := r.Trailer
	if trailer == nil {
		var err error
		if trailer, err = f.get(at, r.Part.Trailer.Size, func(b []byte) bool { return RefOf(b) == r.Part.Trailer }); err != nil {
			return nil, err
		}
	}
	m, err := archive.ReadMeta(endOf{trailer, at}, r.File.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: the end of %s: %w", ErrDamaged, f.name, err)
	}
	sums, _ := hex.DecodeString(m.Sums())
	if m.Log != r.Log || m.Off != r.Off || m.Size != r.Size || m.Records != r.Records || m.SHA256 != hex.EncodeToString(r.SHA[:]) || !bytes.Equal(sums, r.Sums) {
		return nil, fmt.Errorf("%w: the end of %s does not describe the part that its row has", ErrDamaged, f.name)
	}
	d = &description{*m, trailer}
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.s.known.Put(r.File.SHA, d, int64(len(m.Frames)))
	f.s.known.Trim(knownFrames, nil)
	return d, nil
}

// frame returns the packed bytes of a frame, which begins at a byte of the file.
func (f *partFile) frame(frame *archive.Frame, at int64) ([]byte, error) {
	return f.get(at, int64(frame.Packed), func(packed []byte) bool {
		_, err := frame.Inflate(packed)
		return err == nil
	})
}

// get returns bytes of the file for which is returns true: those that are kept, or else those that the
// objects have, which are kept from then on, with what lies around them. It returns engine.ErrDiffers if
// the objects have others, and the errors of [Store.Range].
func (f *partFile) get(at, size int64, is func([]byte) bool) ([]byte, error) {
	b := make([]byte, size)
	if kept, err := f.keep(0); err == nil && vfs.ReadFull(kept, b, at) == nil && is(b) {
		return b, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.s.timeout)
	defer cancel()
	for _, anew := range []bool{false, true} {
		whole, err := f.fetch(ctx, b, at, anew)
		if err != nil {
			return nil, err
		}
		if is(b) {
			return b, nil
		}
		if whole {
			break
		}
	}
	return nil, fmt.Errorf("%w: bytes %d to %d of %s", engine.ErrDiffers, at, at+size, f.row.Name(f.id))
}

// fetch fills b, which has what is kept of the file from a byte on and zeros elsewhere, with what the objects have: in
// the pieces of stride bytes of which nothing is kept, or in all of them if anew is set. whole is true if these were
// all. It returns the errors of [Store.Range].
func (f *partFile) fetch(ctx context.Context, b []byte, at int64, anew bool) (whole bool, err error) {
	whole = true
	for from, end := at/stride*stride, at+int64(len(b)); from < end; from += stride {
		to := min(from+stride, f.row.File.Size)
		piece := b[max(0, from-at) : min(end, to)-at]
		if !anew && slices.ContainsFunc(piece, func(c byte) bool { return c != 0 }) {
			whole = false
			continue
		}
		data, err := f.piece(ctx, from, to)
		if err != nil {
			return whole, err
		}
		copy(piece, data[max(0, at-from):])
	}
	return whole, nil
}

// piece returns the bytes of the file from one place to another as the objects have them, and keeps them. Who asks while
// they are fetched gets the same. It returns the errors of [Store.Range].
func (f *partFile) piece(ctx context.Context, from, to int64) ([]byte, error) {
	name := f.row.Name(f.id)
	data, err, _ := f.s.flights.Do(fmt.Sprintf("%s %s %d", f.from.owner, name, from), func() (any, error) {
		data, err := f.from.Range(ctx, name, from, to-from)
		if err != nil {
			return nil, err
		}
		f.s.fetched.Add(to - from)
		kept, err := f.keep(os.O_CREATE)
		if w, ok := kept.(io.WriterAt); ok && err == nil {
			w.WriteAt(data, from) // what is wrong in it is fetched again by who reads it; so is all on a full disk
		}
		return data, nil
	})
	if err != nil {
		return nil, err
	}
	return data.([]byte), nil
}

// endOf is the end of a file, from a byte on.
type endOf struct {
	data []byte
	at   int64
}

func (e endOf) ReadAt(b []byte, off int64) (int, error) {
	if off < e.at {
		return 0, io.ErrUnexpectedEOF
	}
	return bytes.NewReader(e.data).ReadAt(b, off-e.at)
}

func (f *partFile) Write([]byte) (int, error) { return 0, fs.ErrPermission }
func (f *partFile) Truncate(int64) error      { return fs.ErrPermission }
func (f *partFile) Sync() error               { return nil }

func (f *partFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		return nil
	}
	return f.kept.Close()
}

func (f *partFile) Stat() (fs.FileInfo, error) { return partInfo{f}, nil }

// partInfo describes a part as its file would be.
type partInfo struct{ f *partFile }

func (i partInfo) Name() string       { return i.f.name }
func (i partInfo) Size() int64        { return i.f.row.File.Size }
func (i partInfo) Mode() fs.FileMode  { return 0o400 }
func (i partInfo) ModTime() time.Time { return time.Time{} }
func (i partInfo) IsDir() bool        { return false }
func (i partInfo) Sys() any           { return nil }
