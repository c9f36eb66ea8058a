package session

import (
	"container/list"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// location says where the sealed parts of a log are.
type location struct {
	dir    *disk.Dir
	log    string // its name
	frames *frameCache
}

// sealedPart is one sealed part of a log, open for reading. It is safe for concurrent use.
type sealedPart struct {
	sealedEntry
	at   *location
	file vfs.File // nil: it is opened by its name for each read, so that a log costs the same however many parts it has
	gone error    // why it cannot be read at all, found when the log was opened

	mu     sync.Mutex // guards tabled, and what follows until it is set
	tabled bool
	frames []sealedFrame
	raw    []int64 // where each frame begins in the part; one more for the end
	packed []int64 // and in the file
	odd    error   // why the table is not that of the file
}

// damage says that bytes of a log cannot be read from its sealed part.
type damage struct {
	file     string
	from, to int64 // of the log
	err      error
}

func (d *damage) Error() string {
	return fmt.Sprintf("%s does not give bytes %d to %d of the log: %v", d.file, d.from, d.to, d.err)
}

func (d *damage) Unwrap() error { return d.err }

func (p *sealedPart) damaged(from, to int64, err error) error {
	return &damage{sealedName(p.at.log, p.Number), p.Off + from, p.Off + to, err}
}

// find looks whether the part is there.
func (p *sealedPart) find() {
	x := p.at.dir
	fi, err := x.Root.FS.Stat(x.Path(sealedName(p.at.log, p.Number)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.gone = errNoPart
	case err != nil:
		p.gone = err
	case !fi.Mode().IsRegular():
		p.gone = errors.New("it is not a regular file")
	}
	if p.gone != nil && p.gone != errNoPart {
		x.Root.Logger.Error("open sealed part", "session", x.ID(), "log", p.at.log, "part", p.Number, "err", p.gone)
	}
}

var errNoPart = errors.New("it is not there")

// opened calls do with the part's file. An error that is ctxabi.ErrNoFiles or ErrNotFound (of the session) is no damage of the part.
func (p *sealedPart) opened(do func(f vfs.File) error) error {
	switch {
	case p.gone != nil:
		return p.gone
	case p.file != nil:
		return do(p.file)
	}
	f, err := p.open()
	if err != nil {
		return err
	}
	defer f.Close()
	return do(f)
}

func (p *sealedPart) open() (vfs.File, error) {
	x := p.at.dir
	x.Root.Moving.RLock()
	defer x.Root.Moving.RUnlock()
	if x.Removed() {
		return nil, ctxabi.E("read", p.at.log, ctxabi.ErrNotFound, "the session was removed")
	}
	f, _, err := vfs.OpenRegular(x.Root.FS, x.Path(sealedName(p.at.log, p.Number)), os.O_RDONLY)
	return f, err
}

// table knows where the frames are. One that is damaged is made up from the frames themselves as far as they go. It fails
// as [sealedPart.opened] does where that is no damage, and is tried again then.
func (p *sealedPart) table() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tabled {
		return nil
	}
	var frames []sealedFrame
	odd := p.opened(func(f vfs.File) error {
		fi, err := f.Stat()
		if err != nil {
			return err
		}
		m, err := readSealMeta(f, fi.Size())
		if err == nil && (m.SHA256 != p.SHA256 || m.Size != p.Size) {
			err = fmt.Errorf("it holds other bytes than those that were sealed")
		}
		if err == nil {
			frames = m.Frames
		} else {
			frames = p.known(walkFrames(f, fi.Size()))
		}
		return err
	})
	if errors.Is(odd, ctxabi.ErrNoFiles) || errors.Is(odd, ctxabi.ErrNotFound) {
		return odd
	}
	p.tabled, p.odd, p.frames = true, odd, frames
	p.raw, p.packed = []int64{0}, []int64{0}
	for i := range p.frames {
		next := p.raw[i] + int64(p.frames[i].Raw)
		if next > p.Size {
			p.frames = p.frames[:i]
			break
		}
		p.raw, p.packed = append(p.raw, next), append(p.packed, p.packed[i]+int64(p.frames[i].Packed))
	}
	return nil
}

// known gives those of the frames in front that are the part's: a frame that is whole may still be another one.
func (p *sealedPart) known(frames []sealedFrame) []sealedFrame {
	for i := range frames {
		if len(p.Sums) < (i+1)*frameSum || frames[i].SHA256[:frameSum] != p.Sums[i*frameSum:(i+1)*frameSum] {
			return frames[:i]
		}
	}
	return frames
}

// frameAt returns the number of the frame that holds the byte at off of the part; len(frames) when none does. The table was read.
func (p *sealedPart) frameAt(off int64) int {
	return sort.Search(len(p.frames), func(i int) bool { return p.raw[i+1] > off })
}

// frame reads and checks a frame.
func (p *sealedPart) frame(i int) ([]byte, error) {
	f := &p.frames[i]
	b := make([]byte, f.Packed)
	err := p.opened(func(file vfs.File) error { return vfs.ReadFull(file, b, p.packed[i]) })
	if err == nil {
		b, err = f.inflate(b)
	}
	if errors.Is(err, ctxabi.ErrNoFiles) || errors.Is(err, ctxabi.ErrNotFound) {
		return nil, err
	}
	if err != nil {
		return nil, p.damaged(p.raw[i], p.raw[i+1], err)
	}
	return b, nil
}

// ReadAt reads the part's bytes; off is within it.
func (p *sealedPart) ReadAt(b []byte, off int64) (n int, err error) {
	if err := p.table(); err != nil {
		return 0, err
	}
	for n < len(b) && off < p.Size {
		i := p.frameAt(off)
		if i == len(p.frames) {
			return n, p.damaged(p.raw[i], p.Size, p.why())
		}
		raw, err := p.at.frames.get(p, i)
		if err != nil {
			return n, err
		}
		got := copy(b[n:], raw[off-p.raw[i]:])
		n, off = n+got, off+int64(got)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (p *sealedPart) why() error {
	if p.odd != nil {
		return p.odd
	}
	return io.ErrUnexpectedEOF
}

// newPart returns a part that nobody looked for yet.
func newPart(at *location, e sealedEntry) *sealedPart { return &sealedPart{at: at, sealedEntry: e} }

// checkIn is check of a part that lies in f.
func (p *sealedPart) checkIn(f vfs.File, yield func(raw []byte, err error) bool) {
	p.file = f
	defer func() { p.file = nil }()
	p.check(yield)
}

// check reads all of the part and yields its bytes, frame by frame, or what is wrong with them.
func (p *sealedPart) check(yield func(raw []byte, err error) bool) {
	if err := p.table(); err != nil {
		yield(nil, err)
		return
	}
	for i := range p.frames {
		raw, err := p.frame(i)
		if !yield(raw, err) {
			return
		}
	}
	if end := p.raw[len(p.frames)]; end < p.Size {
		yield(nil, p.damaged(end, p.Size, p.why()))
	} else if p.odd != nil {
		yield(nil, p.damaged(end, end, p.odd))
	}
}

// standIn fills b, from off of the part on, with something of the form of the bytes that a damaged frame held, and says how
// much of it. It has as many lines, as far as that is known, so that those behind it keep their numbers.
func (p *sealedPart) standIn(b []byte, off int64) int {
	i := p.frameAt(off)
	end, lines := p.Size, p.Records
	if i < len(p.frames) {
		end, lines = p.raw[i+1], p.frames[i].Records
	} else {
		for k := range p.frames {
			lines -= p.frames[k].Records
		}
		lines = max(lines, 1) // a part ends where a record does
	}
	b = b[:min(int64(len(b)), end-off)]
	for k := range b {
		b[k] = ' '
		if off+int64(k) >= end-int64(lines) {
			b[k] = '\n'
		}
	}
	return len(b)
}

// frameCache keeps the frames that were inflated last. Its zero value is empty.
type frameCache struct {
	mu     sync.Mutex
	frames map[frameKey]*list.Element // of *heldFrame
	order  list.List                  // the one used last in front
	size   int64
}

// maxFrameCache is how many bytes of inflated frames a store keeps.
const maxFrameCache = 8 << 20

type frameKey struct {
	part  *sealedPart
	frame int
}

type heldFrame struct {
	key  frameKey
	once sync.Once
	raw  []byte
	err  error
}

// get gives a frame. Whoever asks for one that is on its way waits for it.
func (c *frameCache) get(p *sealedPart, i int) ([]byte, error) {
	key := frameKey{p, i}
	c.mu.Lock()
	e := c.frames[key]
	if e != nil {
		c.order.MoveToFront(e)
	} else {
		if c.frames == nil {
			c.frames = map[frameKey]*list.Element{}
		}
		e = c.order.PushFront(&heldFrame{key: key})
		c.frames[key] = e
		c.size += int64(p.frames[i].Raw)
		for c.size > maxFrameCache && c.order.Len() > 1 {
			c.drop(c.order.Back())
		}
	}
	c.mu.Unlock()
	h := e.Value.(*heldFrame)
	h.once.Do(func() { h.raw, h.err = p.frame(i) })
	if h.err != nil { // it is not remembered
		c.mu.Lock()
		if c.frames[key] == e {
			c.drop(e)
		}
		c.mu.Unlock()
	}
	return h.raw, h.err
}

// forget drops the frames of a part that is closed.
func (c *frameCache) forget(p *sealedPart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range p.frames {
		if e := c.frames[frameKey{p, i}]; e != nil {
			c.drop(e)
		}
	}
}

// drop is called with mu held.
func (c *frameCache) drop(e *list.Element) {
	h := c.order.Remove(e).(*heldFrame)
	delete(c.frames, h.key)
	c.size -= int64(h.key.part.frames[h.key.frame].Raw)
}

// IsDamage says whether an error of reading a log is damage of what is stored: other records of it can be read.
func IsDamage(err error) bool {
	var bad *damage
	return errors.As(err, &bad)
}
