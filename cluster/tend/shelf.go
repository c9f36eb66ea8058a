package tend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// When a home names a snapshot, and what it shares in parts.
const (
	SnapshotEntries = 1000     // entries behind the last snapshot
	SnapshotBytes   = 16 << 20 // bytes of records behind it

	partLeast = 1 << 20         // bytes of records that are a part; fewer stand in the snapshot
	lookEvery = 5 * time.Second // at the copies that are open
	holdMost  = 5 * time.Second // that appends to a session wait for its snapshot
	failPause = time.Minute     // behind a snapshot that failed
	readMost  = 30 * time.Second
)

// ShelfOptions say what a shelf works with.
type ShelfOptions struct {
	Engine  engine.Engine
	Host    string           // its name, for reading journals of owners
	Entries uint64           // 0: SnapshotEntries
	Bytes   int64            // 0: SnapshotBytes
	Now     func() time.Time // nil: time.Now
	Logger  *slog.Logger     // nil: discard
}

// Shelf is what one host has among the objects: it puts parts and snapshots there, and takes from there
// what was trimmed. It is safe for concurrent use.
type Shelf struct {
	o     ShelfOptions
	parts *bulk.Parts

	mu     sync.Mutex
	saved  map[string]mark                   // of sessions, by id; guarded by mu
	later  map[string]time.Time              // of sessions whose snapshot failed; guarded by mu
	owners map[engine.Subject]*names.Replica // guarded by mu
}

// mark is how far the last snapshot of a session reaches.
type mark struct {
	i     uint64
	bytes int64
}

// NewShelf returns the shelf of a host.
func NewShelf(o ShelfOptions) *Shelf {
	if o.Entries == 0 {
		o.Entries = SnapshotEntries
	}
	if o.Bytes == 0 {
		o.Bytes = SnapshotBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Shelf{o: o, parts: bulk.NewParts(o.Engine.Objects(), readMost), saved: map[string]mark{},
		later: map[string]time.Time{}, owners: map[engine.Subject]*names.Replica{}}
}

// Parts returns the source of parts for the host's store.
func (s *Shelf) Parts() *bulk.Parts { return s.parts }

// Handlers returns who applies the rows of kinds [journal.Part] and [journal.Snapshot].
func (s *Shelf) Handlers() map[journal.Kind]replica.Handler {
	return map[journal.Kind]replica.Handler{journal.Part: s.applyPart, journal.Snapshot: s.applySnapshot}
}

// Run shares what is due of the sessions of h, until ctx is done.
func (s *Shelf) Run(ctx context.Context, h *host.Host) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.Round(ctx, h)
		case <-ctx.Done():
			return
		}
	}
}

// Round shares what is due of the sessions whose home h is.
func (s *Shelf) Round(ctx context.Context, h *host.Host) {
	for x, at := range h.Copies {
		if ctx.Err() != nil {
			return
		}
		if at.Host != h.Name() || at.Seq == 0 || !s.due(x, at) {
			continue
		}
		err := s.Snapshot(ctx, h, x)
		if err != nil && ctx.Err() == nil {
			s.mu.Lock()
			s.later[x.ID()] = s.o.Now().Add(failPause)
			s.mu.Unlock()
			s.o.Logger.Warn("a session's journal gets no snapshot yet", "session", x.ID(), "err", err)
		}
	}
}

// due reports whether a session is to get a snapshot now.
func (s *Shelf) due(x *session.Session, at replica.Position) bool {
	s.mu.Lock()
	last, ok := s.saved[x.ID()]
	later := s.later[x.ID()]
	s.mu.Unlock()
	if s.o.Now().Before(later) {
		return false
	}
	if !ok {
		sh, err := load(x)
		if err != nil {
			return false
		}
		last = s.note(x, sh)
	}
	return at.I >= last.i+s.o.Entries || at.Messages.Size+at.Events.Size >= last.bytes+s.o.Bytes
}

// Snapshot shares the records of x and has its journal name a snapshot. It returns engine.ErrBusy if
// somebody else appended meanwhile, the errors of [bulk.Store], of [host.Host.Snapshot], and of the disk.
func (s *Shelf) Snapshot(ctx context.Context, h *host.Host, x *session.Session) error {
	store := bulk.NewStore(s.o.Engine.Objects(), host.Subject(x).Owner)
	for n, l := range []*log.Log{x.Messages(), x.Events()} {
		if err := s.share(ctx, h, store, x, n, l); err != nil {
			return fmt.Errorf("share %s: %w", l.Name(), err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, holdMost)
	defer cancel()
	return h.Snapshot(ctx, x, func(at journal.Position) (row journal.Row, err error) {
		sh, err := load(x)
		if err != nil {
			return row, err
		}
		snap, err := store.Take(ctx, x, at, sh.Parts)
		if err != nil {
			return row, err
		}
		saved, err := store.Save(ctx, snap)
		return journal.Row{Kind: journal.Snapshot, Content: saved.Encode()}, err
	})
}

// share shares what a log has behind its parts, as long as that is a part.
func (s *Shelf) share(ctx context.Context, h *host.Host, store *bulk.Store, x *session.Session, n int, l *log.Log) error {
	for {
		sh, err := load(x)
		if err != nil {
			return err
		}
		base := sh.Base(n)
		if l.Len()-base < partLeast {
			return nil
		}
		p, err := store.Share(ctx, x, l, sh.Parts[n])
		if err != nil || p == nil {
			return err
		}
		if err := h.CommitRow(ctx, x, journal.Row{Kind: journal.Part, Content: p.Encode()}); err != nil {
			return err
		}
		if sh, err = load(x); err != nil {
			return err
		}
		if sh.Base(n) == base {
			return fmt.Errorf("%w: a part that was shared does not count", bulk.ErrDamaged)
		}
	}
}

// applyPart notes a part that the journal names. A row that is none, or of other records, counts for no
// host. It returns journal.ErrVersion of a later version, and the error of the disk.
func (s *Shelf) applyPart(_ context.Context, x *session.Session, e *journal.Entry, row *journal.Row) error {
	p, err := bulk.ParsePart(row.Content)
	if errors.Is(err, journal.ErrVersion) {
		return err
	}
	if err != nil {
		s.o.Logger.Warn("a part of a session does not count", "session", x.ID(), "entry", e.I, "err", err)
		return nil
	}
	sh, err := load(x)
	if err != nil {
		return err
	}
	ok, err := sh.Add(x, p)
	if err != nil || !ok {
		return err
	}
	return keep(x, sh)
}

// applySnapshot notes a snapshot that the journal names. It returns the errors of applyPart.
func (s *Shelf) applySnapshot(_ context.Context, x *session.Session, e *journal.Entry, row *journal.Row) error {
	saved, err := bulk.ParseSaved(row.Content)
	if errors.Is(err, journal.ErrVersion) {
		return err
	}
	if err != nil || saved.At.I != e.I {
		s.o.Logger.Warn("a snapshot of a session does not count", "session", x.ID(), "entry", e.I, "err", err)
		return nil
	}
	sh, err := load(x)
	if err != nil {
		return err
	}
	sh.Saved, sh.Bytes = saved, x.Messages().Len()+x.Events().Len()
	if err := keep(x, sh); err != nil {
		return err
	}
	s.note(x, sh)
	return nil
}
