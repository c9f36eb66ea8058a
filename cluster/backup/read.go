package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// Cluster is what a backup needs of a cluster. Owners returns the owners that have a journal.
type Cluster interface {
	engine.Engine
	Owners(ctx context.Context) ([]string, error)
}

// Errors of journals that are not what they were.
var (
	// ErrLess is the error of a journal that ends before what a backup has of it.
	ErrLess = errors.New("the cluster has less of the journal than an earlier backup")
	// ErrMissing is the error of a journal of which the cluster does not return what it has.
	ErrMissing = errors.New("the cluster does not find entries that it has")
)

// chunkMost is how many bytes of payloads a file of entries has, about. It is a variable for tests.
var chunkMost = 32 << 20

// chunksMost is how many files of entries a journal has before they are written anew as fewer.
const chunksMost = 24

// reader copies the entries of one journal into a directory.
type reader struct {
	d     *directory
	c     Cluster
	s     engine.Subject
	begin func(ctx context.Context, first engine.Entry) (journal.Position, error) // where an entry stands, if those before it are gone

	at    journal.Position
	now   saved
	batch []engine.Entry
	size  int // of payloads in batch
	added int // entries
}

// read copies what the journal has behind was, and returns what the directory has of it then. It
// returns ErrLess if the journal ends before was, journal.ErrChain and other errors of journal.Open if it
// does not continue it, ErrMissing, the errors of begin, of the engine and of the disk.
func (r *reader) read(ctx context.Context, was saved) (saved, error) {
	end, err := r.c.Last(ctx, r.s, true)
	if err != nil {
		return was, err
	}
	r.now = was
	if r.at = journal.Start(r.s); was.Seq > 0 {
		if r.at, err = was.at(); err != nil {
			return was, err
		}
	}
	switch {
	case end.Seq < was.Seq:
		return was, fmt.Errorf("%w: %s ends at %d, not at %d", ErrLess, r.s, end.Seq, was.Seq)
	case end.Seq == was.Seq && end.Seq > 0 && end.ID != "" && !r.at.Ends(end):
		return was, fmt.Errorf("%w: at its end, %d, of %s", journal.ErrChain, end.Seq, r.s)
	}
	r.now.Problem = ""
	if err := r.rebase(ctx); err != nil {
		return was, err
	}
	if err := r.readTo(ctx, end.Seq); err != nil {
		return was, err
	}
	if err := r.flush(); err != nil {
		return was, err
	}
	if len(r.now.Chunks) > chunksMost {
		if err := r.merge(); err != nil {
			return was, err
		}
	}
	r.now.set(r.at)
	return r.now, nil
}

