package log

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// rowFile is an open index file of which chunks are read when they are used. It stays what it is
// when its name is removed or given to another file, so that snapshots go on with it. It is read and
// not mapped: a page that a disk does not give would end the process, a read fails.
type rowFile struct {
	log  *Log
	file vfs.File
	refs []*rowRef // to the chunks that are read from it

	mu   sync.Mutex
	ring []*rowRef // what is held, guarded by mu
	next int       // guarded by mu
	raw  []byte    // scratch, guarded by mu

	odd  atomic.Bool // it has a chunk that is damaged
	lost atomic.Bool // one of them could not be made again
}

// chunk returns chunk k. One that the file does not have as it was written is made again from the
// records.
func (f *rowFile) chunk(k int) *rowChunk {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.refs[k].held.Load(); c != nil {
		return c
	}
	c := f.read(k)
	if c == nil {
		f.mu.Unlock() // others may be needed for it
		c = f.again(k)
		f.mu.Lock()
		f.refs[k].held.Store(c) // for good: it costs much
		return c
	}
	if old := f.ring[f.next]; old != nil {
		old.held.Store(nil)
	}
	f.ring[f.next] = f.refs[k]
	f.next = (f.next + 1) % len(f.ring)
	f.refs[k].held.Store(c)
	return c
}

// read returns chunk k as the file has it; nil where it is damaged. It must end where the next one
// begins. mu is held.
func (f *rowFile) read(k int) *rowChunk {
	if f.raw == nil {
		f.raw = make([]byte, indexChunk+chunkHeader)
	}
	if vfs.ReadFull(f.file, f.raw, indexHeader+int64(k)*indexChunk) != nil {
		return nil
	}
	c, next := parseIndexChunk(f.raw[:indexChunk], k), parseIndexChunk(f.raw[indexChunk:], k+1)
	return c.whole(&next)
}

// again makes chunk k from the records. Where these cannot be read, all of them count as damaged,
// and the next snapshot is made of another index.
func (f *rowFile) again(k int) *rowChunk {
	f.odd.Store(true)
	x := &logIndex{log: f.log, loaded: true, aside: true, rows: rowTable{refs: f.refs[:k:k], file: f}, n: k * chunkRows, saved: k * chunkRows}
	if x.n > 0 {
		x.size = x.at(x.n).end()
		x.longest = x.rows.chunk(k - 1).longestBehind()
	}
	if files, err := f.log.acquire(); err == nil {
		defer f.log.release()
		end, lines := x.size, 0
		err = vfs.ScanLines(files.data, x.size, f.log.length.Load(), func(off, length int64, _ []byte, _ bool) bool {
			lines++
			end = off + length + 1
			return lines < chunkRows
		})
		if err == nil {
			err = x.extend(files, end)
		}
		if err == nil && x.n == (k+1)*chunkRows {
			return x.rows.chunk(k)
		}
	}
	f.lost.Store(true)
	c := &rowChunk{longest: x.longest}
	for i := range chunkRows {
		c.set(i, &row{off: x.size + int64(i), flags: ctxabi.Damaged})
	}
	return c
}

// longestBehind is the length of the longest record until the end of a whole chunk.
func (c *rowChunk) longestBehind() int32 {
	n := c.longest
	for i := range c.kept {
		n = max(n, c.kept[i].len)
	}
	return n
}

// load reads the rows on disk that fit a log of end bytes. Nothing that it
// finds is an error: what does not fit is left out and built anew. It returns
// ctxabi.ErrNoMemory if there is no room for so many rows.
func (x *logIndex) load(f *logFiles, end int64) error {
	x.loaded = true
	l := x.log
	file, size, err := vfs.OpenRegular(l.dir.Root.FS, l.dir.Path(IndexFile(l.name)), os.O_RDONLY)
	if err != nil {
		return nil
	}
	n := rowsIn(size)
	some := l.events != nil && n > l.set.limits.Resident
	if !some {
		defer file.Close()
	}
	need := n
	if some {
		need = l.set.limits.Held * chunkRows
	}
	release, err := x.reserve(need)
	if err != nil {
		x.loaded = false
		if some {
			file.Close()
		}
		return err
	}
	defer release()
	if !isIndex(file, size) {
		n = 0
	}
	first := 0 // the first chunk that is read now
	if some {
		if first = x.loadLast(file, size, (n-1)/chunkRows, end); first == 0 {
			file.Close()
			n = 0
		}
	}
	if n > 0 {
		x.loadChunks(file, size, first, end)
	}
	if x.n > 0 && !x.lastFits(f) {
		x.forgetRows()
		return nil
	}
	x.saved = x.n
	if n > 0 && size > indexSize(x.n) && !l.dir.Root.ReadOnly {
		if x.cutFile(x.n) != nil {
			x.saved = 0 // written anew as a whole
		}
	}
	return nil
}

// isIndex reports whether a file begins as an index of the present form and rules does.
func isIndex(file vfs.File, size int64) bool {
	var header [indexHeader]byte
	_, err := io.ReadFull(io.NewSectionReader(file, 0, size), header[:])
	return err == nil && bytes.Equal(header[:], newIndexHeader())
}

// loadChunks reads the chunks from first on, as far as they fit each other and a log of end bytes.
func (x *logIndex) loadChunks(file vfs.File, size int64, first int, end int64) {
	for k := first; indexSize(k*chunkRows) < size; k++ {
		c, err := readIndexChunk(file, size, k)
		if err != nil || c.off != x.size || c.longest != x.longest || k > first && c.sum != x.running {
			return
		}
		c.rows(func(_ int, r row) bool {
			if r.end() > end {
				return false
			}
			x.push(r)
			return true
		})
		if c.n > 0 {
			x.running = c.running
		}
		if c.n < chunkRows {
			return
		}
	}
}

// loadLast finds the last chunk, from k on down, that has a row that fits a log of end bytes, and
// makes x the index of the chunks before it. These are read when they are used.
func (x *logIndex) loadLast(file vfs.File, size int64, k int, end int64) int {
	for ; k > 0; k-- {
		c, err := readIndexChunk(file, size, k)
		fits := false
		if err == nil {
			c.rows(func(_ int, r row) bool {
				fits = r.end() <= end
				return false
			})
		}
		if fits {
			refs, all := make([]rowRef, k), make([]*rowRef, k)
			for i := range all {
				all[i] = &refs[i]
			}
			x.rows = rowTable{refs: all, file: &rowFile{log: x.log, file: file, refs: all,
				ring: make([]*rowRef, x.log.set.limits.Held)}}
			x.tokens = newTokens(k)
			x.n, x.size, x.longest = k*chunkRows, c.off, c.longest
			x.bytes.Store(x.rows.bytes())
			// It is closed when no snapshot has it any more.
			runtime.AddCleanup(x.rows.file, func(file vfs.File) { file.Close() }, file)
			return k
		}
	}
	return 0
}
