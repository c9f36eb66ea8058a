package postgres

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

// schemas holds one file for each version, which changes the schema of the version before it.
//
//go:embed schema/*.sql
var schemas embed.FS

// Migrate installs the schema, or upgrades it to the version of this ctxfs, in one transaction. The
// role of the URL becomes the owner of a new schema and must not be the role of a host. Migrate
// returns the version that the database had, 0 for none.
func Migrate(ctx context.Context, o Options) (had int, err error) {
	err = administer(ctx, o, func(tx pgx.Tx) error {
		exists := false
		if err := tx.QueryRow(ctx, "select to_regclass('ctxfs.ctx_store') is not null").Scan(&exists); err != nil {
			return err
		}
		if exists {
			if err := tx.QueryRow(ctx, "select format from ctxfs.ctx_store").Scan(&had); err != nil {
				return err
			}
		} else if _, err := tx.Exec(ctx, "create schema if not exists ctxfs"); err != nil {
			return err
		}

		for version := had + 1; version <= schemaVersion; version++ {
			script, err := schemas.ReadFile(fmt.Sprintf("schema/%d.sql", version))
			if err != nil {
				return err
			}
			if _, err := tx.Conn().PgConn().Exec(ctx, string(script)).ReadAll(); err != nil {
				return fmt.Errorf("schema version %d: %w", version, err)
			}
		}
		return nil
	})
	return had, err
}

// Grant lets a role use the sessions and files of owners. The role of the URL must own the schema.
// It returns shared.ErrMissing if the role does not exist.
func Grant(ctx context.Context, o Options, role string, owners ...string) error {
	return administer(ctx, o, func(tx pgx.Tx) error {
		var oid uint32
		if err := tx.QueryRow(ctx, "select oid from pg_roles where rolname = $1", role).Scan(&oid); err != nil {
			return fmt.Errorf("role %s: %w: %w", role, shared.ErrMissing, err)
		}
		if _, err := tx.Exec(ctx, "grant usage on schema ctxfs to "+pgx.Identifier{role}.Sanitize()); err != nil {
			return err
		}
		for _, owner := range owners {
			const insert = "insert into ctxfs.ctx_grant values ($1, $2) on conflict do nothing"
			if _, err := tx.Exec(ctx, insert, oid, owner); err != nil {
				return err
			}
		}
		return nil
	})
}

// Restored gives the database a new incarnation, after it was restored from a backup or cloned.
func Restored(ctx context.Context, o Options) error {
	return administer(ctx, o, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "update ctxfs.ctx_store set incarnation = gen_random_uuid()")
		return err
	})
}

// administer runs f in a transaction of the schema's owner. Only one does so at a time.
func administer(ctx context.Context, o Options, f func(tx pgx.Tx) error) error {
	config, err := parseURL(o)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(context.WithValue(ctx, dialing{}, true), config)
	if err != nil {
		return fmt.Errorf("%w: %w", shared.ErrUnavailable, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))

	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtext('ctxfs administration'))"); err != nil {
			return err
		}
		return f(tx)
	})
}
