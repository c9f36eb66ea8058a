package keeper

import (
	"context"
	"errors"
	"log/slog"
	"path"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
)

// Options of a keeper.
type Options struct {
	Engine  engine.Engine
	Host    string
	Timeout time.Duration // of a commit; 0: 30 s
	Logger  *slog.Logger  // nil: discard
	// Changing reports whether somebody has a file open that he has changed, by its path in the store. What he
	// has written is committed when he closes it, so that another content may take its name. nil: nobody has.
	Changing func(name string) bool
	// Keep is asked before a session is removed because its name is gone. Where it returns true, the session stays,
	// as one of this host alone. nil: none does.
	Keep func(x *session.Session) (bool, error)
}

// Keeper keeps the names of owners in one store. It is safe for concurrent use.
type Keeper struct {
	o     Options
	store *session.Store
	disk  *storeDir
	step  func(what string) error // before each change of the disk; a test makes it fail
	ctx   context.Context         // of looks, until Close
	end   context.CancelFunc
	tasks sync.WaitGroup // looks

	mu     sync.Mutex
	owners map[engine.Subject]*owner // guarded by mu
}

// New returns a keeper that has no store yet.
func New(o Options) *Keeper {
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Changing == nil {
		o.Changing = func(string) bool { return false }
	}
	k := &Keeper{o: o, owners: map[engine.Subject]*owner{}, step: func(string) error { return nil }}
	k.ctx, k.end = context.WithCancel(context.Background())
	return k
}

// Attach makes s the keeper's store. It is called once, before all else. It returns the error of a disk that
// cannot open the store's directory.
func (k *Keeper) Attach(s *session.Store) (err error) {
	k.store = s
	k.disk, err = openDisk(s.Dir())
	return err
}

// begin counts a look that begins; ok is false if the keeper is closed.
func (k *Keeper) begin() (ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if ok = k.ctx.Err() == nil; ok {
		k.tasks.Add(1)
	}
	return ok
}

// Close ends the use of the store. Nothing is under way when it is called but looks of Fresh, which end. It
// returns the error of a disk that cannot take the copies of journals; they are read again then.
func (k *Keeper) Close() (failed error) {
	k.mu.Lock()
	k.end()
	k.mu.Unlock()
	k.tasks.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range k.owners {
		o.turn.Lock()
		if o.copy.lines > 0 && o.copy.settled() && len(o.copy.missing) == 0 {
			failed = errors.Join(failed, o.copy.rewrite())
		}
		o.turn.Unlock()
	}
	k.disk.close()
	return failed
}

// Enter makes true what the owner of ref has, reads his journal, and commits what a crash left uncommitted. When
// the cluster cannot be reached, what was read before is made true, and Enter returns engine.ErrUnreachable.
// It returns the errors of names.Replica.CatchUp and of the disk.
func (k *Keeper) Enter(ctx context.Context, ref ctxabi.Ref) error { return k.update(ctx, ref, true) }

// Refresh reads the journal of the owner of ref and makes true what came, for an owner that was entered: it looks at
// no file that is not in the journal, and commits a space that was made beside the mount since. It returns the errors
// of Enter.
func (k *Keeper) Refresh(ctx context.Context, ref ctxabi.Ref) error { return k.update(ctx, ref, false) }

// update is Enter, or Refresh if all is not set.
func (k *Keeper) update(ctx context.Context, ref ctxabi.Ref, all bool) error {
	o, err := k.owner(ref)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, k.o.Timeout)
	defer cancel()
	read := o.replica.CatchUp(ctx)
	o.setStale(read)
	unmade := !all && read == nil && o.isUnmade()
	if !all && read == nil && !unmade && !o.hasNews() {
		return nil
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	if err := o.apply(ctx); err != nil {
		return errors.Join(err, read)
	}
	switch {
	case read != nil:
	case all:
		read = o.recoverAll(ctx)
	case unmade:
		read = o.recoverSpace(ctx)
	}
	return read
}

// hasNews reports whether entries were read that are not true yet.
func (o *owner) hasNews() bool {
	if !o.turn.TryLock() {
		return true // somebody may be making some true
	}
	defer o.turn.Unlock()
	o.queue.Lock()
	defer o.queue.Unlock()
	return len(o.came) > 0 || !o.copy.settled()
}

// owner returns the owner of ref, whose copy is read if that was not done yet.
func (k *Keeper) owner(ref ctxabi.Ref) (*owner, error) {
	ref.Agent, ref.Session = "", ""
	subject := names.SubjectOf(ref)
	k.mu.Lock()
	defer k.mu.Unlock()
	if o := k.owners[subject]; o != nil {
		return o, nil
	}
	copy, err := loadCopy(k.store, subject)
	if err != nil {
		return nil, vfs.Failed("enter", "", vfs.WithKind(err), "no copy of the journal of names can be kept")
	}
	o := &owner{k: k, ref: ref, subject: subject, copy: copy, news: make(chan struct{}, 1), unsaved: map[string]bool{}}
	if !copy.settled() {
		o.touched.Add(copy.have.All())
		o.touched.Add(copy.want.All())
	}
	o.replica = names.NewReplica(k.o.Engine, k.o.Host, subject, names.Options{State: clone(copy.want), Seq: copy.seq, Taken: o.take})
	k.owners[subject] = o
	return o, nil
}

