package blob

import (
	"slices"

	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
)

// SegmentState is the result of reading all packs of a segment.
type SegmentState struct {
	Lost    []string // the ids of packs that are damaged
	Size    int64    // bytes of its whole frames
	Torn    bool     // it has more bytes than these
	Unended int      // packs that do not end in a newline
	Whole   []byte   // the packs that are whole, as a segment; nil: none is
}

// ReadSegment reads all packs of a segment of the session in x. It returns the error of a segment
// that cannot be read.
func ReadSegment(x *disk.Dir, number int) (*SegmentState, error) {
	g := &segment{number: number}
	if err := g.load(x); err != nil {
		return nil, err
	}
	state := &SegmentState{Size: g.size, Torn: g.torn}
	good := &segment{number: number}
	for i := range g.frames {
		data, err := g.readFrame(x, i)
		if err != nil {
			state.Lost = append(state.Lost, g.frames[i].ID)
			continue
		}
		h := frame{At: g.frames[i].At, ID: g.frames[i].ID, SHA256: g.frames[i].SHA256, Size: len(data), Tokens: g.frames[i].Tokens, Redact: g.frames[i].Redact}
		if len(good.frames) > 0 {
			h.Cut, h.Tail = common(good.end, data)
		}
		bytes, err := h.encode(data)
		if err != nil {
			return nil, err
		}
		state.Whole = append(state.Whole, bytes...)
		good.frames, good.end = append(good.frames, h), data
	}
	raw, err := vfs.ReadFile(x.Root.FS, x.Path(g.path()))
	if err != nil {
		return nil, err
	}
	for _, h := range g.frames {
		if end := h.off + int64(h.Len); end < int64(len(raw)) && raw[end] != '\n' {
			state.Unended++
		}
	}
	return state, nil
}

// Missing returns the ids of packs that rows name and that are not kept.
func (s *Served) Missing() (gone []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rows {
		if g, _ := s.find(r.id); g == nil && !slices.Contains(gone, r.id) {
			gone = append(gone, r.id)
		}
	}
	return gone
}
