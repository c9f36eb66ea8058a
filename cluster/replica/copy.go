package replica

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// Errors of a copy.
var (
	// ErrNoCopy is the error of a session that has records and no position: it is no copy of a journal.
	ErrNoCopy = errors.New("the session has records of its own; publish it, or move it away")
	// ErrOlder is the error of a journal that ends before what was read of it: entries are lost, or the
	// answer is one of a leader that is cut off.
	ErrOlder = errors.New("the journal ends before what this host has read of it")
	// ErrBehind is the error of an engine that cannot find entries that are known to exist.
	ErrBehind = errors.New("the cluster does not find entries that it has; try again")
	// ErrTrimmed is the error of a journal whose next entry was trimmed, and lies in a snapshot, or is lost.
	ErrTrimmed = errors.New("the next entry of the journal was trimmed or is lost")
)

// Result is what became of a row that was applied.
type Result struct {
	Key arrival.Key // of the request, or KeyOf the row
	End int64       // where the log ended behind a row of a log
	Err error       // why a change changed nothing: it is the same on every host

	// Over is what another host had set, and the writer of the change had not seen, that the change
	// has replaced; nil: there was nothing of the kind.
	Over *session.Revision
}

// Applied is an entry that was applied.
type Applied struct {
	Seq     uint64
	ID      string
	Entry   journal.Entry
	Results []Result // of the rows, in their order
}

// Handler applies a row of a kind that this package does not know. It must bear to be called again for
// the same row. It returns ctxabi.ErrConflict if the row cannot be applied to what the session is, on any
// host, and another error if it could not be applied; it is applied again then, before anything that
// comes behind it.
type Handler func(ctx context.Context, x *session.Session, e *journal.Entry, row *journal.Row) error

// Options are what a copy works with.
type Options struct {
	Engine   engine.Engine
	Handlers map[journal.Kind]Handler // of the kinds that this package does not know
	Applied  func(Applied)            // is called behind each entry, once it is applied; nil: nobody wants to know
	Repaired func()                   // is called when the leader had what one replica lacked, or had otherwise; nil: nobody wants to know

	// Resume makes the session what a snapshot has, whose row, with this content, begins it anew behind the end
	// of its journal, and at the same moment log.JournalFile what file returns for where both logs end then. nil:
	// that cannot be.
	Resume func(ctx context.Context, x *session.Session, s engine.Subject, content []byte, file func(ends [2]log.Mark) []byte) error

	// Restore brings the session to a position at or behind the entry with the number from, out of a
	// snapshot, and returns it. nil: there are none.
	Restore func(ctx context.Context, x *session.Session, s engine.Subject, from uint64) (Position, error)
	// Restored is called once the copy goes on from a snapshot. nil: nobody wants to know.
	Restored func(Position)
	// Parked returns where the journal s stands, of which no entry is left since all lie in a snapshot.
	// ok is false if that is not so. nil: none is.
	Parked func(ctx context.Context, s engine.Subject) (p Parking, ok bool, err error)
}

// Parking is what is known of a journal that is parked.
type Parking struct {
	journal.Position             // behind its last entry
	Row              journal.Row // with which the next entry begins the journal again: it names the snapshot
}

// Copy is the copy of a session's journal in a store. All its methods but Position are for the holder
// of the turns of the session's logs.
type Copy struct {
	x       *session.Session
	subject engine.Subject
	o       Options
	file    positions
	sets    sets
	at      Position
	shown   atomic.Pointer[Position]

	begun []begun // entries behind the position, in their order, of which rows are applied

	bodies map[[sha256.Size]byte][]byte // objects that need not be fetched
}

