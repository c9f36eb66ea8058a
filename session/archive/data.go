package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Data is what a log holds, as one file: sealed parts, and the tail behind them, which alone is
// written to. Offsets and sizes are those of the log, wherever its bytes are. Sealing swaps the
// tail under those who read.
type Data struct {
	at *Location

	mu    sync.RWMutex // held by whoever reads or writes; for writing while the tail is swapped
	parts []*Part
	base  int64 // where the tail begins
	tail  vfs.File

	tailNameless func() bool // whether somebody removed the tail

	pending   bool  // the list of parts in the store is not that of parts
	redundant []int // numbers of parts of which the tail has the records

	swapping atomic.Bool // the tail may have lost its name to the next one
}

var _ vfs.File = (*Data)(nil)

// Location returns where the sealed parts are.
func (d *Data) Location() *Location { return d.at }

// ReadAt implements io.ReaderAt. Bytes of a sealed part that is damaged give a [DamageError].
func (d *Data) ReadAt(b []byte, off int64) (n int, err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.readAt(b, off)
}

// readAt is ReadAt; mu is held.
func (d *Data) readAt(b []byte, off int64) (n int, err error) {
	for n < len(b) && off < d.base {
		p := d.part(off)
		got, err := p.ReadAt(b[n:min(int64(len(b)), int64(n)+p.End()-off)], off-p.Off)
		n, off = n+got, off+int64(got)
		if err != nil {
			return n, err
		}
	}
	if n == len(b) {
		return n, nil
	}
	got, err := d.tail.ReadAt(b[n:], off-d.base)
	return n + got, err
}

// copyFrames copies [from, to) of the log.
func (d *Data) copyFrames(out io.Writer, from, to int64) error {
	buf := make([]byte, min(frameMost, to-from))
	for off := from; off < to; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), to-off)]
		n, err := d.ReadAt(buf, off)
		if n < len(buf) {
			return cmp.Or(err, io.ErrUnexpectedEOF)
		}
		if err := vfs.WriteFull(out, buf); err != nil {
			return err
		}
	}
	return nil
}

// part returns the sealed part that holds the byte at off, which is in front of base.
func (d *Data) part(off int64) *Part {
	return d.parts[sort.Search(len(d.parts), func(i int) bool { return d.parts[i].End() > off })]
}

// Sealed is how many bytes are sealed.
func (d *Data) Sealed() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.base
}

// Write appends b to the tail. It returns the error of the disk, which may have taken a part of b.
func (d *Data) Write(b []byte) (int, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.tail.Write(b)
}

// Truncate cuts the tail. What is sealed is never cut. It returns an error for that, and that of
// the disk.
func (d *Data) Truncate(size int64) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if size < d.base {
		return fmt.Errorf("cut at %d: the first %d bytes are sealed", size, d.base)
	}
	return d.tail.Truncate(size - d.base)
}

// Sync makes the tail survive the loss of power; what is sealed does. It returns the error of the disk.
func (d *Data) Sync() error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.tail.Sync()
}

// Rewrite calls [vfs.Rewrite] for the part of [from, to) in the tail. It returns disk errors.
func (d *Data) Rewrite(from, to int64) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return vfs.Rewrite(d.tail, max(from-d.base, 0), to-d.base)
}

// StartSync makes the disk begin to write the tail; see [vfs.StartSync].
func (d *Data) StartSync() {
	d.mu.RLock()
	defer d.mu.RUnlock()
	vfs.StartSync(d.tail)
}

// Stat is that of the tail, with the size of the log. It returns the error of the disk.
func (d *Data) Stat() (fs.FileInfo, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	fi, err := d.tail.Stat()
	if err != nil {
		return nil, err
	}
	return sizedInfo{fi, d.base + fi.Size()}, nil
}

// Nameless reports whether the tail has no name any more, unless it is sealing that takes its name away.
func (d *Data) Nameless() bool {
	for {
		tail, nameless := d.current()
		if !nameless() || d.swapping.Load() {
			return false
		}
		if now, _ := d.current(); now == tail {
			return true
		}
	}
}

// current is the tail, and what reports whether it has no name.
func (d *Data) current() (vfs.File, func() bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.tail, d.tailNameless
}

type sizedInfo struct {
	fs.FileInfo
	size int64
}

func (i sizedInfo) Size() int64 { return i.size }

// Close is called when nobody reads. It returns the error of the disk.
func (d *Data) Close() error {
	for _, p := range d.parts {
		p.at.Frames.forget(p)
	}
	d.at.Windows.forget(d.tail)
	return d.tail.Close()
}

// StandIns reads a log of which sealed parts may be damaged: what they held is replaced by blank lines.
type StandIns struct {
	*Data
	Used bool
}

// ReadAt implements io.ReaderAt. It returns the errors of the disk that are no damage of a part.
func (d *StandIns) ReadAt(b []byte, off int64) (n int, err error) {
	for n < len(b) {
		got, err := d.Data.ReadAt(b[n:], off)
		n, off = n+got, off+int64(got)
		var bad *DamageError
		if !errors.As(err, &bad) {
			return n, err
		}
		d.Used = true
		p := d.part(off)
		got = p.standIn(b[n:], off-p.Off)
		n, off = n+got, off+int64(got)
	}
	return n, nil
}

var _ io.ReaderAt = (*StandIns)(nil)

// CopyTo copies bytes [from, size) of the log to to, which is empty. Where none are left all of
// them are in files that both have. A copy reads a frame at a time: a seal that waits for the lock,
// and all who wait behind it, do not wait for the whole. It returns the error of the disk, a
// [DamageError] where a part cannot be read.
func (d *Data) CopyTo(to vfs.File, from, size int64) (shared bool, err error) {
	if from == size {
		return from > 0, nil
	}
	d.mu.RLock()
	tail, whole := d.tail, from == d.base
	if whole {
		shared = vfs.Clone(to, tail)
	}
	d.mu.RUnlock()
	if shared {
		return true, to.Truncate(size - from)
	}
	return false, d.copyFrames(to, from, size)
}

// PartsTo returns the sealed parts that lie in the first size bytes.
func (d *Data) PartsTo(size int64) []*Part {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n := 0
	for n < len(d.parts) && d.parts[n].End() <= size && d.parts[n].gone == nil {
		n++
	}
	return d.parts[:n:n]
}

// swap makes the part the last one, and next the tail.
func (d *Data) swap(p *Part, next vfs.File) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parts = append(d.parts[:len(d.parts):len(d.parts)], p)
	d.base = p.End()
	d.at.Windows.forget(d.tail)
	d.tail.Close()
	d.tail, d.tailNameless = next, vfs.NamelessFunc(next)
}

// Rows is what the rows of its commits tell of a log.
type Rows interface {
	End() (int64, error)                              // where the last one that can be read says that the log ends
	Begins(tail io.ReaderAt, off int64) (bool, error) // whether tail begins with what the row at off announced
}
