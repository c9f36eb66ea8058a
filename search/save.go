package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/segment"
	"github.com/ctxfs/ctxfs/session"
)

// save writes the tail as a segment, merges the segments that are due and no larger than most, and then
// writes the manifest; work is held. Where it fails, nothing has changed.
func (n *index) save(ctx context.Context, most int64) error {
	return n.commit(ctx, most, nil, nil)
}

// saving is a save that is under way.
type saving struct {
	n        *index
	live     *roster
	segments []*segment.Segment // as they are to be
	made     []*segment.Segment // of these
	merged   []*segment.Segment // that are to go
}

func (s *saving) add(one *segment.Segment) {
	if one != nil {
		s.made, s.segments = append(s.made, one), append(s.segments, one)
	}
}

// commit is save with a segment, which may be nil, in the place of old ones that stand side by side:
// with nothing, where these are not there any more.
func (n *index) commit(ctx context.Context, most int64, old []*segment.Segment, by *segment.Segment) (err error) {
	n.mu.Lock()
	s := &saving{n: n, segments: slices.Clone(n.segments), live: n.rosterNow(), merged: slices.Clone(old)}
	n.mu.Unlock()
	if by != nil {
		s.made = append(s.made, by)
	}
	defer func() {
		if err != nil {
			s.undo()
		}
	}()
	if len(old) > 0 {
		at := slices.Index(s.segments, old[0])
		if at < 0 || len(s.segments)-at < len(old) || !slices.Equal(s.segments[at:at+len(old)], old) {
			s.undo()
			return nil
		}
		s.segments = slices.Replace(s.segments, at, at+len(old), s.made...)
	}
	if n.tail != nil && n.tail.N > 0 {
		one, err := n.flush(ctx, s.live.keep)
		if err != nil {
			return err
		}
		s.add(one)
	}
	if err := s.merge(ctx, most); err != nil {
		return err
	}
	fresh := n.stamp()
	m, unsaved := s.manifest(fresh)
	if err := n.files.SetDerived(manifestFile, m.encode()); err != nil {
		return err
	}
	n.mu.Lock()
	n.segments, n.merged = s.segments, append(n.merged, s.merged...)
	n.tail, n.staged, n.last, n.torn = nil, nil, nil, false
	n.unsaved -= unsaved
	for number, t := range fresh {
		if k := n.sessions[number]; k != nil {
			saved := *k
			saved.logs, saved.stamped = t.logs, true
			n.set(&saved)
			n.whole(number, t.mark)
		}
	}
	n.mu.Unlock()
	n.removeMerged()
	return nil
}

// undo removes the files that were made in vain.
func (s *saving) undo() {
	for _, one := range s.made {
		s.n.files.RemoveDerived(one.Name)
	}
}

// merge merges the last segments as long as that is due, and they are no larger than most.
func (s *saving) merge(ctx context.Context, most int64) error {
	for k := segment.Due(s.segments); k > 0; k = segment.Due(s.segments) {
		few := s.segments[len(s.segments)-k:]
		size := int64(0)
		for _, one := range few {
			size += one.Size
		}
		if size > most {
			return nil
		}
		one, err := s.n.merge(ctx, few, s.live.keep)
		if errors.Is(err, ctxabi.ErrNoMemory) {
			return nil // more segments are slower to search, and no less complete
		}
		if err != nil {
			return err
		}
		s.merged = append(s.merged, few...)
		s.segments = slices.Clone(s.segments[:len(s.segments)-k])
		s.add(one)
	}
	return nil
}

// manifest returns the manifest to write, with the sessions of fresh in place of their present state, and the
// number of changes of sessions that it includes.
func (s *saving) manifest(fresh map[uint32]*staged) (m manifest, unsaved int) {
	n := s.n
	n.mu.Lock()
	defer n.mu.Unlock()
	m = manifest{next: n.next, number: n.number}
	for _, one := range s.segments {
		m.segments = append(m.segments, manifestSegment{one.Name, one.Size})
	}
	for number, k := range n.sessions {
		if f := fresh[number]; f != nil {
			k = &known{number: number, ref: k.ref, id: k.id, logs: f.logs}
		}
		if k.id != "" {
			m.sessions = append(m.sessions, k)
		}
	}
	slices.SortFunc(m.sessions, func(a, b *known) int { return cmp.Compare(a.number, b.number) })
	return m, n.unsaved
}

// keep reports whether a run is of a session that is there.
func (r *roster) keep(of *segment.Run) bool { return r.all[of.Of] != nil }

// flush writes the tail as a segment, without sessions that are there no more; nil if none is left.
func (n *index) flush(ctx context.Context, keep func(*segment.Run) bool) (*segment.Segment, error) {
	if !n.tail.HasOther(keep) {
		return n.write(func(to io.Writer) error { return n.tail.Write(to) })
	}
	s, err := n.tail.Segment()
	if err != nil {
		return nil, err
	}
	return n.merge(ctx, []*segment.Segment{s}, keep)
}

// stamp returns the state that sessions will have once the tail is on the disk: those of which the index
// has more records than the manifest, or other stamps. work is held.
func (n *index) stamp() map[uint32]*staged {
	fresh := map[uint32]*staged{}
	n.mu.Lock()
	all := maps.Clone(n.sessions)
	n.mu.Unlock()
	for number, k := range all {
		t := n.staged[number]
		if t == nil && (k.stamped || k.x == nil || !k.fits) {
			continue
		}
		if t == nil {
			t = &staged{logs: k.logs}
		}
		out := *t
		stamps, failed := n.e.store.Stamps(k.ref)
		for i := range out.logs {
			l, log := &out.logs[i], logOf(k.x, i)
			l.inFiles, l.stamp = knownPart{l.records, l.bytes}, session.Stamp{}
			l.grew = log.ModTime().UnixNano()
			head, err := log.HeadAt(l.bytes)
			if err != nil {
				continue
			}
			l.head = head
			if a, err := log.Archived(); err == nil && failed == nil && a.Raw+stamps[i].Size == l.bytes {
				l.stamp = stamps[i]
			}
		}
		fresh[number] = &out
	}
	return fresh
}

// write writes a segment under the next number.
func (n *index) write(fill func(io.Writer) error) (*segment.Segment, error) {
	n.mu.Lock()
	name := segmentName(n.next)
	n.next++
	n.mu.Unlock()
	w, err := n.files.CreateDerived(name)
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
	f, size, err := n.files.OpenDerived(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := segment.Open(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.Name = name
	return s, nil
}

// merge writes one segment of several, without the runs that keep reports false for; nil if none is
// left.
func (n *index) merge(ctx context.Context, old []*segment.Segment, keep func(*segment.Run) bool) (*segment.Segment, error) {
	records := 0
	for _, s := range old {
		for i := range s.Runs {
			if keep(&s.Runs[i]) {
				records += s.Runs[i].N
			}
		}
	}
	if records == 0 {
		return nil, nil
	}
	release, err := n.spare(int64(2*segment.RowSize*records + mergeWork))
	if err != nil {
		return nil, err
	}
	defer release()
	readers := make([]io.ReaderAt, len(old))
	for i, s := range old {
		r, c, err := readerOf(n.files, s)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		readers[i] = r
	}
	return n.write(func(to io.Writer) error { return segment.Merge(ctx, to, old, readers, keep) })
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
