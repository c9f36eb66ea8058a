package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lru"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Location is where the sealed parts of a log are.
type Location struct {
	Dir    *disk.Dir
	Log    string // its name
	Frames *Cache

	Windows *Windows // nil: nothing is mapped
}

// Part is one sealed part of a log, open for reading. It is safe for concurrent use.
type Part struct {
	Entry
	at   *Location
	file vfs.File // nil: it is opened by its name for each read, so that a log costs the same however many parts it has
	gone error    // why it cannot be read at all, found when the log was opened

	mu     sync.Mutex // guards tabled, and what follows until it is set
	tabled bool
	frames []Frame
	raw    []int64 // where each frame begins in the part; one more for the end
	packed []int64 // and in the file
	odd    error   // why the table is not that of the file
}

// DamageError is the error of bytes of a log that cannot be read from its sealed part.
type DamageError struct {
	File     string
	From, To int64 // of the log
	err      error
}

// Error returns the file and the bytes that it does not give.
func (d *DamageError) Error() string {
	return fmt.Sprintf("%s cannot provide bytes %d to %d of the log: %v", d.File, d.From, d.To, d.err)
}

// Unwrap returns the error because of which it does not.
func (d *DamageError) Unwrap() error { return d.err }

func (p *Part) damaged(from, to int64, err error) error {
	return &DamageError{PartName(p.at.Log, p.Number), p.Off + from, p.Off + to, err}
}

