package log

import (
	"context"
	"encoding/hex"
	"errors"
	"os"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
)

// SealMin is how many new bytes a log must have for [Log.Seal] to seal them.
const SealMin = 64 << 10

// Archived returns how much of the log is sealed. It returns the error of a log that cannot be opened.
func (l *Log) Archived() (a archive.Archived, err error) {
	f, err := l.acquire()
	if err != nil {
		return a, err
	}
	defer l.release()
	return f.data.Archived(), nil
}

// Seal packs all records that are committed and not sealed yet into a file of their own,
// <log>.<n>.zst, and drops them from the log's own file, which from then on holds what comes later.
// Sizes, offsets, the chain and what readers see do not change. Seal returns the bytes that it
// packed, raw and packed; zeros, and no error, if fewer than [SealMin] are new.
//
// Records leave their file only once the part is on the disk, was read back whole, and gave what
// the arrival rows announce byte by byte: records that somebody changed are not sealed
// (ctxabi.ErrIO). Appends wait only while the files are swapped, readers not at all. Where it
// fails, or the process dies, nothing has changed: what was written of it goes at once, or when the
// log is opened.
func (l *Log) Seal(ctx context.Context) (raw, packed int64, err error) {
	if err := l.dir.Root.Writable("archive"); err != nil {
		return 0, 0, err
	}
	l.mu.Lock()
	sealing := l.asOneOfFew().sealing
	l.mu.Unlock()
	select {
	case sealing <- struct{}{}:
		defer func() { <-sealing }()
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	if err := l.regain("archive"); err != nil {
		return 0, 0, err
	}
	f, err := l.acquire()
	if err != nil {
		return 0, 0, err
	}
	defer l.release()
	if err := l.usable("archive"); err != nil {
		return 0, 0, err
	}
	l.mu.Lock()
	to := f.tail.Size
	rows := f.tail.Arrivals
	l.mu.Unlock()
	from := f.data.Sealed()
	if to-from < l.set.limits.SealMin {
		return 0, 0, nil
	}
	store := l.dir.Root
	s := sealer{l: l, f: f, tmp: store.TmpName(), tail: store.TmpName()}
	for _, name := range []string{s.tmp, s.tail} {
		store.Owned.Store(name, nil) // they get the time of the log, and may look as old as garbage
		defer func() {
			store.FS.Remove(name)
			store.Owned.Delete(name)
		}()
	}
	if err = s.write(ctx, from, to, rows); err == nil {
		err = s.swap(ctx)
	}
	switch {
	case err == nil:
		return s.part.Size, s.part.Packed, nil
	case ctx.Err() != nil:
		return 0, 0, ctx.Err()
	}
	var known *ctxabi.Error
	if errors.As(err, &known) {
		return 0, 0, err
	}
	return 0, 0, vfs.Failed("archive", l.name, err, "the log is unchanged")
}

// sealer seals one part.
type sealer struct {
	l    *Log
	f    *logFiles
	tmp  string // the part, until it gets its name
	tail string // what follows it, likewise
	part *archive.Part
}

// write writes the part aside, reads it back and compares it with the arrival rows.
func (s *sealer) write(ctx context.Context, from, to, rows int64) error {
	l, x := s.l, s.l.dir
	v := x.Root.FS
	out, err := v.OpenFile(s.tmp, vfs.Create, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	check, err := newRowCheck(l, s.f, from, to, rows)
	if err != nil {
		return err
	}
	m := &archive.Meta{Log: l.name, Session: x.ID(), Off: from, Chain: hex.EncodeToString(check.last[:])}
	if err := archive.Write(out, s.f.data, from, to, l.set.limits.Frame, m, ctx.Err); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	in, err := v.OpenFile(s.tmp, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	s.part = archive.NewPart(s.f.data.Location(), archive.Entry{
		Chain: m.Chain, Off: from, Packed: fi.Size(), Records: m.Records, SHA256: m.SHA256, Size: m.Size, Sums: m.Sums()})
	s.part.CheckIn(in, func(raw []byte, bad error) bool {
		if err = cmpErr(bad, ctx.Err()); err == nil {
			_, err = check.Write(raw)
		}
		return err == nil
	})
	if err == nil {
		err = check.done()
	}
	return err
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// swap puts the part in the place of the raw records. In this order, so that a crash anywhere
// leaves what settle understands: the list says that a part is pending; the part gets its name; the
// tail without its records gets that of the log; the list is written again, without "pending".
func (s *sealer) swap(ctx context.Context) error {
	l, x := s.l, s.l.dir
	store, v := x.Root, x.Root.FS
	if err := l.syncData(s.f); err != nil { // sync most data before others must wait
		return err
	}
	turn := l.turnOf()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	store.Move.RLock()
	defer store.Move.RUnlock()
	if x.Removed() {
		return ctxabi.E("archive", l.name, ctxabi.ErrNotFound, "the session was removed")
	}
	if err := l.usable("archive"); err != nil {
		return err
	}
	if !l.current(s.f) {
		return ctxabi.E("archive", l.name, ctxabi.ErrConflict, "the log was opened again meanwhile; try it again")
	}
	d := s.f.data
	if err := d.PutRight(); err != nil {
		return err
	}
	// The arrivals tell after a crash what the tail is: they must be as true as the data.
	if err := d.Sync(); err != nil {
		return l.breakDown("fsync", err)
	}
	if err := l.syncRows(s.f); err != nil {
		return err
	}
	if err := s.newTail(); err != nil {
		return err
	}
	if err := d.NamePart(s.part, s.tmp); err != nil {
		return err
	}
	if err := d.ReplaceTail(s.part, s.tail); err != nil {
		return err
	}
	if err := v.SyncDir(x.Dir()); err != nil {
		// The old file may be back after a loss of power, without what would be appended now.
		return l.breakDown("archive", err)
	}
	if err := d.Settled(); err != nil {
		store.Logger.Error("list sealed parts", "session", x.ID(), "log", l.name, "err", err)
	}
	return nil
}

// newTail writes what follows the part to a file aside, which has the owner, mode and time of the log's.
func (s *sealer) newTail() error {
	x := s.l.dir
	v := x.Root.FS
	o, err := x.Owner()
	if err != nil {
		return err
	}
	fi, err := s.f.data.Stat()
	if err != nil {
		return err
	}
	s.l.mu.Lock()
	end := s.f.tail.Size
	s.l.mu.Unlock()
	err = vfs.CopyRange(v, s.tail, s.f.data, s.part.End(), end)
	for _, file := range []string{s.tail, s.tmp} {
		if err == nil {
			err = x.Root.Own(file, o, o.FileMode())
		}
		if err == nil {
			err = v.Chtimes(file, fi.ModTime())
		}
	}
	return err
}
