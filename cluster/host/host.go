package host

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/peers"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

const (
	// Timeout is how long an append waits for the cluster unless Options say otherwise.
	Timeout = 30 * time.Second
	// HandOver is how long a host waits for the home of a journal before it commits itself.
	HandOver = time.Second
	// ConfirmEvery is how often a host asks for the end of a journal that it follows.
	ConfirmEvery = 5 * time.Second
	// QuietLooks is how often in a second a host asks, in all, for the ends of journals that it follows and that
	// nobody has open.
	QuietLooks = 20
)

// Names commits changes of names: who creates, renames and removes sessions. CommitName is that of
// [session.ChangeCommitter].
type Names interface {
	CommitName(ctx context.Context, s *session.Store, n session.NameChange) error
}

// Options say what a host works with.
type Options struct {
	Name     string // of the host, once in the cluster
	Engine   engine.Engine
	Peers    peers.Peers // nil: there are no other hosts to ask
	Names    Names       // nil: names are those of this store alone
	Handlers map[journal.Kind]replica.Handler
	Resume   func(ctx context.Context, x *session.Session, s engine.Subject, content []byte, file func(ends [2]log.Mark) []byte) error // see replica.Options
	// Restore and Parked are those of replica.Options: what is trimmed lies in snapshots.
	Restore func(ctx context.Context, x *session.Session, s engine.Subject, from uint64) (replica.Position, error)
	Parked  func(ctx context.Context, s engine.Subject) (p replica.Parking, ok bool, err error)

	// InUse reports whether somebody has something of the session with an id open. nil: somebody may have.
	InUse func(id string) bool

	Timeout time.Duration                              // 0: Timeout
	Pause   func(ctx context.Context, d time.Duration) // waits for d, or until ctx ends; nil: by the clock
	Now     func() time.Time                           // nil: time.Now
	Logger  *slog.Logger                               // nil: discard
}

// Host is one host of a cluster: the committer of its store. It is safe for concurrent use.
type Host struct {
	o     Options
	boot  uint64
	began time.Time
	ids   atomic.Uint64
	keys  atomic.Uint64
	ctx   context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup

	following atomic.Int64 // journals that are followed

	store atomic.Pointer[session.Store]

	mu      sync.Mutex
	members map[string]*member // by the session's id; guarded by mu

	counters
}

var (
	_ log.Gatherer      = (*Host)(nil)
	_ log.Copies        = (*Host)(nil)
	_ session.Historian = (*Host)(nil)
	_ peers.Handler     = (*Host)(nil)
)