// Open returns the copy of the journal s that the session x is. It opens the session's logs, which are
// cut to where the copy ended when it was used last. A session without records becomes an empty copy.
// Open returns ErrNoCopy if x is no copy, ctxabi.ErrIO if its logs are damaged, and the error of the
// disk.
func Open(x *session.Session, s engine.Subject, o Options) (*Copy, error) {
	c := &Copy{x: x, subject: s, o: o, bodies: map[[sha256.Size]byte][]byte{}}
	c.file.dir = x.Disk()
	dir := x.Disk()
	var tails [2]log.Mark
	for i, l := range []*log.Log{x.Messages(), x.Events()} {
		tail, err := l.Tail()
		if err != nil {
			return nil, err
		}
		tails[i] = tail.Mark()
	}
	dir.Root.Move.RLock()
	at, ok, err := held(dir)
	size := int64(-1)
	if fi, err := dir.Root.FS.Stat(dir.Path(log.JournalFile)); err == nil {
		size = fi.Size()
	}
	dir.Root.Move.RUnlock()
	switch {
	case err != nil:
		return nil, vfs.Failed("open", log.JournalFile, err, "the position of the session's copy cannot be read")
	case !ok && tails != [2]log.Mark{}:
		return nil, ctxabi.E("open", log.JournalFile, ctxabi.ErrIO, "%s", ErrNoCopy.Error())
	case at.Messages != tails[0] || at.Events != tails[1]:
		return nil, ctxabi.E("open", log.JournalFile, ctxabi.ErrIO, "the logs end at %v and the copy of the journal at %v", tails, at)
	}
	if err := c.sets.load(dir); err != nil {
		return nil, err
	}
	begins := at.I == 0 && at.Seq == 0 // the file may be there whose making failed at the last step
	if begins {
		at.Position = journal.Start(s)
	}
	c.set(at)
	c.file.size = size
	if begins || size > maxPositions || torn(dir.Root.FS, dir.Path(log.JournalFile), size) {
		err = c.Settle(context.Background())
	}
	if err != nil {
		return nil, vfs.Failed("open", log.JournalFile, err, "the position of the session's copy cannot be written")
	}
	return c, nil
}

// torn reports whether a file of lines does not end in a newline.
func torn(fs vfs.FS, name string, size int64) bool {
	f, _, err := vfs.OpenRegular(fs, name, os.O_RDONLY)
	if err != nil {
		return true
	}
	defer f.Close()
	var last [1]byte
	return size > 0 && (vfs.ReadFull(f, last[:], size-1) != nil || last[0] != '\n')
}

// set notes where the copy is.
func (c *Copy) set(at Position) {
	c.at = at
	c.shown.Store(&at)
}

// Position returns where the copy is. It may be called by anybody.
func (c *Copy) Position() Position { return *c.shown.Load() }

// Session returns the session.
func (c *Copy) Session() *session.Session { return c.x }

// Subject returns the journal.
func (c *Copy) Subject() engine.Subject { return c.subject }

// Settle makes the copy, up to its position, survive the loss of power. What is sealed, trimmed or
// parked on the strength of a position is settled before. It returns the error of the disk.
func (c *Copy) Settle(ctx context.Context) error {
	for _, l := range []*log.Log{c.x.Messages(), c.x.Events()} {
		if err := l.SyncRows(ctx); err != nil {
			return err
		}
	}
	return c.file.replace(&c.at)
}

// BodyKey returns the name of the object that is the body of a row of the journal.
func BodyKey(s engine.Subject, sum [sha256.Size]byte) engine.Key {
	return engine.Key{Owner: s.Owner, Name: "b/" + hex.EncodeToString(sum[:])}
}

// Have keeps a body that is among the objects, so that it need not be fetched, until release.
func (c *Copy) Have(body []byte) (release func()) {
	sum := sha256.Sum256(body)
	c.bodies[sum] = body
	return func() { delete(c.bodies, sum) }
}

// body returns the content of an object. It returns journal.ErrDamaged if it is another one, and the
// errors of Objects.
func (c *Copy) body(ctx context.Context, sum [sha256.Size]byte) ([]byte, error) {
	if b, ok := c.bodies[sum]; ok {
		return b, nil
	}
	b, err := c.o.Engine.Objects().Get(ctx, BodyKey(c.subject, sum), 0, -1)
	if err != nil {
		return nil, fmt.Errorf("body %x of a row: %w", sum[:8], err)
	}
	if sha256.Sum256(b) != sum {
		return nil, fmt.Errorf("%w: body %x of a row has other content", journal.ErrDamaged, sum[:8])
	}
	return b, nil
}
