package blob

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Pack is a pack that is kept.
type Pack struct {
	ID     string    // "sha256-<hex>"
	SHA256 string    // hex, of its pack.md
	Size   int       // bytes of it
	Stored int       // bytes that it takes on the disk
	Tokens int       // of it
	Redact string    // of its row
	First  time.Time // when it was read first
	Last   time.Time // when it was read again last, after another one was
}

// Served stores the packs of a session that were read. The rows of packs.jsonl are in
// .ctxfs/served/rows, the packs themselves in segments in the same directory (served_segment.go).
// Nothing is synced: after a loss of power, an incomplete row or pack is ignored.
//
// It is safe for concurrent use. All users of one session share one value.
type Served struct {
	dir *disk.Dir
	ttl func() time.Duration // how long what was read is kept; 0: for ever

	mu       sync.Mutex // guards all that follows
	rows     []servedAt
	size     int64 // bytes of the rows
	dropped  int64 // bytes of rows that were dropped since it was loaded
	torn     bool  // the file is longer than size
	segments []*segment
	last     []byte // pack.md of the last row; nil: not read yet
	readOnly []byte // the rows, where the file has damaged ones between them and is not to be changed
}

// servedAt is what is remembered of a row.
type servedAt struct {
	at  time.Time
	id  string
	end int64 // in the file
}

const (
	ServedDir  = ctxabi.InternalDir + "/served"
	ServedRows = ServedDir + "/rows"
)

// LoadServed reads the packs of the session in x that were read. They are kept for ttl. It returns
// the error of the disk.
func LoadServed(x *disk.Dir, ttl func() time.Duration) (*Served, error) {
	s := &Served{dir: x, ttl: ttl}
	if err := s.load(); err != nil {
		return nil, err
	}
	return s, nil
}

// load reads the rows and the headers of what is kept.
func (s *Served) load() error {
	x := s.dir
	x.Root.Move.RLock()
	defer x.Root.Move.RUnlock()
	data, err := vfs.ReadFile(x.Root.FS, x.Path(ServedRows))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return vfs.Failed("read", ctxabi.PacksFile, err, "it cannot be read")
	}
	good := data[:0:0]
	for line := range bytes.Lines(data) {
		if r, ok := ParseRow(line); ok {
			good = append(good, line...)
			s.rows = append(s.rows, servedAt{r.At, r.PackID, int64(len(good))})
		}
	}
	s.size = int64(len(good))
	s.torn = s.size < int64(len(data))
	if !bytes.HasPrefix(data, good) { // a damaged row stands between others
		if !x.Root.ReadOnly {
			if err := x.ReplaceDamaged(ServedRows, good, 0o600); err != nil {
				return err
			}
			s.torn = false
		} else {
			s.readOnly = good
		}
	}
	s.segments, err = loadSegments(x)
	return err
}

// Rows returns packs.jsonl, and where it begins in all that it held since start, for
// [Served.RowsFrom]. It returns the error of the disk.
func (s *Served) Rows() (data []byte, begin int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir.Root.Move.RLock()
	defer s.dir.Root.Move.RUnlock()
	data, err = s.read(0)
	return data, s.dropped, err
}

// RowsFrom returns the rows behind a place, as [Served.Rows] counts; none when it was dropped
// meanwhile. It returns the error of the disk.
func (s *Served) RowsFrom(at int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at -= s.dropped; at < 0 || at >= s.size {
		return nil, nil
	}
	s.dir.Root.Move.RLock()
	defer s.dir.Root.Move.RUnlock()
	return s.read(at)
}

// read returns the rows from an offset of the file on. s.mu and Root.Move are held.
func (s *Served) read(from int64) ([]byte, error) {
	if s.readOnly != nil {
		return s.readOnly[from:], nil
	}
	b := make([]byte, s.size-from)
	if len(b) == 0 {
		return nil, nil
	}
	f, err := s.dir.Root.FS.OpenFile(s.dir.Path(ServedRows), os.O_RDONLY, 0)
	if err == nil {
		defer f.Close()
		err = vfs.ReadFull(f, b, from)
	}
	if err != nil {
		return nil, vfs.Failed("read", ctxabi.PacksFile, err, "it cannot be read")
	}
	return b, nil
}

// Size is how long packs.jsonl is, and when it changed last.
func (s *Served) Size() (int64, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.rows); n > 0 {
		return s.size, s.rows[n-1].at
	}
	return 0, s.dir.Created()
}

// Last returns the id and pack.md of the last row; "" when there is none, and
// nil bytes when they are not kept.
func (s *Served) Last() (id string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) == 0 {
		return "", nil
	}
	id, data = s.rows[len(s.rows)-1].id, s.last
	if g, i := s.find(id); data == nil && g != nil {
		s.dir.Root.Move.RLock()
		defer s.dir.Root.Move.RUnlock()
		data, _ = g.readFrame(s.dir, i)
		s.last = held(data)
	}
	return id, data
}

// find returns where the pack is kept; a nil segment when it is not. s.mu is held.
func (s *Served) find(id string) (g *segment, frame int) {
	for k := len(s.segments) - 1; k >= 0; k-- {
		for i := len(s.segments[k].frames) - 1; i >= 0; i-- {
			if s.segments[k].frames[i].ID == id {
				return s.segments[k], i
			}
		}
	}
	return nil, 0
}

// Pack returns what the pack's pack.md held. It fails with ctxabi.ErrNotFound when it is not kept,
// and with ctxabi.ErrIO when these are not the bytes any more.
func (s *Served) Pack(id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, i := s.find(id)
	if g == nil || !s.listed(id) {
		return nil, ctxabi.E("read", ctxabi.ServedDir, ctxabi.ErrNotFound, "there is no pack %s", id)
	}
	s.dir.Root.Move.RLock()
	defer s.dir.Root.Move.RUnlock()
	return g.readFrame(s.dir, i)
}

// listed reports whether a row names the pack. s.mu is held.
func (s *Served) listed(id string) bool {
	for i := len(s.rows) - 1; i >= 0; i-- {
		if s.rows[i].id == id {
			return true
		}
	}
	return false
}

// Packs returns the stored packs that have a row, in the order in which they were first read.
func (s *Served) Packs() []Pack {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := map[string]*frame{}
	for _, g := range s.segments {
		for i := range g.frames {
			kept[g.frames[i].ID] = &g.frames[i]
		}
	}
	var list []Pack
	at := map[string]int{}
	for _, r := range s.rows {
		f := kept[r.id]
		if f == nil {
			continue
		}
		i, ok := at[r.id]
		if !ok {
			i = len(list)
			at[r.id] = i
			list = append(list, Pack{ID: r.id, SHA256: f.SHA256, Size: f.Size, Stored: f.stored(), Tokens: f.Tokens, Redact: f.Redact, First: r.at})
		}
		list[i].Last = r.at
	}
	return list
}

// Find returns the pack id; ok is false if it is not stored or has no row.
func (s *Served) Find(id string) (p Pack, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, i := s.find(id)
	if g == nil {
		return p, false
	}
	f := &g.frames[i]
	p = Pack{ID: id, SHA256: f.SHA256, Size: f.Size, Stored: f.stored(), Tokens: f.Tokens, Redact: f.Redact}
	for _, r := range s.rows {
		if r.id != id {
			continue
		}
		if !ok {
			p.First, ok = r.at, true
		}
		p.Last = r.at
	}
	return p, ok
}