// New returns a host, which is the Committer of the store's Options. The store is then handed to Attach.
func New(o Options) *Host {
	if o.Timeout == 0 {
		o.Timeout = Timeout
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Host{o: o, began: o.Now(), members: map[string]*member{}}
	var b [8]byte
	rand.Read(b[:])
	h.boot = binary.BigEndian.Uint64(b[:])
	h.ctx, h.end = context.WithCancel(context.Background())
	return h
}

// Attach makes s the store of the host. It is called before anything is appended to it.
func (h *Host) Attach(s *session.Store) { h.store.Store(s) }

// Close ends what is under way, which fails, and waits for it. The store is closed after that.
func (h *Host) Close() {
	h.end()
	h.tasks.Wait()
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Subject returns the journal of a session.
func Subject(x *session.Session) engine.Subject { return SubjectOf(x.Ref(), x.ID()) }

// SubjectOf returns the journal of the session ref with an id.
func SubjectOf(ref ctxabi.Ref, id string) engine.Subject {
	return engine.Subject{Owner: names.SubjectOf(ref).Owner, Session: id}
}

// SharesTurn returns true: messages and events of a session stand in one journal.
func (h *Host) SharesTurn() bool { return true }

// Gathers returns true: what several callers append becomes one entry.
func (h *Host) Gathers() bool { return true }

// Kept returns where a log of a copy may end that is not open yet; see [log.Copies].
func (h *Host) Kept(dir *disk.Dir, name string) (at log.Mark, ok bool) {
	h.mu.Lock()
	m := h.members[dir.ID()]
	h.mu.Unlock()
	if m != nil && m.isOpen.Load() {
		return log.Mark{}, false // its logs were cut when it was opened
	}
	return replica.Kept(dir, name)
}

// member returns what the host knows of a session.
func (h *Host) member(x *session.Session) *member {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.members[x.ID()]
	if m == nil || m.x != x {
		m = &member{h: h, x: x, subject: Subject(x)}
		h.members[x.ID()] = m
	}
	return m
}

// Commit commits a batch to the journal of the log's session; see [log.Committer] and [log.Gatherer]. It
// returns ctxabi.ErrConflict if the log does not end at expected, ctxabi.ErrUnreachable if the cluster
// cannot be reached, so that nothing was stored, ctxabi.ErrNoSpace, ctxabi.ErrDenied,
// ctxabi.ErrNotFound of a session that is removed, the error of ctx if it ended before anything was
// sent, and ctxabi.ErrIO if nobody knows what became of it.
func (h *Host) Commit(ctx context.Context, l *log.Log, b log.Batch, expected int64) (int64, error) {
	x, err := h.store.Load().Session(l.Dir().Ref())
	if err != nil {
		return 0, err
	}
	key := b.Key
	if key == (arrival.Key{}) {
		key = h.key()
	}
	a := h.member(x).submit(ctx, records(l, b, expected, key))
	return a.end, a.err
}

// CommitChange commits a change of a session; see [session.ChangeCommitter]. It returns the errors of
// Commit, and the reason why the change could not be applied. What another host had set and the writer had
// not seen is named in the session's errors.jsonl when it is replaced.
func (h *Host) CommitChange(ctx context.Context, x *session.Session, c session.Change) error {
	if c.At == 0 {
		c.At = x.Disk().Root.Now().UnixNano()
	}
	a := h.member(x).submit(ctx, change(c, h.o.Name, h.key()))
	if a.over != nil {
		x.Report(disk.ErrorRow{UID: c.Edit.UID, Op: string(c.Kind), Path: c.Name, Errno: "OK", Reason: fmt.Sprintf(
			"entry %d has replaced what host %s had set in entry %d since the file was opened; read it with: ctxfs history --show %d FILE",
			a.entry, a.over.Host, a.over.Entry, a.over.Entry)})
	}
	return a.err
}

// CommitRow commits a row of another kind than records and changes, whose body is at most
// [journal.MaxBody] long. No two such rows of a journal are equal. It returns the errors of Commit.
func (h *Host) CommitRow(ctx context.Context, x *session.Session, row journal.Row) error {
	r := newRequest("commit", string(row.Kind))
	r.Kind, r.Key, r.Content, r.Body = row.Kind, replica.KeyOf(&row), row.Content, row.Body
	// What such a row means depends on what stands before it.
	r.Alone = row.Kind == journal.End || row.Kind == journal.Summary || row.Kind == journal.Output
	return h.member(x).submit(ctx, r).err
}

// Position returns how many entries of its journal were applied to a session; 0 if that is not known yet.
func (h *Host) Position(x *session.Session) uint64 {
	if m := h.member(x); m.isOpen.Load() {
		return m.copy.Position().I
	}
	return 0
}

// CommitName commits a change of names; see [session.ChangeCommitter]. A session that is created gets
// the first entry of its journal from this host, which is its home from then on. It returns the errors
// of [Names], or of the store.
func (h *Host) CommitName(ctx context.Context, s *session.Store, n session.NameChange) error {
	if h.o.Names == nil {
		if err := s.ApplyName(n); err != nil {
			return err
		}
	} else if err := h.o.Names.CommitName(ctx, s, n); err != nil {
		return err
	}
	if n.Kind == session.CreateSession {
		if x, err := s.Session(n.Ref); err == nil && x.ID() == n.ID {
			if err := h.begin(ctx, x); err != nil { // whoever appends first is home
				h.o.Logger.Warn("the session's journal has no first entry yet", "session", n.ID, "err", err)
			}
		}
	}
	return nil
}

// counters are what a host counts.
type counters struct {
	own, taken, handed, conflicts, unknown, lost, gaps, repaired atomic.Uint64
}

// Stats are counts since the host began.
type Stats struct {
	Own       uint64 // entries that this host committed
	Taken     uint64 // requests of other hosts in them
	Handed    uint64 // requests that another host committed for this one
	Conflicts uint64 // appends for which another host was faster
	Unknown   uint64 // appends without an answer
	Lost      uint64 // answers according to which the cluster lost entries
	Gaps      uint64 // times that entries of a followed journal did not come by themselves
	Repaired  uint64 // times that the leader had what one replica lacked, or had otherwise
}

// Stats returns the counts.
func (h *Host) Stats() Stats {
	return Stats{h.own.Load(), h.taken.Load(), h.handed.Load(), h.conflicts.Load(), h.unknown.Load(), h.lost.Load(), h.gaps.Load(), h.repaired.Load()}
}

// Homes returns how many journals this host is the home of: those that are open here and end with an entry of it.
func (h *Host) Homes() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.members {
		if m.isOpen.Load() && m.copy.Position().Host == h.o.Name {
			n++
		}
	}
	return n
}
