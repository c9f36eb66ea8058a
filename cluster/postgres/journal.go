package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

const pageBytes = 16 << 20 // of the entries of a page

// Append stores one entry by compare-and-set; see shared.Journals.
func (s *Store) Append(ctx context.Context, a shared.Append) error {
	query, args := appendCall(a)
	return appendOutcome(s.change(ctx, query, args...))
}

// appendOutcome returns ErrConflict for a session that is missing.
func appendOutcome(err error) error {
	if errors.Is(err, shared.ErrUnknown) || !errors.Is(err, shared.ErrMissing) {
		return err
	}
	return fmt.Errorf("%w: %w", shared.ErrConflict, err)
}

// appendCall returns the statement that stores an entry.
func appendCall(a shared.Append) (query string, args []any) {
	args = []any{
		uuid(a.Journal), int64(a.Prev.I), a.Prev.Chain[:], uuid(a.Entry.Key), a.Entry.Rows, notNil(a.Entry.Body),
		a.Head[:], a.Sizes[0], a.Sizes[1],
	}
	switch {
	case a.Creates != nil:
		return "select ctxfs.append_child_1($1, $2, $3, $4, $5, $6, $7, $8, $9, " +
			"$10, $11, $12, $13, $14, $15, $16, $17, $18)", append(args, sessionArgs(*a.Creates)...)
	case a.Removes:
		return "select ctxfs.remove_1($1, $2, $3, $4, $5, $6, $7, $8, $9)", args
	}
	return "select ctxfs.append_1($1, $2, $3, $4, $5, $6, $7, $8, $9)", args
}

// notNil returns bytes that are not NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func sessionArgs(n shared.NewSession) []any {
	return []any{
		uuid(n.Journal), uuid(n.ID), uuid(n.Agent), n.Name, optional(n.Base), int64(n.BaseI), n.Head[:],
		n.Sizes[0], n.Sizes[1],
	}
}

// AppendLocked stores an entry in two round trips while the journal is locked; see shared.Journals.
func (s *Store) AppendLocked(
	ctx context.Context, journal shared.ID, from uint64, build func(shared.Page) (shared.Append, error),
) error {
	var refused error // of build; nothing was sent then
	sent := false
	err := s.use(ctx, true, func(c *connection) error {
		page, err := readPage(ctx, c, "begin", "select * from ctxfs.lock_1($1)", journal, from)
		if err == nil && page.Next != from+uint64(len(page.Entries)) {
			err = fmt.Errorf("%w: the journal is at entry %d", shared.ErrConflict, page.Next)
		}
		var a shared.Append
		if err == nil {
			a, err = build(page)
		}
		if err != nil {
			refused = err
			_, err = c.Exec(ctx, "rollback") // also of a connection that is broken; giveBack closes it
			return err
		}

		query, args := appendCall(a)
		batch := new(pgx.Batch)
		batch.Queue(query, args...)
		batch.Queue("commit")
		sent = true
		return c.SendBatch(ctx, batch).Close()
	})

	switch {
	case errors.Is(refused, shared.ErrMissing):
		return fmt.Errorf("%w: %w", shared.ErrConflict, refused)
	case refused != nil:
		return notSent(refused)
	case !sent && errors.Is(err, shared.ErrUnknown):
		return fmt.Errorf("%w: %v", shared.ErrUnavailable, err)
	}
	return appendOutcome(err)
}

// notSent returns the meaning of an error before the commit. Errors of build keep theirs.
func notSent(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) || pgconn.Timeout(err) || errors.Is(err, io.ErrUnexpectedEOF) {
		return outcome(err, false)
	}
	return err
}

// Read returns entries of a journal; see shared.Journals.
func (s *Store) Read(ctx context.Context, journal shared.ID, from uint64) (page shared.Page, err error) {
	missing := false
	err = s.use(ctx, false, func(c *connection) error {
		page, err = readPage(ctx, c, "", "select * from ctxfs.state_1($1)", journal, from)
		if missing = errors.Is(err, shared.ErrMissing); missing {
			return nil
		}
		return err
	})
	if err == nil && missing {
		err = fmt.Errorf("journal %s: %w", journal, shared.ErrMissing)
	}
	return page, err
}