// find looks whether the part is there.
func (p *Part) find() {
	x := p.at.Dir
	fi, err := x.Root.FS.Stat(x.Path(PartName(p.at.Log, p.Number)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.gone = errNoPart
	case err != nil:
		p.gone = err
	case !fi.Mode().IsRegular():
		p.gone = errors.New("it is not a regular file")
	}
	if p.gone != nil && p.gone != errNoPart {
		x.Root.Logger.Error("open sealed part", "session", x.ID(), "log", p.at.Log, "part", p.Number, "err", p.gone)
	}
}

var errNoPart = errors.New("it does not exist")

// WithFile calls do with the part's file. An error that is ctxabi.ErrNoFiles or ErrNotFound (of the
// session) is no damage of the part.
func (p *Part) WithFile(do func(f vfs.File) error) error {
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

func (p *Part) open() (vfs.File, error) {
	x := p.at.Dir
	x.Root.Moving.RLock()
	defer x.Root.Moving.RUnlock()
	if x.Removed() {
		return nil, ctxabi.E("read", p.at.Log, ctxabi.ErrNotFound, "the session was removed")
	}
	f, _, err := vfs.OpenRegular(x.Root.FS, x.Path(PartName(p.at.Log, p.Number)), os.O_RDONLY)
	return f, err
}

// passes reports whether err is no damage of a part, but a failure that may be over at the next read.
func passes(err error) bool {
	return errors.Is(err, ctxabi.ErrNoFiles) || errors.Is(err, ctxabi.ErrNotFound)
}

// table knows where the frames are. One that is damaged is made up from the frames themselves as
// far as they go. It fails as [Part.WithFile] does where that is no damage, and is tried again
// then.
func (p *Part) table() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tabled {
		return nil
	}
	var frames []Frame
	odd := p.WithFile(func(f vfs.File) error {
		fi, err := f.Stat()
		if err != nil {
			return err
		}
		m, err := ReadMeta(f, fi.Size())
		if err == nil && (m.SHA256 != p.SHA256 || m.Size != p.Size) {
			err = fmt.Errorf("its bytes are not those that were sealed")
		}
		if err == nil {
			frames = m.Frames
		} else if !passes(err) {
			frames = p.known(WalkFrames(f, fi.Size()))
		}
		return err
	})
	if passes(odd) {
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

// known returns those of the frames in front that are the part's: a frame that is whole may still
// be another one.
func (p *Part) known(frames []Frame) []Frame {
	for i := range frames {
		if len(p.Sums) < (i+1)*frameSum || frames[i].SHA256[:frameSum] != p.Sums[i*frameSum:(i+1)*frameSum] {
			return frames[:i]
		}
	}
	return frames
}

// frameAt returns the number of the frame that holds the byte at off of the part; len(frames) when
// none does. The table was read.
func (p *Part) frameAt(off int64) int {
	return sort.Search(len(p.frames), func(i int) bool { return p.raw[i+1] > off })
}

// frame reads and checks a frame.
func (p *Part) frame(i int) ([]byte, error) {
	f := &p.frames[i]
	b := make([]byte, f.Packed)
	err := p.WithFile(func(file vfs.File) error { return vfs.ReadFull(file, b, p.packed[i]) })
	if err == nil {
		b, err = f.Inflate(b)
	}
	if passes(err) {
		return nil, err
	}
	if err != nil {
		return nil, p.damaged(p.raw[i], p.raw[i+1], err)
	}
	return b, nil
}

// ReadAt reads the part's bytes; off is within it. It returns io.EOF at the end of the part, and a
// [DamageError] for a frame that is damaged.
func (p *Part) ReadAt(b []byte, off int64) (n int, err error) {
	if err := p.table(); err != nil {
		return 0, err
	}
	for n < len(b) && off < p.Size {
		i := p.frameAt(off)
		if i == len(p.frames) {
			return n, p.damaged(p.raw[i], p.Size, p.why())
		}
		raw, err := p.at.Frames.get(p, i)
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

func (p *Part) why() error {
	if p.odd != nil {
		return p.odd
	}
	return io.ErrUnexpectedEOF
}

// NewPart returns a part that nobody looked for yet.
func NewPart(at *Location, e Entry) *Part { return &Part{at: at, Entry: e} }

// CheckIn is check of a part that lies in f.
func (p *Part) CheckIn(f vfs.File, yield func(raw []byte, err error) bool) {
	p.file = f
	defer func() { p.file = nil }()
	p.check(yield)
}

// check reads all of the part and yields its bytes, frame by frame, or what is wrong with them.
func (p *Part) check(yield func(raw []byte, err error) bool) {
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

// standIn fills b, from off of the part on, with something of the form of the bytes that a damaged
// frame held, and says how much of it. It has as many lines, as far as that is known, so that those
// behind it keep their numbers.
func (p *Part) standIn(b []byte, off int64) int {
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

// Cache holds the frames that were decompressed last. Its zero value is empty.
type Cache struct {
	mu     sync.Mutex
	frames lru.Cache[frameKey, *heldFrame] // with their bytes; guarded by mu
}

// maxFrameCache is how many bytes of inflated frames a store keeps.
const maxFrameCache = 8 << 20

type frameKey struct {
	part  *Part
	frame int
}

type heldFrame struct {
	once sync.Once
	raw  []byte
	err  error
}

// get returns a frame. Whoever asks for one that is on its way waits for it.
func (c *Cache) get(p *Part, i int) ([]byte, error) {
	key := frameKey{p, i}
	c.mu.Lock()
	h, ok := c.frames.Get(key)
	if !ok {
		h = &heldFrame{}
		c.frames.Put(key, h, int64(p.frames[i].Raw))
		c.frames.Trim(maxFrameCache, nil)
	}
	c.mu.Unlock()
	h.once.Do(func() { h.raw, h.err = p.frame(i) })
	if h.err != nil { // it is not remembered
		c.mu.Lock()
		if kept, _ := c.frames.Peek(key); kept == h {
			c.frames.Remove(key)
		}
		c.mu.Unlock()
	}
	return h.raw, h.err
}

// forget drops the frames of a part that is closed.
func (c *Cache) forget(p *Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range p.frames {
		c.frames.Remove(frameKey{p, i})
	}
}

// IsDamage reports whether an error of reading a log is damage of what is stored: other records of
// it can be read.
func IsDamage(err error) bool {
	var bad *DamageError
	return errors.As(err, &bad)
}
