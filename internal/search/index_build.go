package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// save writes the tails as segments, merges what is due and no larger than most, and then the manifest; work is held.
func (n *index) save(ctx context.Context, most int64) error {
	n.mu.Lock()
	parts, next := n.parts, n.next
	n.mu.Unlock()
	var merged []*segment
	for i := range parts {
		p := &parts[i]
		p.segments = slices.Clone(p.segments)
		if p.tail != nil && p.tail.n > 0 {
			s, err := n.write(&next, func(to io.Writer) error { return p.tail.writeTo(to) })
			if err != nil {
				return err
			}
			p.segments = append(p.segments, s)
			p.records += s.n
			p.bytes += s.bytes
		}
		p.tail, p.last = nil, nil
		for k := due(p.segments); k > 0; k = due(p.segments) {
			old := p.segments[len(p.segments)-k:]
			size := int64(0)
			for _, s := range old {
				size += s.size
			}
			if size > most {
				break
			}
			s, err := n.merge(ctx, &next, old)
			if errors.Is(err, ctxabi.ErrNoMemory) {
				break // more segments are slower to search, and no less complete
			}
			if err != nil {
				return err
			}
			merged = append(merged, old...)
			p.segments = append(p.segments[:len(p.segments)-k], s)
		}
	}
	m := manifest{Version: version, Terms: compress.TermsVersion, Next: next}
	for i, p := range parts {
		head, err := logOf(n.x, i).HeadAt(p.bytes)
		if err != nil {
			return err
		}
		m.Logs[i] = manifestPart{Records: p.records, Bytes: p.bytes, Head: head}
		for _, s := range p.segments {
			m.Logs[i].Segments = append(m.Logs[i].Segments, manifestSegment{s.name, s.first, s.n, s.size})
		}
	}
	if err := n.x.SetDerived(manifestFile, mustJSON(m)); err != nil {
		return err
	}
	n.mu.Lock()
	n.parts, n.next, n.merged = parts, next, append(n.merged, merged...)
	n.mu.Unlock()
	n.removeMerged()
	return nil
}

// write writes a segment under the next number.
func (n *index) write(next *int, fill func(io.Writer) error) (*segment, error) {
	name := segmentName(*next)
	w, err := n.x.CreateDerived(name)
	if err != nil {
		return nil, err
	}
	if err := fill(w); err != nil {
		w.Abort()
		return nil, err
	}
	if err := w.Commit(); err != nil {
		return nil, err
	}
	*next++
	f, size, err := n.x.OpenDerived(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := openSegment(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.name = name
	return s, nil
}

func (n *index) merge(ctx context.Context, next *int, old []*segment) (*segment, error) {
	records := 0
	for _, s := range old {
		records += s.n
	}
	release, err := n.spare(int64(2*rowSize*records + mergeWork))
	if err != nil {
		return nil, err
	}
	defer release()
	readers := make([]io.ReaderAt, len(old))
	for i, s := range old {
		r, c, err := s.reader(n.x)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		readers[i] = r
	}
	return n.write(next, func(to io.Writer) error { return merge(ctx, to, old, readers) })
}

// build starts the builder of this session and gives what is closed when it ends.
func (n *index) build() chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.building != nil {
		return n.building
	}
	n.building = make(chan struct{})
	n.e.use(n)
	if !n.e.start(func(ctx context.Context) { n.construct(ctx); n.e.release(n) }) {
		done := n.building
		close(done)
		n.building = nil
		n.e.release(n)
		return done
	}
	return n.building
}

// construct is the work of a builder, which building says is there.
func (n *index) construct(ctx context.Context) {
	err := n.fill(ctx)
	n.mu.Lock()
	if errors.Is(err, errDamaged) {
		n.discard(err.Error())
	}
	close(n.building)
	n.building = nil
	switch {
	case err == nil:
		n.failed = ""
	case errors.Is(err, ctxabi.ErrNoSpace):
		n.failed = "the disk is full"
	case errors.Is(err, ctxabi.ErrNoMemory):
		if n.failed != noMemory {
			n.failed = noMemory
			defer n.x.Report(session.RowOf("search", ctxabi.SearchDir, 0, err))
		}
	case ctx.Err() == nil:
		n.failed = "the disk failed, see the daemon's log"
	}
	n.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		n.e.log.Warn("search index", "session", n.x.ID(), "err", err)
	}
	n.e.grown(n)
}

// fill is what the builder does: it reads on in chunks, each of which is there to be searched once it is read.
func (n *index) fill(ctx context.Context) error {
	n.work <- struct{}{}
	defer func() { <-n.work }()
	for {
		v, rest, _, err := n.look()
		if err != nil {
			return err
		}
		v.close()
		n.mu.Lock()
		parts := n.parts
		n.mu.Unlock()
		if rest == 0 || n.e.c.ReadOnly && ctx.Err() != nil {
			break
		}
		release, err := n.fillTails(ctx, v, &parts)
		if err != nil {
			n.forgetTails()
			return err
		}
		if n.e.c.ReadOnly {
			n.keepInMemory(parts)
			release()
			continue
		}
		n.mu.Lock()
		for i := range parts {
			n.parts[i].tail = parts[i].tail // last stays: it has fewer records, and counts until the segment is there
		}
		n.mu.Unlock()
		err = n.save(ctx, 1<<62)
		release()
		if err != nil {
			n.forgetTails()
			return err
		}
	}
	if n.e.c.ReadOnly {
		return nil
	}
	n.mu.Lock()
	late := due(n.parts[0].segments) > 0 || due(n.parts[1].segments) > 0
	n.mu.Unlock()
	if late {
		return n.save(ctx, 1<<62)
	}
	return nil
}

// fillTails reads the next records of both logs into the tails of parts. They take memory until release.
func (n *index) fillTails(ctx context.Context, v *view, parts *[2]part) (release func(), err error) {
	chunk := min(chunkBytes, max(n.e.c.Limit.Share(8*chunkBytes)/8, 1<<20))
	need := int64(0)
	for i := range parts {
		ix, err := v.index(i)
		if err != nil {
			return nil, err
		}
		need += bytesOfChunk * (min(int64(chunk), ix.Size()-parts[i].size()) + int64(ix.Longest()))
	}
	if release, err = n.spare(need); err != nil {
		return nil, err
	}
	for i := range parts {
		p := &parts[i]
		if p.tail == nil {
			p.tail = newChunk(i == 1, p.records+1)
		}
		ix, err := v.index(i)
		if err == nil {
			err = n.readInto(ctx, p.tail, ix, v.all[i], int64(chunk))
		}
		if err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// What work on an index takes of memory, about.
const (
	bytesOfChunk = 5       // for each byte of the records of a chunk
	mergeWork    = 4 << 20 // of a merge, beside the rows
)

// noMemory is why an index is behind that there is no memory for.
const noMemory = "there is not enough memory"

// spare keeps memory free for a builder; see [memory.Limit].
func (n *index) spare(need int64) (release func(), err error) {
	return n.e.c.Limit.Spare("search", ctxabi.SearchDir, need)
}

// keepInMemory makes segments of the tails where nothing may be written.
func (n *index) keepInMemory(parts [2]part) {
	for i := range parts {
		p := &parts[i]
		if p.tail == nil || p.tail.n == 0 {
			continue
		}
		s, err := p.tail.segment()
		if err != nil {
			continue
		}
		p.segments = append(slices.Clone(p.segments), s)
		p.records, p.bytes = p.records+s.n, p.bytes+s.bytes
		p.tail, p.last = nil, nil
	}
	n.mu.Lock()
	n.parts = parts
	n.mu.Unlock()
}
