package search

import (
	"context"
	"errors"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/document"
	"github.com/ctxfs/ctxfs/search/segment"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

// look returns what there is to search of one session, and how many bytes of its logs are not in it.
// The logs' own indexes are read only where something is missing. The snapshot is to be closed.
func (n *index) look(x *session.Session) (s *snapshot, rest int64, err error) {
	for {
		k, err := n.admit(x)
		if err != nil {
			return nil, 0, err
		}
		n.mu.Lock()
		mark := n.stale[k.number]
		n.mu.Unlock()
		x.Disk().Seen()
		var ix [2]*log.Index
		for i := range ix {
			l := logOf(x, i)
			if err := l.Open(); err != nil {
				return nil, 0, err
			}
			if k.logs[i].bytes < l.Len() {
				if ix[i], err = l.Index(); err != nil {
					return nil, 0, err
				}
			}
		}
		n.mu.Lock()
		now := n.sessions[k.number]
		if now == nil || now.logs[0].records < k.logs[0].records || now.logs[1].records < k.logs[1].records {
			n.mu.Unlock()
			continue // somebody found it damaged meanwhile
		}
		s = n.snapshot()
		s.only, s.ix = now, ix
		for i := range ix {
			s.upTo[i] = now.logs[i].records
			s.all[i] = s.upTo[i]
			if ix[i] != nil && ix[i].Len() > s.upTo[i] {
				s.all[i] = ix[i].Len()
				rest += ix[i].Size() - now.logs[i].bytes
			}
		}
		if rest == 0 {
			n.whole(k.number, mark)
		}
		n.mu.Unlock()
		return s, rest, nil
	}
}

// view brings the index of a session up to date, as far as that is done until ctx ends, and returns
// a snapshot of it.
func (n *index) view(ctx context.Context, x *session.Session) (*snapshot, error) {
	for {
		s, rest, err := n.look(x)
		if err != nil || rest == 0 {
			return s, err
		}
		s.close()
		if rest <= inlineBytes {
			if err := n.catchUp(ctx, x, rest); err != nil {
				return nil, err
			}
			if ctx.Err() == nil {
				continue
			}
		}
		select {
		case <-n.build(s.only.number):
			now, rest, err := n.look(x)
			if err != nil || rest == 0 {
				return now, err
			}
			if rest > inlineBytes && now.upTo == s.upTo || n.e.ctx.Err() != nil { // it could not go on
				return now.behind(x)
			}
			now.close()
		case <-ctx.Done():
			if s, rest, err = n.look(x); err != nil || rest == 0 {
				return s, err
			}
			return s.behind(x)
		}
	}
}

// behind adds the newest records to a snapshot of one session that lacks some; where it cannot, it
// closes it.
func (s *snapshot) behind(x *session.Session) (_ *snapshot, err error) {
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	c := segment.NewChunk()
	for i := range s.ix {
		ix, err := indexOfLog(x, i, s.ix[i], s.all[i])
		if err != nil {
			return nil, err
		}
		first, size := s.all[i]+1, int64(0)
		for first > s.upTo[i]+1 && size < newestBytes {
			first--
			size += int64(ix.At(first).Len)
		}
		if _, err := readInto(context.Background(), c, x, i, ix, s.only.number, first, s.all[i], 1<<62); err != nil {
			return nil, err
		}
	}
	if c.N > 0 {
		newest, err := c.Segment()
		if err != nil {
			return nil, err
		}
		s.segments = append(s.segments, newest)
	}
	return s, nil
}

// indexOfLog is the index of a log that has so many records; ix, where that does.
func indexOfLog(x *session.Session, i int, ix *log.Index, least int) (*log.Index, error) {
	if ix != nil && ix.Len() >= least {
		return ix, nil
	}
	return logOf(x, i).Index()
}

// readInto adds the records of a log from one line to another, until there are so many bytes of them
// in the chunk. It returns the line behind the last one that was added, also with an error.
func readInto(ctx context.Context, c *segment.Chunk, x *session.Session, i int, ix *log.Index, of uint32, line, to int, most int64) (int, error) {
	r := document.NewReader(logOf(x, i), ix)
	log := segment.Log{Of: of, Event: i == 1}
	const readAhead = 1 << 20
	var buf []byte
	bufOff := int64(0)
	for ; line <= to && c.Bytes < most; line++ {
		if ctx.Err() != nil {
			return line, ctx.Err()
		}
		e := ix.At(line)
		if e.Offset < bufOff || e.Offset+int64(e.Len) > bufOff+int64(len(buf)) {
			size := min(max(int64(e.Len)+1, readAhead), ix.Size()-e.Offset)
			buf, bufOff = make([]byte, size), e.Offset
			if _, err := r.Log.ReadAt(buf, bufOff); archive.IsDamage(err) { // then record by record
				buf, bufOff = make([]byte, e.Len), e.Offset
				if _, err := r.Log.ReadAt(buf, bufOff); archive.IsDamage(err) {
					c.Add(log, line, segment.Record{Role: e.Role, Size: int64(e.Len) + 1}, func(func(uint64)) {}) // it says nothing any more
					buf = nil
					continue
				} else if err != nil && !errors.Is(err, io.EOF) {
					return line, err
				}
			} else if err != nil && !errors.Is(err, io.EOF) {
				return line, err
			}
		}
		d, err := r.Decode(line, buf[e.Offset-bufOff:][:e.Len])
		if archive.IsDamage(err) { // of the call that it answers
			err = nil
		}
		if err != nil {
			return line, err
		}
		c.Add(log, line, segment.Record{Role: d.Role, Tools: d.Tools, Print: d.Print, Size: int64(e.Len) + 1}, d.Terms)
	}
	return line, nil
}

// removeOld removes the index of a session alone that older programs made.
func (n *index) removeOld(x *session.Session) {
	if n.e.c.ReadOnly || len(x.DerivedNames(Dir)) == 0 {
		return
	}
	if _, _, err := x.SweepCache(Dir, func(session.Usage) (bool, error) { return true, nil }); err != nil {
		n.e.log.Debug("old search index not removed", "session", x.ID(), "err", err)
	}
}

// staged is what the tail has of a session, before it is known.
type staged struct {
	logs [2]knownLog
	mark uint64 // that it was stale by, if it has all; else 0
}

// take reads records of a session that are not indexed yet into the tail, until that has so many
// bytes, and reports whether it has all of them. publish makes them known. work is held.
func (n *index) take(ctx context.Context, x *session.Session, most int64) (whole bool, err error) {
	k, err := n.admit(x)
	if err != nil {
		return false, err
	}
	n.mu.Lock()
	mark := n.stale[k.number]
	n.mu.Unlock()
	x.Disk().Seen()
	if n.tail == nil {
		n.tail, n.staged = segment.NewChunk(), map[uint32]*staged{}
	}
	t := n.staged[k.number]
	if t == nil {
		t = &staged{logs: k.logs}
		n.staged[k.number] = t
	}
	if t.logs[0].records+t.logs[1].records == 0 {
		n.removeOld(x)
	}
	whole = true
	for i := range t.logs {
		l, log := &t.logs[i], logOf(x, i)
		if err := log.Open(); err != nil {
			return false, err
		}
		l.grew = log.ModTime().UnixNano()
		if l.bytes >= log.Len() {
			continue
		}
		ix, err := log.Index()
		if err != nil {
			return false, err
		}
		next, err := readInto(ctx, n.tail, x, i, ix, k.number, l.records+1, ix.Len(), most)
		if next > l.records+1 {
			last := ix.At(next - 1)
			l.records, l.bytes = next-1, last.Offset+int64(last.Len)+1
		}
		if err != nil {
			return false, err
		}
		whole = whole && l.records == ix.Len()
	}
	if whole {
		t.mark = mark
	}
	return whole, nil
}

// catchUp reads the records of a session that the index lacks, rest bytes, into the tail, and writes it out when it has
// grown. It does nothing if ctx ends first.
func (n *index) catchUp(ctx context.Context, x *session.Session, rest int64) error {
	select {
	case n.work <- struct{}{}:
		defer func() { <-n.work }()
	case <-ctx.Done():
		return nil
	}
	release, err := n.e.c.Limit.Reserve("search", ctxabi.SearchDir, bytesOfChunk*rest)
	if err != nil {
		return err
	}
	defer release()
	if _, err = n.take(context.Background(), x, 1<<62); err != nil {
		err = errors.Join(err, n.caughtUp())
		return err
	}
	return n.caughtUp()
}

// caughtUp makes known what was read into the tail, and writes it out when that has grown; work is
// held.
func (n *index) caughtUp() error {
	if n.tail == nil {
		return nil
	}
	n.mu.Lock()
	write := n.torn || len(n.segments) == 0 // the first one is small, and many owners have no other
	n.mu.Unlock()
	if (write || n.tail.Bytes > tailBytes) && !n.e.c.ReadOnly && n.keep() {
		return nil
	}
	err := n.publish()
	n.e.grown(n)
	return err
}

// keep is save for a search. It returns false if the tail could not be saved, for instance because the disk
// is full; the search uses the tail then. work is held.
func (n *index) keep() bool {
	err := n.save(n.e.ctx, mergeInline)
	if err != nil {
		n.e.log.Debug("search index not saved", "owner", n.of.Owner(), "err", err)
	}
	n.e.grown(n)
	return err == nil
}

// publish makes the tail a segment in memory, and known what that has; work is held.
func (n *index) publish() error {
	if n.tail == nil || n.tail.N == 0 {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.stage()
		return nil
	}
	s, err := n.tail.Segment()
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = s
	n.stage()
	return nil
}

// stage makes known what the tail has of sessions; mu and work are held.
func (n *index) stage() {
	for number, t := range n.staged {
		if k := n.sessions[number]; k != nil { // else it was removed meanwhile
			more := *k
			more.logs, more.stamped = t.logs, false
			n.set(&more)
			n.whole(number, t.mark)
		}
	}
	clear(n.staged)
}
