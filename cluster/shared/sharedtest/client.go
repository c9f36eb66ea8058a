package sharedtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

// errLost is the outcome of a statement without an answer.
var errLost = errors.New("the connection was lost")

// Fault is a fault of the network during one statement.
type Fault struct {
	Request, Response time.Duration
	LoseRequest       bool // the statement never arrives
	LoseResponse      bool // the statement is executed, and the connection breaks
	OldServer         int  // number of the living server that a new connection reaches
}

// Client is the connection of one host to a Database. It implements shared.Store.
type Client struct {
	host   string
	faults func(call string, journal shared.ID) Fault

	mu     sync.Mutex
	db     *Database
	server *server // of the connection; nil: none
}

var _ shared.Store = (*Client)(nil)

// Client returns a client for a host. faults is called for each statement, with the name of the
// method and its journal, if it has one; nil means no faults.
func (db *Database) Client(host string, faults func(call string, journal shared.ID) Fault) *Client {
	if faults == nil {
		faults = func(string, shared.ID) Fault { return Fault{} }
	}
	return &Client{db: db, host: host, faults: faults}
}

// Move connects the client to another database.
func (c *Client) Move(db *Database) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.db, c.server = db, nil
}

// database returns the database that the client is connected to.
func (c *Client) database() *Database {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.db
}

// connect returns the server of the connection. A new connection reaches any server that answers as
// a primary.
func (c *Client) connect(f Fault) *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	if c.server != nil && c.server.dead {
		c.server = nil
		return nil
	}
	if c.server == nil && len(c.db.alive) > 0 {
		c.server = c.db.alive[f.OldServer%len(c.db.alive)]
	}
	return c.server
}

// broken closes the connection.
func (c *Client) broken(s *server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == s {
		c.server = nil
	}
}

// send executes a statement on the server. The statement runs on after the client gave up; gone is
// closed when the server notices that. send returns errLost if there is no answer.
func (c *Client) send(
	ctx context.Context, call string, journal shared.ID, execute func(s *server, gone <-chan struct{}) error,
) (*server, error) {
	f := c.faults(call, journal)
	s := c.connect(f)
	if s == nil || ctx.Err() != nil {
		return nil, shared.ErrUnavailable
	}
	answer := make(chan error, 1)
	gone := make(chan struct{})
	go func() {
		time.Sleep(f.Request)
		if f.LoseRequest {
			return
		}
		err := execute(s, gone)
		time.Sleep(f.Response)
		if !f.LoseResponse {
			answer <- err
		} else {
			answer <- errLost
		}
	}()

	var err error
	select {
	case err = <-answer:
	case <-ctx.Done():
		err = errLost
		go func() {
			time.Sleep(connectionCheck)
			close(gone)
		}()
	}
	if errors.Is(err, errLost) {
		c.broken(s)
	}
	return s, err
}

// write runs a transaction.
func (c *Client) write(ctx context.Context, call string, journal shared.ID, t transaction) (*server, error) {
	s, err := c.send(ctx, call, journal, func(s *server, gone <-chan struct{}) error { return s.run(t, gone) })
	if errors.Is(err, errLost) {
		err = shared.ErrUnknown
	}
	return s, err
}

// query reads the rows that are visible.
func (c *Client) query(
	ctx context.Context, call string, journal shared.ID, read func(t *tables) error,
) (shared.Server, error) {
	s, err := c.send(ctx, call, journal, func(s *server, gone <-chan struct{}) error {
		s.db.mu.Lock()
		defer s.db.mu.Unlock()
		if s.dead {
			return errLost
		}
		return read(s.visible)
	})
	if errors.Is(err, errLost) {
		err = shared.ErrUnavailable
	}
	if s == nil {
		return "", err
	}
	return s.id, err
}

func (c *Client) appendTransaction(a shared.Append) transaction {
	t := transaction{
		keys:  []string{journalKey(a.Journal)},
		check: func(t *tables) error { return t.checkAppend(&a) },
		apply: func(t *tables) { t.append(&a) },
	}

	db := c.database()
	if db.MutantKeyOnly {
		t.check = func(t *tables) error {
			row := t.sessions[a.Journal]
			if row == nil || slices.ContainsFunc(row.entries, func(e shared.Entry) bool { return e.I == a.Entry.I }) {
				return shared.ErrConflict
			}
			return nil
		}
	}
	if a.Removes || a.Creates != nil {
		db.mu.Lock()
		if row := db.primary.visible.sessions[a.Journal]; row != nil {
			t.keys = append(t.keys, ownerKey(row.owner))
		}
		db.mu.Unlock()
	}
	return t
}

func (c *Client) Append(ctx context.Context, a shared.Append) error {
	_, err := c.write(ctx, "append", a.Journal, c.appendTransaction(a))
	return err
}

