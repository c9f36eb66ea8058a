package sharedtest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

const (
	lockTimeout      = 5 * time.Second
	connectionCheck  = 5 * time.Second // after which a server notices that its client is gone
	idleTransaction  = 2 * time.Second
	defaultPageLimit = 64
)

// Database is a group of servers that replicate one log. Its methods other than Client are for the
// test that makes it fail.
type Database struct {
	PageEntries int                  // entries in a page; 0 means 64
	Replication func() time.Duration // delay until the standby has a transaction; nil means none

	// MutantKeyOnly makes the primary key of entries the only fence: an append is accepted at any
	// free number.
	MutantKeyOnly bool
	// Watch is called with the lock of the database after each committed transaction; may be nil.
	Watch func()

	mu      sync.Mutex
	runs    int
	primary *server
	alive   []*server // the primary, and servers that were replaced but still answer
}

// server is one run of a server process.
type server struct {
	db      *Database
	id      shared.Server
	log     []transaction
	shipped int           // transactions that the standby has
	cut     bool          // the standby is not reachable
	changed chan struct{} // closed when cut or dead changes
	dead    bool
	visible *tables
	locks   map[string]*rowLock
}

type rowLock struct {
	held  bool
	queue []chan struct{}
}

// NewDatabase returns a database without rows.
func NewDatabase() *Database {
	db := &Database{}
	db.primary = db.start(nil, shared.NewID())
	db.alive = []*server{db.primary}
	return db
}

// start returns a server that has replayed a log. The caller holds mu, or is the only user of db.
func (db *Database) start(log []transaction, incarnation shared.ID) *server {
	db.runs++
	s := &server{
		db: db, id: shared.Server(fmt.Sprintf("server-%d", db.runs)), log: slices.Clone(log), shipped: len(log),
		changed: make(chan struct{}), visible: newTables(), locks: map[string]*rowLock{},
	}
	s.visible.incarnation = incarnation
	for _, t := range log {
		t.apply(s.visible)
	}
	return s
}

func (s *server) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// kill ends a server: all connections break.
func (s *server) kill() {
	s.dead = true
	s.signal()
	s.db.alive = slices.DeleteFunc(s.db.alive, func(other *server) bool { return other == s })
}

// Cut separates the primary from its standby, so that commits wait, or joins them again.
func (db *Database) Cut(cut bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.primary.cut = cut
	db.primary.signal()
}

// FailOver promotes the standby, which has everything that was acknowledged, and extra of the
// transactions that still wait. The old primary keeps answering if stays is true, until KillOld.
func (db *Database) FailOver(extra int, stays bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	old := db.primary
	keep := min(old.shipped+extra, len(old.log))
	db.primary = db.start(old.log[:keep], old.visible.incarnation)
	db.alive = append(db.alive, db.primary)
	old.cut = true
	old.signal()
	if !stays {
		old.kill()
	}
}

// KillOld ends all servers that were replaced.
func (db *Database) KillOld() {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, s := range slices.Clone(db.alive) {
		if s != db.primary {
			s.kill()
		}
	}
}

// Restart kills the primary and starts it again. Its recovery shows also transactions that the
// standby lacks.
func (db *Database) Restart() {
	db.mu.Lock()
	defer db.mu.Unlock()
	old := db.primary
	db.primary = db.start(old.log, old.visible.incarnation)
	db.primary.shipped, db.primary.cut = old.shipped, old.cut
	db.alive = append(db.alive, db.primary)
	old.kill()
}

// Restore replaces the primary by a restore of its log without the last lost transactions.
func (db *Database) Restore(lost int) {
	db.mu.Lock()
	defer db.mu.Unlock()
	old := db.primary
	db.primary = db.start(old.log[:max(0, old.shipped-lost)], old.visible.incarnation)
	db.alive = append(db.alive, db.primary)
	old.kill()
}

// Clone returns a second database with the same rows.
func (db *Database) Clone() *Database {
	db.mu.Lock()
	defer db.mu.Unlock()
	other := &Database{PageEntries: db.PageEntries, Replication: db.Replication, runs: 1000 + db.runs}
	other.primary = other.start(db.primary.log[:db.primary.shipped], db.primary.visible.incarnation)
	other.alive = []*server{other.primary}
	return other
}

