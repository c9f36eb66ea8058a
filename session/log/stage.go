package log

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Stage holds what one open handle has written and not yet committed: at most
// one incomplete record. It is safe for concurrent use; writes of one handle
// happen one after the other.
type Stage struct {
	log    *Log
	writer disk.Writer

	mu   sync.Mutex
	size int64    // staged bytes, all of one record, no newline among them
	mem  []byte   // them, while they are few
	file vfs.File // them, when they are many
	name string   // of file
	kept func()   // ends what file counts for

	// swallow is set after a Flush committed a record that had no newline yet:
	// the log has one, so the blanks and the one newline that the writer sends
	// next are taken and dropped.
	swallow bool
	// skew is by how much the offset of a handle without O_APPEND is ahead of
	// the log because of swallowed bytes, or behind because of an added newline.
	skew int64

	done struct { // the last request that was taken whole: it may come again
		key arrival.Key
		n   int
	}
}

// NewStage returns an empty stage for a handle opened by w.
func (l *Log) NewStage(w disk.Writer) *Stage { return &Stage{log: l, writer: w} }

// Size is the number of staged bytes.
func (s *Stage) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// Write takes the bytes of one request. append says that the handle has O_APPEND now (off is
// ignored); otherwise off must be the log's length plus what this handle has staged, else
// ErrAppendOnly. It commits whole records and stages the rest. n < len(p) comes with an error, and
// n counts only bytes of records committed before the refused one; n == len(p) otherwise, also when
// p only continues a staged record. p is not kept.
//
// After ErrMalformed and ErrTooLarge the stage is empty and what follows is
// judged anew: the rest of a record whose beginning was refused is refused as
// well, because it does not begin like a record. After any other error the
// stage is what it was and the bytes from n on can be written again.
func (s *Stage) Write(ctx context.Context, p []byte, off int64, append bool, key arrival.Key) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key != (arrival.Key{}) && key == s.done.key {
		return s.done.n, nil
	}
	n, err = s.write(ctx, p, off, append, key)
	if err == nil {
		s.done.key, s.done.n = key, n
	}
	return n, err
}

func (s *Stage) write(ctx context.Context, p []byte, off int64, append bool, key arrival.Key) (n int, err error) {
	l := s.log
	if err := l.usable("append"); err != nil {
		return 0, l.refuse(s.writer, err)
	}
	at := int64(Anywhere)
	if !append {
		end := l.Len()
		if off != end+s.size && off != end+s.size+s.skew {
			if position, ok := l.committed(key); ok && position <= end {
				return len(p), nil
			}
			return 0, l.refuse(s.writer, ctxabi.E("append", l.name, ctxabi.ErrAppendOnly,
				"this write is at %d, but the log ends at %d; history only grows: open it for appending (>>)", off, end))
		}
		at = end
		if off == end+s.size {
			s.skew = 0 // the handle moved to the true end by itself
		}
	}
	skip, swallow := s.swallowed(p)
	rest := p[skip:]
	whole := rest[:bytes.LastIndexByte(rest, '\n')+1]
	tail := rest[len(whole):]

	if len(whole) == 0 {
		if err := s.add(tail); err != nil {
			return 0, s.failed(err)
		}
		s.swallow, s.skew = swallow, s.skew+int64(skip)
		return len(p), nil
	}
	data := whole
	staged := int(s.size)
	if staged > 0 {
		if data, err = s.joined(whole); err != nil {
			return 0, s.failed(err)
		}
	}
	valid, refused := l.checkLines(data)
	if valid > 0 {
		if _, err := l.commit(ctx, Batch{Data: data[:valid], Writer: s.writer, Key: key}, at); err != nil {
			return 0, err // reported by commit; nothing was taken
		}
		s.clear()
		s.swallow, s.skew = swallow, s.skew+int64(skip)
		n = skip + valid - staged
	}
	if refused != nil {
		s.clear()
		return n, l.refuse(s.writer, refused)
	}
	if err := s.add(tail); err != nil {
		return n, s.failed(err)
	}
	return len(p), nil
}

// swallowed is how many bytes at the beginning of p are dropped after a Flush,
// and whether more may be.
func (s *Stage) swallowed(p []byte) (n int, more bool) {
	if !s.swallow {
		return 0, false
	}
	for n < len(p) {
		switch p[n] {
		case ' ', '\t', '\r':
			n++
		case '\n':
			return n + 1, false
		default:
			return n, false
		}
	}
	return n, true
}

