package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

const (
	maxConnections = 3 // for statements; the heartbeat has one more
	connectTimeout = 10 * time.Second
	schemaVersion  = 1 // that this ctxfs was built for; it can use the next one, too
)

// Options are the settings of a Store.
type Options struct {
	URL     string // or keywords and values, as libpq accepts them; without a password
	Host    string // name of this host
	Version string // of ctxfs, for ctx_host
	Pooled  bool   // prepare no statements, which the next transaction of a pooler may not find
	Unsafe  bool   // accept roles with too many rights, and unverified connections

	// Dial opens connections; nil means the usual dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Store is a connection of one host to the shared store.
type Store struct {
	o      Options
	config *pgx.ConnConfig
	boot   shared.ID

	slots chan struct{} // one for each connection in use
	beats chan struct{} // the same for heartbeats, which must not wait for other statements
	mu    sync.Mutex
	idle  []*connection
	shut  bool
}

var _ shared.Store = (*Store)(nil)

// connection is one session with a server.
type connection struct {
	*pgx.Conn
	slots  chan struct{} // to which the connection belongs now
	warned string        // text of the last warning
}

// dialing marks contexts in which Connect dials. pgx also dials for cancel requests, with other
// contexts, and Connect refuses that: a commit whose wait for the standby is canceled becomes
// visible before the standby has it.
type dialing struct{}

var errNoCancel = errors.New("this host sends no cancel requests")

// Connect opens a store and verifies one connection. It returns ErrUnsafe for a role or connection
// that needs Options.Unsafe, ErrSettings, ErrSchema, shared.ErrDenied, and shared.ErrUnavailable.
func Connect(ctx context.Context, o Options) (*Store, error) {
	config, err := parseURL(o)
	if err != nil {
		return nil, err
	}
	s := &Store{o: o, config: config, boot: shared.NewID(), slots: make(chan struct{}, maxConnections)}
	s.beats = make(chan struct{}, 1)

	c, err := s.acquire(ctx, s.slots)
	if err != nil {
		return nil, err
	}
	defer s.giveBack(c)
	if err := s.checkRole(ctx, c); err != nil {
		return nil, err
	}
	return s, s.checkSchema(ctx, c)
}

// parseURL returns the settings of pgx.
func parseURL(o Options) (*pgx.ConnConfig, error) {
	parsed, err := url.Parse(o.URL)
	_, inURL := parsed.User.Password()
	if err == nil && inURL || strings.Contains(o.URL, "password=") {
		return nil, fmt.Errorf("the URL of the database contains a password; use PGPASSFILE or a service file")
	}
	config, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return nil, fmt.Errorf("cannot use the URL of the database: %w", err)
	}
	if err := checkTLS(config); err != nil && !o.Unsafe {
		return nil, err
	}

	if o.Pooled {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	config.ConnectTimeout = connectTimeout
	config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: 5 * time.Second}).DialContext
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if ctx.Value(dialing{}) == nil {
			return nil, errNoCancel
		}
		return dial(ctx, network, address)
	}
	return config, nil
}

// checkTLS returns ErrUnsafe if a connection over a network would not verify the server.
func checkTLS(config *pgx.ConnConfig) error {
	hosts := []*pgconn.FallbackConfig{{Host: config.Host, TLSConfig: config.TLSConfig}}
	for _, h := range append(hosts, config.Fallbacks...) {
		local := strings.HasPrefix(h.Host, "/") || strings.HasPrefix(h.Host, "@")
		if local || h.TLSConfig != nil && !h.TLSConfig.InsecureSkipVerify && h.TLSConfig.ServerName != "" {
			continue
		}
		return fmt.Errorf("%w: the connection to %s needs sslmode=verify-full", ErrUnsafe, h.Host)
	}
	return nil
}

// acquire returns a free connection, or a new one. Errors mean that nothing was sent.
func (s *Store) acquire(ctx context.Context, slots chan struct{}) (*connection, error) {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", shared.ErrUnavailable, ctx.Err())
	}
	s.mu.Lock()
	shut := s.shut
	var c *connection
	if n := len(s.idle); n > 0 {
		c, s.idle = s.idle[n-1], s.idle[:n-1]
	}
	s.mu.Unlock()

	var err error
	switch {
	case shut:
		err = fmt.Errorf("%w: the store is closed", shared.ErrUnavailable)
	case c == nil:
		c, err = s.open(ctx)
	}
	if err != nil {
		<-slots
		return nil, err
	}
	c.slots = slots
	return c, nil
}