// readPage returns a page in one round trip. The state is read before the entries, so that entries
// of a later state are cut off.
func readPage(
	ctx context.Context, c *connection, first, state string, journal shared.ID, from uint64,
) (shared.Page, error) {
	batch := new(pgx.Batch)
	if first != "" {
		batch.Queue(first)
	}
	var page shared.Page
	found := false
	batch.Queue(state, uuid(journal)).QueryRow(func(row pgx.Row) (err error) {
		found, err = scanState(row, &page)
		return err
	})
	const entries = "select i, key, rows, body from ctxfs.entries_1($1, $2, $3)"
	batch.Queue(entries, uuid(journal), int64(from), pageBytes).
		Query(func(rows pgx.Rows) (err error) {
			page.Entries, err = collect(rows, scanEntry)
			return err
		})
	if err := c.SendBatch(ctx, batch).Close(); err != nil {
		return page, err
	}

	for n := len(page.Entries); n > 0 && page.Entries[n-1].I >= page.Next; n-- {
		page.Entries = page.Entries[:n-1]
	}
	lacks := from < page.Next && (len(page.Entries) == 0 || page.Entries[0].I != from)
	if !found || lacks {
		err := fmt.Errorf("journal %s, entry %d: %w", journal, from, shared.ErrMissing)
		return shared.Page{Server: page.Server}, err
	}
	return page, nil
}

// scanState reads a row of state_1 or lock_1.
func scanState(row pgx.Row, page *shared.Page) (found bool, err error) {
	var root *[16]byte
	var own, next *int64
	var head []byte
	if err := row.Scan(&page.Server, &found, &root, &own, &next, &head, &page.Removed); err != nil || !found {
		return false, err
	}
	page.Root, page.Own, page.Next = *root, uint64(*own), uint64(*next)
	return true, readHash(&page.Head, head)
}

func scanEntry(rows pgx.Rows, e *shared.Entry) error {
	var i int64
	err := rows.Scan(&i, (*[16]byte)(&e.Key), &e.Rows, &e.Body)
	e.I = uint64(i)
	return err
}

// Fence writes this host's row on the given server; see shared.Journals.
func (s *Store) Fence(ctx context.Context, on shared.Server) error {
	err := s.change(ctx, "select ctxfs.fence_1($1, $2, $3, $4)", s.o.Host, uuid(s.boot), s.o.Version, string(on))
	if errors.Is(err, shared.ErrUnknown) {
		return fmt.Errorf("%w: %v", shared.ErrUnavailable, err)
	}
	return err
}

// Beat writes this host's row; see shared.Journals.
func (s *Store) Beat(ctx context.Context) (server shared.Server, err error) {
	err = s.useOf(ctx, s.beats, true, func(c *connection) error {
		row := c.QueryRow(ctx, "select ctxfs.beat_1($1, $2, $3)", s.o.Host, uuid(s.boot), s.o.Version)
		return row.Scan(&server)
	})
	return server, err
}

// Heads returns the state of several journals in one round trip; see shared.Journals.
func (s *Store) Heads(
	ctx context.Context, journals []shared.ID,
) (heads map[shared.ID]shared.Head, server shared.Server, err error) {
	ids := make([]pgtype.UUID, len(journals))
	for i, id := range journals {
		ids[i] = uuid(id)
	}

	heads = map[shared.ID]shared.Head{}
	batch := new(pgx.Batch)
	batch.Queue("select ctxfs.server_1()").QueryRow(func(row pgx.Row) error { return row.Scan(&server) })
	batch.Queue("select * from ctxfs.heads_1($1)", ids).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var id [16]byte
			var next int64
			var chain []byte
			var h shared.Head
			if err := rows.Scan(&id, &next, &chain, &h.Removed); err != nil {
				return err
			}
			if err := readHash(&h.Chain, chain); err != nil {
				return err
			}
			h.Next = uint64(next)
			heads[id] = h
		}
		return rows.Err()
	})
	err = s.use(ctx, false, func(c *connection) error { return c.SendBatch(ctx, batch).Close() })
	return heads, server, err
}

// Durability returns "two servers" or "one server" if so many have a commit before it is
// acknowledged, "unsafe" if a crash of the server may lose it, and "unknown" if the server does not
// show its standbys. The answer may change at any time.
func (s *Store) Durability(ctx context.Context) (answer string, err error) {
	err = s.use(ctx, false, func(c *connection) error {
		return c.QueryRow(ctx, "select ctxfs.durability_1()").Scan(&answer)
	})
	return answer, err
}
