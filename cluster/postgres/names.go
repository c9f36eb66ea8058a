package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

// Incarnation returns the id of this database; see shared.Store.
func (s *Store) Incarnation(ctx context.Context) (id shared.ID, err error) {
	err = s.use(ctx, false, func(c *connection) error {
		var format int
		return c.QueryRow(ctx, "select * from ctxfs.incarnation_1()").Scan((*[16]byte)(&id), &format)
	})
	return id, err
}

// CreateAgent creates an agent; see shared.Store.
func (s *Store) CreateAgent(ctx context.Context, a shared.Agent) error {
	return s.change(ctx, "select ctxfs.create_agent_1($1, $2, $3)", uuid(a.ID), a.Owner, a.Name)
}

// CreateSession creates a session; see shared.Store.
func (s *Store) CreateSession(ctx context.Context, n shared.NewSession) error {
	return s.change(ctx, "select ctxfs.create_session_1($1, $2, $3, $4, $5, $6, $7, $8, $9)", sessionArgs(n)...)
}

// RenameAgent changes the name of an agent; see shared.Store.
func (s *Store) RenameAgent(ctx context.Context, id shared.ID, name string) error {
	return s.change(ctx, "select ctxfs.rename_agent_1($1, $2)", uuid(id), name)
}

// RenameSession changes the name of a session; see shared.Store.
func (s *Store) RenameSession(ctx context.Context, journal, agent shared.ID, name string) error {
	return s.change(ctx, "select ctxfs.rename_session_1($1, $2, $3)", uuid(journal), uuid(agent), name)
}

// RemoveAgent removes an agent without sessions; see shared.Store.
func (s *Store) RemoveAgent(ctx context.Context, id shared.ID) error {
	return s.change(ctx, "select ctxfs.remove_agent_1($1)", uuid(id))
}

// Names returns the changes of an owner. The version is read first: rows that change meanwhile are
// returned again by the next call.
func (s *Store) Names(ctx context.Context, owner string, after int64) (n shared.Names, err error) {
	err = s.use(ctx, false, func(c *connection) (err error) {
		if err = c.QueryRow(ctx, "select ctxfs.owner_version_1($1)", owner).Scan(&n.Version); err != nil {
			return err
		}
		n.Agents, err = list(ctx, c, scanAgent, "select * from ctxfs.agents_1($1, $2)", owner, after)
		if err == nil {
			n.Sessions, err = list(ctx, c, scanSession, "select * from ctxfs.sessions_1($1, $2)", owner, after)
		}
		if err == nil {
			n.Files, err = list(ctx, c, scanFile, "select * from ctxfs.files_1($1, $2)", owner, after)
		}
		return err
	})
	return n, err
}

func scanAgent(rows pgx.Rows, a *shared.Agent) error {
	return rows.Scan((*[16]byte)(&a.ID), &a.Owner, &a.Name, &a.Removed, &a.Version)
}

func scanSession(rows pgx.Rows, s *shared.Session) error {
	return rows.Scan((*[16]byte)(&s.Journal), (*[16]byte)(&s.ID), (*[16]byte)(&s.Agent), &s.Name,
		&s.Sizes[0], &s.Sizes[1], &s.Removed, &s.Version)
}

func scanFile(rows pgx.Rows, f *shared.File) error {
	var path, sum []byte
	var mode, uid, gid int64
	err := rows.Scan(&path, &f.Version, &mode, &f.Modified, &uid, &gid, &f.Xattrs, &f.Target, &sum, &f.Content,
		&f.Removed)
	if err != nil {
		return err
	}
	f.Path, f.Mode, f.UID, f.GID = string(path), uint32(mode), uint32(uid), uint32(gid)
	return readHash(&f.SHA256, sum)
}

// PutFile stores a file; see shared.Store.
func (s *Store) PutFile(ctx context.Context, owner string, f shared.File, expect int64) (int64, error) {
	f.Removed = false
	return s.putFile(ctx, owner, f, expect)
}

// RemoveFile leaves a row, so that other hosts see the removal; see shared.Store.
func (s *Store) RemoveFile(ctx context.Context, owner, path string, expect int64) (int64, error) {
	return s.putFile(ctx, owner, shared.File{Path: path, Removed: true, Modified: time.Unix(0, 0)}, expect)
}

func (s *Store) putFile(ctx context.Context, owner string, f shared.File, expect int64) (version int64, err error) {
	err = s.use(ctx, true, func(c *connection) error {
		const query = "select ctxfs.put_file_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
		return c.QueryRow(ctx, query, owner, []byte(f.Path), expect, int64(f.Mode), f.Modified, int64(f.UID),
			int64(f.GID), f.Xattrs, f.Target, f.SHA256[:], f.Content, f.Removed).Scan(&version)
	})
	return version, err
}

// PutObject stores content in pieces; see shared.Objects.
func (s *Store) PutObject(ctx context.Context, owner string, content []byte) (shared.Hash, error) {
	sum := shared.Hash(sha256.Sum256(content))
	for piece := int32(0); piece == 0 || int(piece)*shared.PieceBytes < len(content); piece++ {
		begin := int(piece) * shared.PieceBytes
		part := content[begin:min(len(content), begin+shared.PieceBytes)]
		err := s.change(ctx, "select ctxfs.put_piece_1($1, $2, $3, $4)", owner, sum[:], piece, notNil(part))
		if err != nil {
			return sum, fmt.Errorf("piece %d of object %x: %w", piece, sum[:8], err)
		}
	}
	return sum, nil
}

// Object returns content from its pieces; see shared.Objects.
func (s *Store) Object(ctx context.Context, owner string, sum shared.Hash, size int64) ([]byte, error) {
	var content []byte
	for piece := int32(0); piece == 0 || int64(piece)*shared.PieceBytes < size; piece++ {
		var part []byte
		err := s.use(ctx, false, func(c *connection) error {
			return c.QueryRow(ctx, "select ctxfs.piece_1($1, $2, $3)", owner, sum[:], piece).Scan(&part)
		})
		if err == nil && part == nil {
			err = shared.ErrMissing
		}
		if err != nil {
			return nil, fmt.Errorf("piece %d of object %x: %w", piece, sum[:8], err)
		}
		content = append(content, part...)
	}

	if int64(len(content)) != size || sha256.Sum256(content) != sum {
		return nil, fmt.Errorf("object %x: %w", sum[:8], shared.ErrDamaged)
	}
	return content, nil
}
