package blob

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Packs that follow one another share most of their bytes. A segment,
// .ctxfs/served/<number>, is a file of frames: the first holds a pack.md whole,
// each further one what it has in its middle that the frame before it has not:
//
//	{"at":"…","cut":0,"id":"sha256-…","len":412,"sha256":"…","size":412,"tail":0,"tokens":98,"crc":"…"}
//	<412 bytes>
//	{"at":"…","cut":371,"id":"sha256-…","len":120,"sha256":"…","size":502,"tail":11,"tokens":119,"crc":"…"}
//	<120 bytes>
//
// The second pack is the first 371 bytes of the first one, these 120, and its last 11. A frame ends
// in a newline of its own, and is written by one write. It is only appended to; a segment whose end
// is torn is not continued. A new one begins where less than half of a pack is known, and often
// enough that old ones can be removed whole.
type segment struct {
	number int
	size   int64 // bytes of its whole frames
	torn   bool  // it has more, or could not be continued
	frames []frame
	end    []byte // what its last pack holds; nil: not read yet
}

// frame is the header of one pack.
type frame struct { // in the order of the keys
	At     time.Time `json:"at"`
	Cut    int       `json:"cut"`
	ID     string    `json:"id"`
	Len    int       `json:"len"`
	Redact string    `json:"redact,omitempty"`
	SHA256 string    `json:"sha256"`
	Size   int       `json:"size"`
	Tail   int       `json:"tail"`
	Tokens int       `json:"tokens"`

	off  int64 // of its bytes, in the file
	head int   // bytes of its header
}

// Limits of a segment. Whoever reads a pack reads all in front of it.
const (
	maxFrames      = 256
	maxSegment     = 1 << 20 // bytes of frames behind the first, or four times that one's
	segmentsOfAge  = 8       // so many begin in the time that packs are kept
	maxFrameHeader = 1024
)

// stored is how many bytes the frame takes.
func (f *frame) stored() int { return f.head + f.Len + 1 }

func (f *frame) valid() bool {
	return f.Cut >= 0 && f.Len >= 0 && f.Tail >= 0 && f.Size == f.Cut+f.Len+f.Tail && len(f.SHA256) == 2*sha256.Size && ctxabi.ParseContentID(f.ID) == nil
}

func (g *segment) path() string { return ServedDir + "/" + strconv.Itoa(g.number) }

// names reports whether one of the segment's packs is among named.
func (g *segment) names(named map[string]bool) bool {
	return slices.ContainsFunc(g.frames, func(f frame) bool { return named[f.ID] })
}

// common returns how many bytes two texts have in common in front, and at the end of what is left.
func common(a, b []byte) (front, end int) {
	most := min(len(a), len(b))
	for front < most && a[front] == b[front] {
		front++
	}
	for end < most-front && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return front, end
}

// next returns the pack of a frame from that of the one before; false when they do not belong together.
func (f *frame) next(before, middle []byte) ([]byte, bool) {
	if f.Cut > len(before) || f.Tail > len(before)-f.Cut || len(middle) != f.Len {
		return nil, false
	}
	return slices.Concat(before[:f.Cut], middle, before[len(before)-f.Tail:]), true
}

// loadSegments finds the segments and reads the headers of their frames. Root.Move is held.
func loadSegments(x *disk.Dir) (list []*segment, err error) {
	entries, err := x.Root.FS.ReadDir(x.Path(ServedDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, vfs.Failed("read", ctxabi.ServedDir, err, "it cannot be listed")
	}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil || n < 1 || strconv.Itoa(n) != e.Name() || !e.Type().IsRegular() {
			continue
		}
		g := &segment{number: n}
		if err := g.load(x); err != nil {
			return nil, vfs.Failed("read", ctxabi.ServedDir, err, "the stored packs cannot be read")
		}
		if len(g.frames) > 0 {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b *segment) int { return a.number - b.number })
	return list, nil
}

