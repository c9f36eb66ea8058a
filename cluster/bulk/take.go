package bulk

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/log"
)

// Take returns a snapshot of x, all of whose objects lie in s. at is the end of the session's journal,
// and x is what the journal makes of it up to there: until Take returns, the caller keeps changes out.
// shared are the parts of both logs, messages first, that the journal names. Take returns
// engine.ErrTooLarge if more lies behind these than an object can hold, [ErrDamaged] if the rows of a
// log do not announce what it holds, the errors of the session, and those of [Store.Put].
func (s *Store) Take(ctx context.Context, x *session.Session, at journal.Position, shared [2][]Part) (*Snapshot, error) {
	snap := &Snapshot{Session: x.ID(), At: at, Created: max(0, x.Created().UnixNano())}
	for i, l := range []*log.Log{x.Messages(), x.Events()} {
		if err := s.takeLog(ctx, &snap.Logs[i], x, l, shared[i]); err != nil {
			return nil, err
		}
	}
	children, err := x.Children()
	if err != nil {
		return nil, err
	}
	for _, c := range children {
		snap.Children = append(snap.Children, c.Name)
	}
	if snap.Files, err = s.takeFiles(ctx, x, snap.Children); err != nil {
		return nil, err
	}
	for _, b := range x.Blobs() {
		one, err := s.takeBlob(ctx, x, b)
		if err != nil {
			return nil, err
		}
		snap.Blobs = append(snap.Blobs, one)
	}
	return snap, nil
}

// takeLog sets what a snapshot has of a log.
func (s *Store) takeLog(ctx context.Context, to *Log, x *session.Session, l *log.Log, shared []Part) error {
	r, err := readBehind(x, l, shared, all)
	if err != nil {
		return err
	}
	to.Parts, to.Time = shared, max(0, l.ModTime().UnixNano())
	to.Size, to.Chain = r.chain.Next, journal.Hash(r.chain.Value)
	if to.Rows, err = s.content(ctx, r.rows); err == nil {
		to.Tail, err = s.content(ctx, r.data)
	}
	return err
}

// content returns data as a snapshot has it, and stores it if it is long.
func (s *Store) content(ctx context.Context, data []byte) (Content, error) {
	if len(data) <= inlineMost {
		return Content{Data: data}, nil
	}
	r, err := s.PutBody(ctx, data)
	return Content{Ref: r}, err
}

// takeFiles returns the files of a session and its children, in the order of their names.
func (s *Store) takeFiles(ctx context.Context, x *session.Session, children []string) (list []File, err error) {
	names := slices.Concat(settings, kept)
	for _, dir := range directories(children) {
		in, err := filesIn(x, dir, deepest)
		if err != nil {
			return nil, err
		}
		names = append(names, in...)
	}
	slices.Sort(names)
	for _, name := range names {
		if _, ok := isFile(name); !ok {
			continue // an ordinary file beside those of a child
		}
		data, at, err := readFile(x, name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			continue // it was never written, or is a directory of a user
		}
		if err != nil {
			return nil, err
		}
		c, err := s.content(ctx, data)
		if err != nil {
			return nil, err
		}
		list = append(list, File{name, at, c})
	}
	return list, nil
}

// filesIn returns the names, relative to the session, of the regular files in one of its directories,
// and of those in the directories in there.
func filesIn(x *session.Session, dir string, deep int) (names []string, err error) {
	root := x.Disk().Root
	root.Move.RLock()
	entries, err := root.FS.ReadDir(x.Disk().Path(dir))
	root.Move.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.Type().IsRegular() {
			names = append(names, name)
		}
		if e.IsDir() && err == nil && deep > 0 {
			var in []string
			in, err = filesIn(x, name, deep-1)
			names = append(names, in...)
		}
	}
	return names, err
}