func (c *Client) AppendLocked(
	ctx context.Context, journal shared.ID, from uint64, build func(shared.Page) (shared.Append, error),
) error {
	keys := []string{journalKey(journal)}
	var page shared.Page
	locked := make(chan struct{}, 1) // holds a value while the row is locked without a commit
	s, err := c.send(ctx, "lock", journal, func(s *server, gone <-chan struct{}) error {
		if err := s.lock(keys, gone); err != nil {
			return err
		}
		locked <- struct{}{}
		go func() {
			time.Sleep(idleTransaction)
			c.release(s, keys, locked)
		}()
		s.db.mu.Lock()
		defer s.db.mu.Unlock()
		var err error
		page, err = s.visible.page(journal, from, c.pageLimit())
		return err
	})
	if err != nil {
		if s != nil {
			c.release(s, keys, locked)
		}
		switch {
		case errors.Is(err, errLost):
			return fmt.Errorf("%w: the connection was lost before the commit", shared.ErrUnavailable)
		case errors.Is(err, shared.ErrMissing):
			return shared.ErrConflict
		}
		return err
	}

	page.Server = s.id
	if page.Next != from+uint64(len(page.Entries)) {
		c.release(s, keys, locked)
		return shared.ErrConflict
	}
	a, err := build(page)
	if err != nil {
		c.release(s, keys, locked)
		return err
	}
	t := c.appendTransaction(a)
	_, err = c.send(ctx, "commit", journal, func(reached *server, gone <-chan struct{}) error {
		select {
		case <-locked:
		default:
			return shared.ErrUnavailable // the transaction was too long idle
		}
		if reached != s {
			s.unlock(keys)
			return shared.ErrUnavailable
		}
		defer s.unlock(keys)
		return s.commit(t, gone)
	})
	if errors.Is(err, errLost) {
		err = shared.ErrUnknown
	}
	return err
}

// release unlocks rows that AppendLocked has locked and does not need.
func (c *Client) release(s *server, keys []string, locked chan struct{}) {
	select {
	case <-locked:
		s.unlock(keys)
	default:
	}
}

func (c *Client) pageLimit() int {
	if n := c.database().PageEntries; n > 0 {
		return n
	}
	return defaultPageLimit
}

func (c *Client) Read(ctx context.Context, journal shared.ID, from uint64) (shared.Page, error) {
	var page shared.Page
	server, err := c.query(ctx, "read", journal, func(t *tables) (err error) {
		page, err = t.page(journal, from, c.pageLimit())
		return err
	})
	if err != nil {
		return shared.Page{Server: server}, err
	}
	page.Server = server
	return page, nil
}

func (c *Client) Fence(ctx context.Context, on shared.Server) error {
	t := c.beat()
	_, err := c.send(ctx, "fence", shared.ID{}, func(s *server, gone <-chan struct{}) error {
		if s.id != on {
			return shared.ErrMoved
		}
		return s.run(t, gone)
	})
	if errors.Is(err, errLost) {
		err = shared.ErrUnavailable
	}
	return err
}

func (c *Client) beat() transaction {
	return transaction{
		keys:  []string{"host " + c.host},
		check: func(*tables) error { return nil },
		apply: func(t *tables) { t.beats[c.host]++ },
	}
}

func (c *Client) Heads(ctx context.Context, journals []shared.ID) (map[shared.ID]shared.Head, shared.Server, error) {
	var heads map[shared.ID]shared.Head
	server, err := c.query(ctx, "heads", shared.ID{}, func(t *tables) error {
		heads = t.heads(journals)
		return nil
	})
	if err != nil {
		return nil, server, err
	}
	return heads, server, nil
}

func (c *Client) Beat(ctx context.Context) (shared.Server, error) {
	s, err := c.write(ctx, "beat", shared.ID{}, c.beat())
	if err != nil {
		return "", err
	}
	return s.id, nil
}

func (c *Client) Incarnation(ctx context.Context) (id shared.ID, err error) {
	_, err = c.query(ctx, "query", shared.ID{}, func(t *tables) error {
		id = t.incarnation
		return nil
	})
	return id, err
}

func (c *Client) CreateAgent(ctx context.Context, a shared.Agent) error {
	_, err := c.write(ctx, "change", shared.ID{}, transaction{
		keys: []string{ownerKey(a.Owner)},
		check: func(t *tables) error {
			if other := t.agentNamed(a.Owner, a.Name); other != nil && other.ID != a.ID {
				return shared.ErrExists
			}
			return nil
		},
		apply: func(t *tables) {
			if t.agents[a.ID] == nil {
				agent := a
				agent.Version = t.bump(a.Owner)
				t.agents[a.ID] = &agent
			}
		},
	})
	return err
}