func (g *segment) load(x *disk.Dir) error {
	f, err := x.Root.FS.OpenFile(x.Path(g.path()), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	buf := make([]byte, maxFrameHeader)
	for g.size < fi.Size() {
		n, err := f.ReadAt(buf, g.size)
		if err != nil && err != io.EOF {
			return err
		}
		var h frame
		i := bytes.IndexByte(buf[:n], '\n')
		if i < 0 || !vfs.SumFits(buf[:i], &h) || !h.valid() || len(g.frames) == 0 && h.Cut+h.Tail > 0 {
			break
		}
		h.head, h.off = i+1, g.size+int64(i)+1
		end := h.off + int64(h.Len) + 1
		if end > fi.Size() {
			break
		}
		g.frames, g.size = append(g.frames, h), end
	}
	g.torn = g.size < fi.Size()
	return nil
}

// readFrame returns the pack of a frame, checked. Root.Move is held.
func (g *segment) readFrame(x *disk.Dir, i int) ([]byte, error) {
	bad := func(err error) error {
		return vfs.Failed("read", ctxabi.ServedDir+"/"+g.frames[i].ID+".md", err, "the store no longer has it with the bytes that were read")
	}
	f, err := x.Root.FS.OpenFile(x.Path(g.path()), os.O_RDONLY, 0)
	if err != nil {
		return nil, bad(err)
	}
	defer f.Close()
	last := &g.frames[i]
	raw := make([]byte, last.off+int64(last.Len))
	if err := vfs.ReadFull(f, raw, 0); err != nil {
		return nil, bad(err)
	}
	var data []byte
	for k := range g.frames[:i+1] {
		h, ok := &g.frames[k], false
		if data, ok = h.next(data, raw[h.off:h.off+int64(h.Len)]); !ok {
			return nil, bad(errors.New("its parts do not fit together"))
		}
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != last.SHA256 {
		return nil, bad(fmt.Errorf("its SHA-256 is %x, not %s", sum, last.SHA256))
	}
	return data, nil
}

// keep stores a pack. s.mu and Root.Move are held.
func (s *Served) keep(row *Row, data []byte, ttl time.Duration) error {
	sum := sha256.Sum256(data)
	h := frame{At: row.At, ID: row.PackID, SHA256: hex.EncodeToString(sum[:]), Size: len(data), Tokens: row.Tokens, Redact: row.Redact}
	g := s.current(row.At, data, ttl, &h)
	whole, err := h.encode(data)
	if err != nil {
		return err
	}
	h.off = g.size + int64(h.head)
	if g.torn, err = vfs.AppendTo(s.dir.Root.FS, s.dir.Path(g.path()), g.size, g.torn, whole); err != nil {
		return vfs.Failed("serve", ctxabi.ServedDir, err, "packs that are read are not stored")
	}
	if len(g.frames) == 0 {
		s.segments = append(s.segments, g)
	}
	g.size += int64(len(whole))
	g.frames, g.end = append(g.frames, h), held(data)
	return nil
}

// encode returns the frame of a pack, of which cut and tail are known.
func (f *frame) encode(data []byte) ([]byte, error) {
	f.Len = f.Size - f.Cut - f.Tail
	head, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	head = append(vfs.Summed(head), '\n')
	f.head = len(head)
	return slices.Concat(head, data[f.Cut:f.Cut+f.Len], []byte{'\n'}), nil
}

// current returns the segment for a pack, a new one where the last cannot take it, and notes in h
// what of the pack is known there.
func (s *Served) current(now time.Time, data []byte, ttl time.Duration, h *frame) *segment {
	number := 1
	if n := len(s.segments); n > 0 {
		g := s.segments[n-1]
		number = g.number + 1
		first := &g.frames[0]
		full := g.torn || len(g.frames) >= maxFrames || g.size > int64(first.stored()+max(maxSegment, 4*first.Len)) ||
			ttl > 0 && first.At.Before(now.Add(-ttl/segmentsOfAge))
		if !full {
			before := g.end
			if before == nil {
				before, _ = g.readFrame(s.dir, len(g.frames)-1)
			}
			if front, end := common(before, data); front+end > 0 && front+end >= len(data)/2 {
				h.Cut, h.Tail = front, end
				return g
			}
		}
		g.end = nil
	}
	return &segment{number: number, torn: true} // whatever lies under that name is not ours
}