// rebase forgets the entries that the cluster has trimmed: what they name may be collected.
func (r *reader) rebase(ctx context.Context) error {
	if r.now.Seq == 0 {
		return nil
	}
	list, err := r.c.Read(ctx, r.s, engine.Range{Count: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	e, err := journal.Peek(list[0])
	if err != nil || list[0].Seq > r.now.Seq || e.I <= r.now.First {
		return nil // the entry says nothing, or comes to be read
	}
	if _, err := r.begin(ctx, list[0]); err != nil {
		return nil // what stands before it is needed
	}
	r.now.First = e.I
	r.now.Chunks = slices.DeleteFunc(slices.Clone(r.now.Chunks), func(c chunk) bool { return c.First+uint64(c.Count) <= e.I })
	return nil
}

// readTo reads up to a sequence. What one replica does not have as the chain wants it, the leader is
// asked for.
func (r *reader) readTo(ctx context.Context, end uint64) error {
	leader := false
	for r.now.Seq < end {
		list, err := r.c.Read(ctx, r.s, engine.Range{From: r.now.Seq + 1, Leader: leader})
		if err != nil {
			return err
		}
		before := r.now.Seq
		for _, e := range list {
			if e.Seq > end {
				break
			}
			if err = r.take(ctx, e); err != nil {
				break
			}
		}
		switch {
		case r.now.Seq > before:
			leader = false
		case !leader:
			leader = true
		case err != nil:
			return err
		default:
			return fmt.Errorf("%w: from %d to %d of %s", ErrMissing, before+1, end, r.s)
		}
	}
	return nil
}

// take takes the next entry.
func (r *reader) take(ctx context.Context, e engine.Entry) error {
	if e.ID != "" { // else nobody of ours has stored it, and it counts for nothing
		_, next, err := journal.Open(r.at, e)
		if errors.Is(err, journal.ErrGap) && r.added == 0 {
			var first journal.Position
			if first, err = r.begin(ctx, e); err == nil && first.I > r.at.I {
				if _, next, err = journal.Open(first, e); err == nil {
					r.now.First, r.now.Chunks = first.I, nil
				}
			}
		}
		if err != nil {
			return fmt.Errorf("entry at %d of %s: %w", e.Seq, r.s, err)
		}
		if r.size += len(e.Payload); r.size > chunkMost {
			if err := r.flush(); err != nil {
				return err
			}
			r.size = len(e.Payload)
		}
		r.at, r.batch, r.added = next, append(r.batch, e), r.added+1
	}
	r.now.Seq = e.Seq
	return nil
}

// flush writes the entries that were taken.
func (r *reader) flush() error {
	if len(r.batch) == 0 {
		return nil
	}
	c, err := r.d.putChunk(r.s, r.at.I-uint64(len(r.batch)), r.batch)
	if err == nil {
		r.now.Chunks = append(r.now.Chunks[:len(r.now.Chunks):len(r.now.Chunks)], c)
		r.batch, r.size = nil, 0
	}
	return err
}

// merge writes the entries of all files anew, as few files as can be.
func (r *reader) merge() error {
	old, end := r.now, r.at
	r.now.Chunks = nil
	err := r.d.entries(r.s, old, func(i uint64, e engine.Entry) error {
		if r.size += len(e.Payload); r.size > chunkMost {
			r.at.I = i
			if err := r.flush(); err != nil {
				return err
			}
			r.size = len(e.Payload)
		}
		r.batch = append(r.batch, e)
		return nil
	})
	r.at = end
	if err != nil {
		return err
	}
	return r.flush()
}

// putChunk writes entries of a journal, the first of which has the number first.
func (d *directory) putChunk(s engine.Subject, first uint64, list []engine.Entry) (chunk, error) {
	data := encodeChunk(list)
	c := chunk{First: first, Count: len(list), Size: int64(len(data)), SHA: hashOf(data)}
	_, err := d.write(c.path(s), data)
	return c, err
}

// chunk returns the entries of a file. It returns ErrDamaged if they are not those of its name.
func (d *directory) chunk(s engine.Subject, c chunk) ([]engine.Entry, error) {
	data, err := d.read(c.path(s), c.SHA)
	if err != nil {
		return nil, err
	}
	list, err := decodeChunk(data)
	if err == nil && len(list) != c.Count {
		err = fmt.Errorf("%w: %d entries instead of %d", ErrDamaged, len(list), c.Count)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path(s), err)
	}
	return list, nil
}

// entries calls f for the entries that a backup has of a journal, with their numbers. It returns the error of
// f, and ErrDamaged if a file is not what its name promises, or does not follow the one before it.
func (d *directory) entries(s engine.Subject, of saved, f func(i uint64, e engine.Entry) error) error {
	next := of.First
	for n, c := range of.Chunks {
		if c.First > next || n > 0 && c.First != next {
			return fmt.Errorf("%w: %s begins at entry %d, not %d", ErrDamaged, c.path(s), c.First, next)
		}
		list, err := d.chunk(s, c)
		if err != nil {
			return err
		}
		for k, e := range list {
			if i := c.First + uint64(k); i >= of.First {
				if err := f(i, e); err != nil {
					return err
				}
			}
		}
		next = c.First + uint64(len(list))
	}
	return nil
}

// each calls f for each of a list, for so many at a time, until one fails or ctx ends. It returns the
// first error.
func each[T any](ctx context.Context, workers int, list []T, f func(ctx context.Context, one T) error) error {
	if workers == 1 {
		for _, one := range list {
			if err := errors.Join(f(ctx, one), ctx.Err()); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan T)
	var all sync.WaitGroup
	for range min(workers, len(list)) {
		all.Go(func() {
			for one := range work {
				if err := f(ctx, one); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, one := range list {
		select {
		case work <- one:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	all.Wait()
	return context.Cause(ctx)
}