// readFile returns what a file of a session holds, and when it changed last.
func readFile(x *session.Session, name string) (data []byte, at int64, err error) {
	root := x.Disk().Root
	root.Move.RLock()
	defer root.Move.RUnlock()
	f, size, err := vfs.OpenRegular(root.FS, x.Disk().Path(name), os.O_RDONLY)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if size > engine.MaxObject {
		return nil, 0, fmt.Errorf("%w: %s has %d bytes", engine.ErrTooLarge, name, size)
	}
	data = make([]byte, size)
	return data, max(0, fi.ModTime().UnixNano()), vfs.ReadFull(f, data, 0)
}

// takeBlob returns what a snapshot has of a blob, and stores the blob unless it is there: blobs are put
// when they are stored, and read back then.
func (s *Store) takeBlob(ctx context.Context, x *session.Session, b blob.Blob) (Blob, error) {
	one := Blob{Ref: Ref{Size: b.Size}, UID: b.UID, Time: max(0, b.Time.UnixNano())}
	if _, err := hex.Decode(one.SHA[:], []byte(strings.TrimPrefix(b.ID, "sha256-"))); err != nil {
		return one, err
	}
	err := s.Has(ctx, BlobName(one.SHA), one.Size)
	if !errors.Is(err, engine.ErrNotFound) {
		return one, err
	}
	f, err := x.OpenBlob(b.ID)
	if err != nil {
		return one, err
	}
	defer f.Close()
	data := make([]byte, b.Size)
	if err := vfs.ReadFull(f, data, 0); err != nil {
		return one, err
	}
	return one, s.Put(ctx, BlobName(one.SHA), data)
}

// Save puts a snapshot among the objects and reads it back. It returns the content of the row that
// names it, which belongs into the entry at snap.At, and the errors of [Store.Put].
func (s *Store) Save(ctx context.Context, snap *Snapshot) (Saved, error) {
	data := snap.Encode()
	saved := Saved{At: snap.At, Object: RefOf(data)}
	if err := s.Put(ctx, saved.Name(snap.Session), data); err != nil {
		return Saved{}, err
	}
	_, err := s.Load(ctx, snap.Session, saved)
	return saved, err
}

// Find returns the snapshot of a session behind its first i entries that is known by its hash alone, and
// the content of a row that names it. It returns the errors of [engine.Objects] and those of [Store.Load].
func (s *Store) Find(ctx context.Context, id string, i uint64, sha journal.Hash) (Saved, *Snapshot, error) {
	n := SnapshotName(id, i, sha)
	if err := n.check(); err != nil {
		return Saved{}, nil, err
	}
	info, err := s.objects.Stat(ctx, s.key(n))
	if err != nil {
		return Saved{}, nil, fmt.Errorf("look at %s: %w", n, err)
	}
	data, err := s.Get(ctx, n, info.Size)
	if err != nil {
		return Saved{}, nil, err
	}
	snap, err := ParseSnapshot(data)
	if err == nil && (snap.Session != id || snap.At.I != i) {
		err = fmt.Errorf("a snapshot: %w: it is of session %s behind entry %d", ErrDamaged, snap.Session, snap.At.I)
	}
	if err != nil {
		return Saved{}, nil, err
	}
	return Saved{At: snap.At, Object: RefOf(data)}, snap, nil
}

// Load returns the snapshot of a session that a row names. It returns the errors of [Store.Get], and
// those of [ParseSnapshot], also if it is that of another session or moment.
func (s *Store) Load(ctx context.Context, id string, saved Saved) (*Snapshot, error) {
	data, err := s.Get(ctx, saved.Name(id), saved.Object.Size)
	if err != nil {
		return nil, err
	}
	snap, err := ParseSnapshot(data)
	if err == nil && (snap.Session != id || snap.At != saved.At) {
		err = fmt.Errorf("a snapshot: %w: it is of session %s behind entry %d", ErrDamaged, snap.Session, snap.At.I)
	}
	if err != nil {
		return nil, err
	}
	return snap, nil
}