// take notes an entry that the replica has applied.
func (o *owner) take(from engine.Entry, a names.Applied) {
	in := arrival{from: from}
	if a.Entry.Host == "" {
		o.replica.View(func(s *names.State) { in.state = clone(s) })
	}
	o.queue.Lock()
	o.came = append(o.came, in)
	o.queue.Unlock()
	select {
	case o.news <- struct{}{}:
	default:
	}
}

func (o *owner) setStale(err error) {
	o.queue.Lock()
	defer o.queue.Unlock()
	o.stale = err
}

// Stale returns the error with which the journal of the owner of ref was read last, or nil if it was read.
func (k *Keeper) Stale(ref ctxabi.Ref) error {
	o, err := k.owner(ref)
	if err != nil {
		return err
	}
	o.queue.Lock()
	defer o.queue.Unlock()
	return o.stale
}

// View calls look with the state of the owner of ref as this host has read it. look must not keep it. It
// returns the error of a disk that cannot keep a copy of the journal.
func (k *Keeper) View(ref ctxabi.Ref, look func(s *names.State)) error {
	o, err := k.owner(ref)
	if err == nil {
		o.replica.View(look)
	}
	return err
}

// Follow makes entries of the owner of ref true as they come, until ctx is done; it looks at the end of the
// journal at least once in each interval. It returns the error of an engine that gives no feed.
func (k *Keeper) Follow(ctx context.Context, ref ctxabi.Ref, interval time.Duration) error {
	o, err := k.owner(ref)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		ended <- o.replica.Follow(ctx, interval, o.setStale)
	}()
	for {
		select {
		case <-o.news:
			o.turn.Lock()
			err := o.apply(ctx)
			o.turn.Unlock()
			if err != nil {
				k.o.Logger.Warn("names that other hosts changed are not shown yet", "owner", o.ref.Owner(), "err", err)
			}
		case <-ctx.Done():
			cancel()
			return <-ended
		}
	}
}

// Commit commits an operation on what the owner of ref has, and makes it true here. local, if it is not nil, is
// called once the operation is committed and does the same on the disk, so that what users have open stays
// theirs; what it leaves to be done is done by the keeper. Commit returns the errors of names.Replica.Commit,
// and that of a disk on which it was not done, though it is committed.
func (k *Keeper) Commit(ctx context.Context, ref ctxabi.Ref, op names.Op, local func() error) (names.Applied, error) {
	o, err := k.owner(ref)
	if err != nil {
		return names.Applied{}, err
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	if err := o.recoverSpace(ctx); err != nil {
		return names.Applied{}, err
	}
	return o.commit(ctx, op, local)
}

// commit is Commit with the turn.
func (o *owner) commit(ctx context.Context, op names.Op, local func() error) (names.Applied, error) {
	ctx, cancel := context.WithTimeout(ctx, o.k.o.Timeout)
	defer cancel()
	began := time.Now()
	a, err := o.replica.Commit(ctx, op)
	if err == nil && local != nil {
		if err := local(); err != nil {
			o.k.o.Logger.Debug("done again by the keeper", "owner", o.ref.Owner(), "err", err)
		}
	}
	shown := o.apply(ctx)
	if err == nil && shown == nil {
		o.confirm(began)
	}
	if err == nil {
		err = shown
	}
	return a, err
}

// CommitName commits a change of names, and makes it true in s, which is the keeper's store: the half of a
// session.ChangeCommitter. It returns the errors of Commit, and ctxabi.ErrMalformed for what is no change.
func (k *Keeper) CommitName(ctx context.Context, s *session.Store, n session.NameChange) error {
	ref := n.Ref
	var op names.Op
	var local func() error
	var placed error
	switch n.Kind {
	case session.CreateAgent:
		op = names.CreateAgent{Agent: ref.Agent, Owner: names.Owner(n.Owner)}
	case session.CreateSession:
		if n.Built != "" {
			local = func() error { placed = s.ApplyName(n); return placed }
		}
		op = names.CreateSession{Agent: ref.Agent, Session: ref.Session, ID: n.ID, Owner: names.Owner(n.Owner)}
	case session.RemoveSession:
		op = names.RemoveName{Agent: ref.Agent, Session: ref.Session, ID: n.ID}
	case session.RenameDir:
		from, err := parsePlace(n.From)
		to, bad := parsePlace(n.To)
		if err = errors.Join(err, bad); err != nil || from.Owner() != to.Owner() || (from.Session == "") != (to.Session == "") {
			return errors.Join(ctxabi.E("rename", "", ctxabi.ErrMalformed, "%s cannot be called %s", n.From, n.To), err)
		}
		ref = from
		op = names.RenameName{Agent: from.Agent, Session: from.Session, ToAgent: to.Agent, ToSession: to.Session}
	default:
		return ctxabi.E("commit", "", ctxabi.ErrMalformed, "%q is not a change of names", n.Kind)
	}
	_, err := k.Commit(ctx, ref, op, local)
	if err == nil {
		err = placed // the session is there, but what was built is not in it
	}
	return err
}

// parsePlace reads the path of a session or of an agent's home in the store.
func parsePlace(name string) (ctxabi.Ref, error) {
	agent := path.Base(path.Dir(name)) == ctxabi.AgentDir
	if agent {
		name = path.Join(name, ctxabi.SessionDir, "x")
	}
	ref, err := ctxabi.ParseRef(name)
	if agent {
		ref.Session = ""
	}
	return ref, err
}
