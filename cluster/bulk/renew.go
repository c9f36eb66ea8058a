package bulk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/log"
)

// Renew brings x, a session that has an older state of the snapshot's session or nothing, to what the
// snapshot has, while it is in use. Parts stay among the objects, as after [Store.Restore] without
// whole. beside returns files of the daemon's, by their names in the session, that come to be true at the
// same moment; ends are where messages and events end then. The caller holds the turns of both logs.
// What users see of the logs of x stays and grows. Renew returns [ErrDamaged] if the snapshot is of another
// session, does not fit its objects, or has other records than x, the errors of [Store.Get], and those of [session.Session.Renew]; x is as it was then.
func (s *Store) Renew(ctx context.Context, x *session.Session, snap *Snapshot, beside func(ends [2]log.Mark) map[string][]byte) error {
	if snap.Session != x.ID() {
		return fmt.Errorf("%w: a snapshot of session %s is none of %s", ErrDamaged, snap.Session, x.ID())
	}
	owner, err := x.Disk().Owner()
	if err != nil {
		return err
	}
	return x.Renew(func(dir string) (remove []string, err error) {
		r := restorer{ctx: ctx, s: s, root: x.Disk().Root, dir: dir, owner: owner, snap: snap, known: hasBlobs(x)}
		continues := func() error { return r.continues(x) }
		err = r.run(func() error { return r.mkdir(ctxabi.InternalDir) }, r.logs, continues, r.children, r.files, r.blobs)
		if err != nil {
			return nil, err
		}
		for name, data := range beside(r.ends) {
			if err := r.inner(name, data, 0); err != nil {
				return nil, err
			}
		}
		if remove, err = surplus(x, snap); err != nil {
			return nil, err
		}
		return remove, r.finish()
	})
}

// continues returns [ErrDamaged] unless the rows that were written begin with those of x.
func (r *restorer) continues(x *session.Session) error {
	for _, l := range []*log.Log{x.Messages(), x.Events()} {
		tail, err := l.Tail()
		if err != nil {
			return err
		}
		mine, err := vfs.ReadFile(r.root.FS, x.Disk().Path(log.ArrivalsFile(l.Name())))
		if err != nil {
			return err
		}
		next, err := vfs.ReadFile(r.root.FS, path.Join(r.dir, log.ArrivalsFile(l.Name())))
		if err != nil {
			return err
		}
		if int64(len(mine)) < tail.Arrivals || !bytes.HasPrefix(next, mine[:tail.Arrivals]) {
			return fmt.Errorf("%w: the snapshot has other records in %s than this host has read", ErrDamaged, l.Name())
		}
	}
	return nil
}

// hasBlobs returns a function that reports whether x has a blob of a size.
func hasBlobs(x *session.Session) func(id string, size int64) bool {
	have := map[string]int64{}
	for _, b := range x.Blobs() {
		have[b.ID] = b.Size
	}
	return func(id string, size int64) bool { n, ok := have[id]; return ok && n == size }
}

// surplus returns what x has of what belongs to a snapshot and is not in this one: files, children, blobs,
// and what stands for the bytes of its logs. Artifacts stay. It returns the error of the disk.
func surplus(x *session.Session, snap *Snapshot) (names []string, err error) {
	is := func(name string) bool {
		return slices.ContainsFunc(snap.Files, func(f File) bool { return f.Name == name })
	}
	dirs := []string{ctxabi.PinnedDir}
	for _, child := range subdirectories(x, ctxabi.ChildDir) {
		if slices.Contains(snap.Children, child) {
			dirs = append(dirs, ctxabi.ChildPath(child))
		} else if isChild(child) {
			names = append(names, ctxabi.ChildPath(child))
		}
	}
	list := slices.Clone(settings)
	for _, dir := range dirs {
		in, err := filesIn(x, dir, 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		list = append(list, in...)
	}
	for _, name := range list {
		if _, ok := isFile(name); ok && !is(name) {
			names = append(names, name)
		}
	}
	for _, b := range x.Blobs() {
		if !slices.ContainsFunc(snap.Blobs, func(k Blob) bool { return blobID(k.SHA) == b.ID }) {
			names = append(names, path.Join(blob.Dir, b.ID))
		}
	}
	return append(names, bytesOfLogs(x)...), nil
}

// bytesOfLogs returns the files that say where the bytes of the logs are, and caches of them.
func bytesOfLogs(x *session.Session) (names []string) {
	for _, l := range logNumbers {
		names = append(names, archive.ListFile(l), log.IndexFile(l), log.TokensFile(l))
	}
	in, _ := filesIn(x, ".", 0)
	rows, _ := filesIn(x, archive.AwayDir, 0)
	for _, name := range in {
		if _, _, ok := archive.ParsePartName(name); ok {
			names = append(names, name)
		}
	}
	for _, name := range rows {
		if path.Ext(name) == ".row" {
			names = append(names, name)
		}
	}
	return names
}

// subdirectories returns the names of the directories in a directory of x.
func subdirectories(x *session.Session, dir string) (names []string) {
	root := x.Disk().Root
	root.Move.RLock()
	defer root.Move.RUnlock()
	entries, _ := root.FS.ReadDir(x.Disk().Path(dir))
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