// ofAgent returns the keys for a change of an agent's names.
func (c *Client) ofAgent(id shared.ID) []string {
	db := c.database()
	db.mu.Lock()
	defer db.mu.Unlock()
	if a := db.primary.visible.agents[id]; a != nil {
		return []string{ownerKey(a.Owner)}
	}
	return []string{ownerKey("")}
}

func (c *Client) CreateSession(ctx context.Context, s shared.NewSession) error {
	_, err := c.write(ctx, "change", shared.ID{}, transaction{
		keys:  c.ofAgent(s.Agent),
		check: func(t *tables) error { return t.checkCreate(s) },
		apply: func(t *tables) { t.create(s) },
	})
	return err
}

func (c *Client) RenameAgent(ctx context.Context, id shared.ID, name string) error {
	_, err := c.write(ctx, "change", shared.ID{}, transaction{
		keys: c.ofAgent(id),
		check: func(t *tables) error {
			a := t.agents[id]
			if a == nil || a.Removed {
				return shared.ErrMissing
			}
			if other := t.agentNamed(a.Owner, name); other != nil && other != a {
				return shared.ErrExists
			}
			return nil
		},

		apply: func(t *tables) {
			if a := t.agents[id]; a.Name != name {
				a.Name, a.Version = name, t.bump(a.Owner)
			}
		},
	})
	return err
}

func (c *Client) RenameSession(ctx context.Context, journal, agent shared.ID, name string) error {
	_, err := c.write(ctx, "change", shared.ID{}, transaction{
		keys: c.ofAgent(agent),
		check: func(t *tables) error {
			row, to := t.sessions[journal], t.agents[agent]
			if row == nil || row.Removed || to == nil || to.Removed || to.Owner != row.owner {
				return shared.ErrMissing
			}
			if other := t.named(agent, name); other != nil && other != row {
				return shared.ErrExists
			}
			return nil
		},

		apply: func(t *tables) {
			if row := t.sessions[journal]; row.Name != name || row.Agent != agent {
				row.Name, row.Agent, row.Version = name, agent, t.bump(row.owner)
			}
		},
	})
	return err
}

func (c *Client) RemoveAgent(ctx context.Context, id shared.ID) error {
	_, err := c.write(ctx, "change", shared.ID{}, transaction{
		keys: c.ofAgent(id),
		check: func(t *tables) error {
			if t.agents[id] == nil {
				return shared.ErrMissing
			}
			for _, s := range t.sessions {
				if s.Agent == id && !s.Removed {
					return shared.ErrExists
				}
			}
			return nil
		},

		apply: func(t *tables) {
			if a := t.agents[id]; !a.Removed {
				a.Removed, a.Version = true, t.bump(a.Owner)
			}
		},
	})
	return err
}

func (c *Client) Names(ctx context.Context, owner string, after int64) (n shared.Names, err error) {
	_, err = c.query(ctx, "query", shared.ID{}, func(t *tables) error {
		n = t.names(owner, after)
		return nil
	})
	return n, err
}

func (c *Client) PutFile(ctx context.Context, owner string, f shared.File, expect int64) (version int64, err error) {
	f.Removed = false
	return c.changeFile(ctx, owner, f, expect)
}

func (c *Client) RemoveFile(ctx context.Context, owner, path string, expect int64) (version int64, err error) {
	return c.changeFile(ctx, owner, shared.File{Path: path, Removed: true}, expect)
}

func (c *Client) changeFile(ctx context.Context, owner string, f shared.File, expect int64) (version int64, err error) {
	_, err = c.write(ctx, "change", shared.ID{}, transaction{
		keys: []string{ownerKey(owner)},
		check: func(t *tables) error {
			if t.fileVersion(owner, f.Path) != expect {
				return shared.ErrConflict
			}
			version = t.owners[owner] + 1
			return nil
		},
		apply: func(t *tables) {
			file := f
			file.Version = t.bump(owner)
			t.files[owner+"\x00"+strings.Clone(f.Path)] = &file
		},
	})
	return version, err
}

func (c *Client) PutObject(ctx context.Context, owner string, content []byte) (shared.Hash, error) {
	sum := shared.Hash(sha256.Sum256(content))
	_, err := c.write(ctx, "change", shared.ID{}, transaction{
		check: func(*tables) error { return nil },
		apply: func(t *tables) { t.objects[objectKey(owner, sum)] = content },
	})
	return sum, err
}

func (c *Client) Object(ctx context.Context, owner string, sum shared.Hash, size int64) (content []byte, err error) {
	_, err = c.query(ctx, "query", shared.ID{}, func(t *tables) (err error) {
		content, err = t.object(owner, sum, size)
		return err
	})
	return content, err
}
