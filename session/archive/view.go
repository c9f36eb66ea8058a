package archive

import (
	"sync"

	"github.com/ctxfs/ctxfs/internal/lru"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// What is mapped of the tails of logs.
const (
	windowBytes = 8 << 20 // of one window, which begins at a multiple of that
	maxWindows  = 4       // in one store
)

// ViewLeast is the least number of bytes of a view: fewer are copied sooner than mapped.
const ViewLeast = 256 << 10

// Windows holds the parts of tails that were mapped last, for all logs of a store. Its zero value is
// empty.
type Windows struct {
	mu     sync.Mutex
	recent lru.Cache[windowKey, *window] // each counts 1; guarded by mu
}

type windowKey struct {
	tail vfs.File
	n    int64 // it begins at n * windowBytes of the tail
}

// window is a mapped part of a tail. Windows.mu guards it.
type window struct {
	vfs.Mapping
	users int
	used  bool // since the last call of Tick
	gone  bool // it is unmapped when it has no users
}

// View is bytes of a log that nothing has copied. They are for a system call alone: see
// [vfs.Mapping].
type View struct {
	Bytes []byte
	w     *window
	of    *Windows
}

// View returns the n bytes of the log at off as they are in the kernel's memory, to be released. It
// returns nil where ReadAt has to be used: for bytes that are few, sealed, not there, not in memory or
// not in one window, and where the disk does not allow it.
func (d *Data) View(off int64, n int) *View {
	if n < ViewLeast || d.at.Windows == nil {
		return nil
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	off -= d.base
	from := int(off % windowBytes)
	if off < 0 || from+n > windowBytes {
		return nil
	}
	if fi, err := d.tail.Stat(); err != nil || fi.Size() < off+int64(n) { // somebody has cut it
		return nil
	}
	w := d.at.Windows.take(windowKey{d.tail, off / windowBytes})
	if w == nil {
		return nil
	}
	v := &View{w.Slice(from, from+n), w, d.at.Windows}
	if !w.InMemory(from, from+n) { // ReadAt reads ahead, and returns the error of the disk
		v.Release()
		return nil
	}
	return v
}

// Release ends the use of the view's bytes. It is called once.
func (v *View) Release() {
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	v.w.users--
	v.w.settle()
	v.Bytes = nil
}

// settle unmaps a window that is gone and has no users. Windows.mu is held.
func (w *window) settle() {
	if w.gone && w.users == 0 {
		w.Unmap()
	}
}

// drop makes a window that is no longer in recent go. Windows.mu is held.
func (w *window) drop() {
	w.gone = true
	w.settle()
}

// take returns a window to somebody who is to release it, nil where it cannot be mapped.
func (c *Windows) take(key windowKey) *window {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.recent.Get(key)
	if !ok {
		m, err := vfs.Map(key.tail, key.n*windowBytes, windowBytes)
		if err != nil {
			return nil
		}
		w = &window{Mapping: m}
		c.recent.Put(key, w, 1)
	}
	w.users++
	w.used = true
	c.recent.Trim(maxWindows, func(_ windowKey, old *window) { old.drop() })
	return w
}

// forget drops the windows of a tail that is about to be closed.
func (c *Windows) forget(tail vfs.File) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, w := range c.recent.Oldest() {
		if key.tail == tail {
			c.recent.Remove(key)
			w.drop()
		}
	}
}

// Tick drops the windows that were not used since the last call.
func (c *Windows) Tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, w := range c.recent.Oldest() {
		if !w.used {
			c.recent.Remove(key)
			w.drop()
		}
		w.used = false
	}
}
