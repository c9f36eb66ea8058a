package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

// use runs f with a connection. changes says that f may change something; then a warning of the
// server makes the outcome of a success unknown.
func (s *Store) use(ctx context.Context, changes bool, f func(c *connection) error) error {
	return s.useOf(ctx, s.slots, changes, f)
}

// useOf is use with a connection of s.slots or s.beats.
func (s *Store) useOf(ctx context.Context, slots chan struct{}, changes bool, f func(c *connection) error) error {
	c, err := s.acquire(ctx, slots)
	if err != nil {
		return err
	}
	defer s.giveBack(c)
	c.warned = ""
	err = f(c)
	if err == nil && changes && c.warned != "" {
		return fmt.Errorf("%w: %s", shared.ErrUnknown, c.warned)
	}
	return outcome(err, changes)
}

// change calls a function that changes something and returns nothing.
func (s *Store) change(ctx context.Context, query string, args ...any) error {
	return s.use(ctx, true, func(c *connection) error {
		_, err := c.Exec(ctx, query, args...)
		return err
	})
}

// list returns the rows of a query.
func list[T any](
	ctx context.Context, c *connection, scan func(pgx.Rows, *T) error, query string, args ...any,
) ([]T, error) {
	rows, err := c.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, scan)
}

// collect reads all rows.
func collect[T any](rows pgx.Rows, scan func(pgx.Rows, *T) error) (all []T, err error) {
	defer rows.Close()
	for rows.Next() {
		var one T
		if err := scan(rows, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// uuid returns an id as a parameter.
func uuid(id shared.ID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: true} }

// optional returns NULL for the zero id.
func optional(id shared.ID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: id != shared.ID{}} }

// readHash copies the bytes of a hash.
func readHash(h *shared.Hash, raw []byte) error {
	if len(raw) != len(h) {
		return errors.New("a hash in the database does not have 32 bytes")
	}
	copy(h[:], raw)
	return nil
}