// giveBack makes a connection free again. One that is broken, or inside a transaction, is closed.
func (s *Store) giveBack(c *connection) {
	slots := c.slots
	defer func() { <-slots }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut || c.IsClosed() || c.PgConn().TxStatus() != 'I' {
		c.discard()
		return
	}
	s.idle = append(s.idle, c)
}

// discard closes a connection without waiting.
func (c *connection) discard() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	c.Conn.Close(ended)
}

// Close closes all connections.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	for _, c := range s.idle {
		c.discard()
	}
	s.idle = nil
}

// open opens a connection and checks the settings of its session.
func (s *Store) open(ctx context.Context) (*connection, error) {
	c := new(connection)
	config := s.config.Copy()
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			c.warned = n.Message
		}
	}

	conn, err := pgx.ConnectConfig(context.WithValue(ctx, dialing{}, true), config)
	if err != nil {
		var answer *pgconn.PgError
		if errors.As(err, &answer) && (strings.HasPrefix(answer.Code, "28") || answer.Code == "42501") {
			return nil, fmt.Errorf("%w: %w", shared.ErrDenied, err)
		}
		return nil, fmt.Errorf("%w: %w", shared.ErrUnavailable, err)
	}
	c.Conn = conn
	if err := configure(ctx, c, strings.HasPrefix(config.Host, "/")); err != nil {
		c.discard()
		return nil, err
	}
	return c, nil
}

// settings are the settings of each session. A commit must wait for the standby, and must not be
// interrupted.
var settings = map[string]string{
	"client_connection_check_interval":    "5s",
	"tcp_user_timeout":                    "15s",
	"idle_in_transaction_session_timeout": "2s",
	"lock_timeout":                        "5s",
	"statement_timeout":                   "0",
	"synchronous_commit":                  "on",
	"default_transaction_isolation":       "read committed",
	"default_transaction_read_only":       "off",
}

// configure applies the settings and verifies them. Sockets of Unix have no tcp_user_timeout.
func configure(ctx context.Context, c *connection, local bool) error {
	batch := new(pgx.Batch)
	for name, value := range settings {
		if name == "synchronous_commit" {
			const stronger = "select set_config('synchronous_commit', 'on', false) " +
				"where current_setting('synchronous_commit') <> 'remote_apply'"
			batch.Queue(stronger)
			continue
		}
		batch.Queue("select set_config($1, $2, false)", name, value)
	}

	for name := range settings {
		batch.Queue("select $1::text, current_setting($1::text)", name).QueryRow(func(row pgx.Row) error {
			var name, value string
			if err := row.Scan(&name, &value); err != nil {
				return err
			}
			fits := value == settings[name] || name == "synchronous_commit" && value == "remote_apply"
			if !fits && !(name == "tcp_user_timeout" && local) {
				return fmt.Errorf("%w: %s is %s", ErrSettings, name, value)
			}
			return nil
		})
	}
	err := c.SendBatch(ctx, batch).Close()
	if err != nil && !errors.Is(err, ErrSettings) {
		return outcome(err, false)
	}
	return err
}

// checkRole refuses roles that the checks of the functions do not bind.
func (s *Store) checkRole(ctx context.Context, c *connection) error {
	const query = `select r.rolsuper, r.rolbypassrls, coalesce(pg_has_role(session_user, n.nspowner, 'member'), false)
		from pg_roles r left join pg_namespace n on n.nspname = 'ctxfs' where r.rolname = session_user`
	var super, bypass, owner bool
	if err := c.QueryRow(ctx, query).Scan(&super, &bypass, &owner); err != nil {
		return outcome(err, false)
	}
	for _, refused := range []struct {
		has  bool
		name string
	}{{super, "a superuser"}, {bypass, "a role with BYPASSRLS"}, {owner, "the owner of the schema"}} {
		if refused.has && !s.o.Unsafe {
			return fmt.Errorf("%w: %s is %s", ErrUnsafe, s.config.User, refused.name)
		}
	}
	return nil
}

// checkSchema returns ErrSchema if the database has no schema of a version that this ctxfs can use.
func (s *Store) checkSchema(ctx context.Context, c *connection) error {
	var incarnation [16]byte
	var format int
	err := outcome(c.QueryRow(ctx, "select * from ctxfs.incarnation_1()").Scan(&incarnation, &format), false)
	if errors.Is(err, shared.ErrMissing) {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if err == nil && (format < schemaVersion || format > schemaVersion+1) {
		return fmt.Errorf("%w: it has version %d, and this ctxfs needs version %d", ErrSchema, format, schemaVersion)
	}
	return err
}
