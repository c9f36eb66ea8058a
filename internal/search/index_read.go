package search

import (
	"context"
	"errors"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// behind adds the newest records to a view that lacks some; where it cannot, it closes it.
func (n *index) behind(v *view) (_ *view, err error) {
	defer func() {
		if err != nil {
			v.close()
		}
	}()
	for i := range v.ix {
		ix, err := v.index(i)
		if err != nil {
			return nil, err
		}
		first, size := v.all[i]+1, int64(0)
		for first > v.upTo[i]+1 && size < newestBytes {
			first--
			size += int64(ix.At(first).Len)
		}
		c := newChunk(i == 1, first)
		if err := n.readInto(context.Background(), c, ix, v.all[i], 1<<62); err != nil {
			return nil, err
		}
		if c.n > 0 {
			s, err := c.segment()
			if err != nil {
				return nil, err
			}
			v.segments[i] = append(v.segments[i], s)
		}
	}
	return v, nil
}

// readInto adds the records behind those of c up to a line, until there are so many bytes of them.
func (n *index) readInto(ctx context.Context, c *chunk, ix *session.Index, to int, most int64) error {
	r := newLogReader(logOf(n.x, map[bool]int{true: 1}[c.event]), ix)
	const readAhead = 1 << 20
	var buf []byte
	bufOff := int64(0)
	for c.last1() < to && c.bytes < most {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		line := c.last1() + 1
		e := ix.At(line)
		if e.Offset < bufOff || e.Offset+int64(e.Len) > bufOff+int64(len(buf)) {
			size := min(max(int64(e.Len)+1, readAhead), ix.Size()-e.Offset)
			buf, bufOff = make([]byte, size), e.Offset
			if _, err := r.log.ReadAt(buf, bufOff); session.IsDamage(err) { // then record by record
				buf, bufOff = make([]byte, e.Len), e.Offset
				if _, err := r.log.ReadAt(buf, bufOff); session.IsDamage(err) {
					c.add(&document{role: e.Role}, int64(e.Len)+1) // it says nothing any more
					buf = nil
					continue
				} else if err != nil && !errors.Is(err, io.EOF) {
					return err
				}
			} else if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
		}
		d, err := r.decode(line, buf[e.Offset-bufOff:][:e.Len])
		if session.IsDamage(err) { // of the call that it answers
			err = nil
		}
		if err != nil {
			return err
		}
		c.add(&d, int64(e.Len)+1)
	}
	return nil
}

// last1 is the line of the chunk's newest record; the one in front of it when it is empty.
func (c *chunk) last1() int { return c.first + c.n - 1 }

// catchUp reads what v lacks of the logs, rest bytes, into the tails, and writes them out when they have grown.
func (n *index) catchUp(ctx context.Context, v *view, rest int64) error {
	select {
	case n.work <- struct{}{}:
		defer func() { <-n.work }()
	case <-ctx.Done():
		return nil
	}
	n.mu.Lock()
	if n.building != nil {
		n.mu.Unlock()
		return nil
	}
	parts, write := n.parts, true
	n.mu.Unlock()
	release, err := n.e.c.Limit.Reserve("search", ctxabi.SearchDir, bytesOfChunk*rest)
	if err != nil {
		return err
	}
	defer release()
	for _, p := range parts {
		write = write && len(p.segments) == 0 // the first ones are small, and many sessions have no others
	}
	for i := range parts {
		p := &parts[i]
		if p.tail == nil {
			p.tail = newChunk(i == 1, p.records+1)
		}
		if p.tail.last1() >= v.all[i] {
			continue
		}
		ix, err := v.index(i)
		if err == nil {
			err = n.readInto(context.Background(), p.tail, ix, v.all[i], 1<<62)
		}
		if err != nil {
			n.forgetTails()
			return err
		}
		if p.last, err = p.tail.segment(); err != nil {
			return err
		}
		write = write || p.tail.bytes > tailBytes
	}
	n.mu.Lock()
	n.parts = parts
	n.mu.Unlock()
	if write && !n.e.c.ReadOnly {
		if err := n.save(n.e.ctx, mergeInline); err != nil {
			n.e.log.Debug("search index not saved", "session", n.x.ID(), "err", err) // the disk is full, say: the tails serve
		}
	}
	n.e.grown(n)
	return nil
}

func (n *index) forgetTails() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.parts {
		n.parts[i].tail, n.parts[i].last = nil, nil
	}
}