// Flush commits a complete record that has no newline yet, adding one; an
// incomplete one gives ErrMalformed and stays. It is what close does, also the
// close of a descriptor that a child process inherited.
func (s *Stage) Flush(ctx context.Context, key arrival.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size == 0 {
		return nil
	}
	data, err := s.joined([]byte{'\n'})
	if err != nil {
		return s.failed(err)
	}
	if _, err := s.log.checkLines(data); err != nil {
		return s.log.refuse(s.writer, &ctxabi.Error{Op: "close", Path: s.log.name, Kind: ctxabi.ErrMalformed, Err: err,
			Why: fmt.Sprintf("the last %d bytes written are not a complete record yet; ctxfs keeps them until all handles of the file are closed", s.size)})
	}
	if _, err := s.log.commit(ctx, Batch{Data: data, Writer: s.writer, Key: key}, Anywhere); err != nil {
		return err
	}
	s.clear()
	s.swallow = true
	s.skew--
	return nil
}

// Release drops what is incomplete, with a row in errors.jsonl, and frees the stage.
func (s *Stage) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size == 0 {
		return
	}
	s.log.refuse(s.writer, ctxabi.E("close", s.log.name, ctxabi.ErrMalformed,
		"the file was closed after %d bytes of an incomplete record; they were dropped", s.size))
	s.clear()
}

// failed reports why bytes could not be staged, and empties the stage when the record is hopeless.
func (s *Stage) failed(err error) error {
	if errors.Is(err, ctxabi.ErrTooLarge) {
		s.clear()
	}
	return s.log.refuse(s.writer, err)
}

// add stages more bytes of a record; on an error the stage is what it was.
func (s *Stage) add(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	l, grown := s.log, s.size+int64(len(p))
	if grown > ctxabi.MaxRecord {
		return ctxabi.E("append", l.name, ctxabi.ErrTooLarge, "the record has more than %d bytes", ctxabi.MaxRecord)
	}
	quota := &l.dir.Root.Staged
	if err := quota.Take(s.writer.UID, int64(len(p)), s.size == 0); err != nil {
		return err
	}
	if err := s.put(p, grown); err != nil {
		quota.Give(s.writer.UID, int64(len(p)), s.size == 0)
		return vfs.Failed("append", l.name, err, "the record could not be staged; this write was not stored")
	}
	s.size = grown
	return nil
}

func (s *Stage) put(p []byte, grown int64) error {
	if s.file == nil && grown <= s.log.set.limits.InMemory {
		s.mem = append(s.mem, p...)
		return nil
	}
	if s.file == nil {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if err := vfs.WriteFull(s.file, p); err != nil {
		if cut := s.file.Truncate(s.size); cut != nil {
			return errors.Join(err, cut)
		}
		return err
	}
	s.mem = nil
	return nil
}

// spill moves the stage to a file of the store's tmp directory, which is cleared when the store is
// opened.
func (s *Stage) spill() error {
	store := s.log.dir.Root
	kept, err := handles.Keep(s.writer.UID)
	if err != nil {
		return vfs.WithKind(err)
	}
	name := store.TmpName()
	store.Owned.Store(name, nil)
	f, err := store.FS.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		kept()
		store.Owned.Delete(name)
		return err
	}
	if len(s.mem) > 0 {
		if err := vfs.WriteFull(f, s.mem); err != nil {
			f.Close()
			kept()
			store.FS.Remove(name)
			store.Owned.Delete(name)
			return err
		}
	}
	s.file, s.name, s.kept = f, name, kept
	return nil
}

// joined returns the staged bytes with more behind them, in memory of its own.
func (s *Stage) joined(more []byte) ([]byte, error) {
	data := make([]byte, s.size, s.size+int64(len(more)))
	if s.file == nil {
		copy(data, s.mem)
	} else if err := vfs.ReadFull(s.file, data, 0); err != nil {
		return nil, vfs.Failed("append", s.log.name, err, "the staged record cannot be read back")
	}
	return append(data, more...), nil
}

// clear empties the stage.
func (s *Stage) clear() {
	if s.size > 0 {
		s.log.dir.Root.Staged.Give(s.writer.UID, s.size, true)
	}
	if s.file != nil {
		s.file.Close()
		s.kept()
		s.log.dir.Root.FS.Remove(s.name)
		s.log.dir.Root.Owned.Delete(s.name)
	}
	s.size, s.mem, s.file, s.name = 0, nil, nil, ""
}