// LoseTables removes all rows, as a dropped schema does.
func (db *Database) LoseTables() {
	db.mu.Lock()
	defer db.mu.Unlock()
	old := db.primary
	db.primary = db.start(nil, old.visible.incarnation)
	db.alive = append(db.alive, db.primary)
	old.kill()
}

// Entries returns the entries of a journal that the primary has, and whether it was removed.
func (db *Database) Entries(journal shared.ID) (list []shared.Entry, removed bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for {
		page, err := db.primary.visible.page(journal, uint64(len(list)), 1<<30)
		if err != nil {
			return nil, false
		}
		if list = append(list, page.Entries...); uint64(len(list)) >= page.Next {
			return list, page.Removed
		}
	}
}

// lock waits for the rows with the given keys. gone ends the wait. It returns ErrUnavailable after
// lockTimeout, and errLost if the server died or the client is gone.
func (s *server) lock(keys []string, gone <-chan struct{}) error {
	timeout := time.NewTimer(lockTimeout)
	defer timeout.Stop()
	for i, key := range keys {
		if err := s.lockOne(key, timeout.C, gone); err != nil {
			s.unlock(keys[:i])
			return err
		}
	}
	return nil
}

func (s *server) lockOne(key string, timeout <-chan time.Time, gone <-chan struct{}) error {
	s.db.mu.Lock()
	l := s.locks[key]
	if l == nil {
		l = new(rowLock)
		s.locks[key] = l
	}
	if s.dead {
		s.db.mu.Unlock()
		return errLost
	}
	if !l.held {
		l.held = true
		s.db.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	l.queue = append(l.queue, turn)
	s.db.mu.Unlock()

	var err error
	for err == nil {
		s.db.mu.Lock()
		changed, dead := s.changed, s.dead
		s.db.mu.Unlock()
		if dead {
			err = errLost
			break
		}
		select {
		case <-turn:
			return nil
		case <-timeout:
			err = shared.ErrUnavailable
		case <-gone:
			err = errLost
		case <-changed:
		}
	}

	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if i := slices.Index(l.queue, turn); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	} else {
		s.release(key) // the turn came at the same moment
	}
	return err
}

func (s *server) unlock(keys []string) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	for _, key := range keys {
		s.release(key)
	}
}

// release passes a row to the next one that waits. The caller holds mu.
func (s *server) release(key string) {
	l := s.locks[key]
	if len(l.queue) == 0 {
		l.held = false
		return
	}
	close(l.queue[0])
	l.queue = l.queue[1:]
}

// run executes a transaction as a backend does: until the client is gone, or the server dies.
func (s *server) run(t transaction, gone <-chan struct{}) error {
	if err := s.lock(t.keys, gone); err != nil {
		return err
	}
	defer s.unlock(t.keys)
	return s.commit(t, gone)
}

// commit executes a transaction after its rows were locked.
func (s *server) commit(t transaction, gone <-chan struct{}) error {
	s.db.mu.Lock()
	if s.dead {
		s.db.mu.Unlock()
		return errLost
	}
	if err := t.check(s.visible); err != nil {
		s.db.mu.Unlock()
		return err
	}
	s.log = append(s.log, t)
	number := len(s.log)
	s.db.mu.Unlock()
	if s.db.Replication != nil {
		time.Sleep(s.db.Replication())
	}

	for {
		s.db.mu.Lock()
		if s.dead {
			s.db.mu.Unlock()
			return errLost
		}
		if !s.cut || s.shipped >= number {
			s.shipped = max(s.shipped, number)
			s.show(t)
			s.db.mu.Unlock()
			return nil
		}
		changed := s.changed
		s.db.mu.Unlock()

		select {
		case <-changed:
		case <-gone: // the wait is canceled; the transaction is visible, and not replicated
			s.db.mu.Lock()
			s.show(t)
			s.db.mu.Unlock()
			return errLost
		}
	}
}

// show makes a transaction visible. The caller holds mu.
func (s *server) show(t transaction) {
	t.apply(s.visible)
	if s.db.Watch != nil {
		s.db.Watch()
	}
}
