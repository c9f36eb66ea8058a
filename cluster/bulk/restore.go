package bulk

import (
	"context"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// Restore makes the session of a snapshot in a store, under a name and an owner that the journal of the
// owner has. If whole is set, all parts are fetched and become files of the store; else a part stays
// among the objects and the store reads it through a [Parts], which has to be its Options.Parts. The
// session is there whole or not at all, and all that it got was held against its hashes. Restore
// returns ctxabi.ErrExists if the store has ref, [ErrDamaged] if the snapshot and its objects do not
// fit together, the errors of [Store.Get], and that of the disk.
func (s *Store) Restore(ctx context.Context, to *session.Store, ref ctxabi.Ref, o disk.Owner, snap *Snapshot, whole bool) (*session.Session, error) {
	return to.Install(ref, o, snap.Session, func(dir string) error {
		r := restorer{ctx: ctx, s: s, root: to.Disk(), dir: dir, owner: o, snap: snap, whole: whole}
		return r.run(r.logs, r.children, r.files, r.blobs, r.born, r.finish)
	})
}

// restorer fills the directory of a session that was just made.
type restorer struct {
	ctx   context.Context
	s     *Store
	root  *disk.Root
	dir   string
	owner disk.Owner
	snap  *Snapshot
	whole bool
	ends  [2]log.Mark                      // of the logs; set by logs
	known func(id string, size int64) bool // blobs that need not be fetched; nil: none
}

// run takes steps up to the first that fails, and returns its error.
func (r *restorer) run(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// fill writes a file of the session, synced, which changed last at a time; 0: now.
func (r *restorer) fill(name string, data []byte, at int64) error {
	file := path.Join(r.dir, name)
	err := vfs.WriteFile(r.root.FS, file, data, r.owner.FileMode().Perm())
	if err == nil {
		err = r.root.Own(file, r.owner, r.owner.FileMode())
	}
	if err == nil && at > 0 {
		err = r.root.FS.Chtimes(file, time.Unix(0, at))
	}
	return err
}

// inner is fill of a file that belongs to the daemon.
func (r *restorer) inner(name string, data []byte, at int64) error {
	file := path.Join(r.dir, name)
	err := vfs.WriteFile(r.root.FS, file, data, 0o600)
	if err == nil && at > 0 {
		err = r.root.FS.Chtimes(file, time.Unix(0, at))
	}
	return err
}

// content returns what a file of the snapshot holds.
func (r *restorer) content(c Content) ([]byte, error) {
	if c.Ref.Size > 0 {
		return r.s.Body(r.ctx, c.Ref)
	}
	return c.Data, nil
}

// logs writes both logs.
func (r *restorer) logs() error {
	if shared := len(r.snap.Logs[0].Parts) + len(r.snap.Logs[1].Parts); shared > 0 && !r.whole {
		if err := r.root.FS.Mkdir(path.Join(r.dir, archive.AwayDir), 0o700); err != nil {
			return err
		}
	}
	for i := range r.snap.Logs {
		end, err := r.log(&r.snap.Logs[i], logNumbers[i])
		if err != nil {
			return fmt.Errorf("%s: %w", logNumbers[i], err)
		}
		r.ends[i] = end
	}
	return nil
}

// log writes a log: its rows, which are held against its chain, its tail, and its parts. It returns
// where it ends.
func (r *restorer) log(l *Log, name string) (end log.Mark, err error) {
	chain := arrival.ChainFrom(r.snap.Session, name)
	list := new(archive.List)
	var rows []byte
	var caches cacheFiles
	next, stop := r.indexes(l, chain)
	defer stop()
	for i := range l.Parts {
		p := &l.Parts[i]
		x, err := next()
		if err != nil {
			return end, err
		}
		rows = append(rows, x.Rows...)
		caches.add(p, x)
		list.Parts = append(list.Parts, p.Entry(i+1))
		chain = behind(p)
	}
	last, err := r.content(l.Rows)
	if err != nil {
		return end, err
	}
	tail, err := r.content(l.Tail)
	if err != nil {
		return end, err
	}
	if tail == nil {
		tail = []byte{} // these are looked at
	}
	if chain, err = follow(chain, last, l.Size, tail); err != nil {
		return end, err
	}
	if journal.Hash(chain.Value) != l.Chain {
		return end, fmt.Errorf("%w: it has another chain", ErrDamaged)
	}
	rows = append(rows, last...)
	end = log.Mark{Size: l.Size, Arrivals: int64(len(rows))}
	if err := r.fill(log.ArrivalsFile(name), rows, l.Time); err != nil {
		return end, err
	}
	if err := r.fill(name, tail, l.Time); err != nil {
		return end, err
	}
	if len(list.Parts) == 0 {
		return end, nil
	}
	if err := r.fill(archive.ListFile(name), list.Line(), 0); err != nil {
		return end, err
	}
	return end, caches.write(r, name)
}

// part writes what the store has of a part, whose index is x: the file, or where to find it.
func (r *restorer) part(ctx context.Context, p *Part, x *Index, number int) error {
	if !r.whole {
		away := Away{Part: *p}
		if RefOf(x.Trailer) == p.Trailer {
			away.Trailer = x.Trailer
		}
		return r.inner(archive.AwayRow(p.Log, number), away.Encode(), 0)
	}
	data, err := r.s.Get(ctx, p.Name(r.snap.Session), p.File.Size)
	if err != nil {
		return err
	}
	return r.fill(archive.PartName(p.Log, number), data, 0)
}

// fetchers is how many objects are fetched at a time.
const fetchers = 8

// indexes begins to fetch the index objects of all parts of a log, which begins with a chain. next returns one after the
// other, in the order of the parts, once its rows were held against the chain of its part and what the store has of that
// is written; it returns the errors of [Store.Get] and of the disk, and [ErrDamaged]. stop ends what is under way, and
// waits for it.
func (r *restorer) indexes(l *Log, begin arrival.Chain) (next func() (*Index, error), stop func()) {
	type result struct {
		x   *Index
		err error
	}
	ctx, cancel := context.WithCancel(r.ctx)
	come := make([]chan result, len(l.Parts))
	for i := range come {
		come[i] = make(chan result, 1)
	}
	var taken atomic.Int64
	var all sync.WaitGroup
	for range min(fetchers, len(come)) {
		all.Go(func() {
			for i := int(taken.Add(1)) - 1; i < len(come); i = int(taken.Add(1)) - 1 {
				from := begin
				if i > 0 {
					from = behind(&l.Parts[i-1])
				}
				x, err := r.s.index(ctx, r.snap.Session, &l.Parts[i], from)
				if err == nil {
					err = r.part(ctx, &l.Parts[i], x, i+1)
				}
				come[i] <- result{x, err}
			}
		})
	}
	i := -1
	next = func() (*Index, error) {
		i++
		got := <-come[i]
		return got.x, got.err
	}
	return next, func() { cancel(); all.Wait() }
}

// cacheFiles are the files of caches of a log, as far as its parts have them.
type cacheFiles struct {
	index, counts []byte
	records       int  // in index
	torn          bool // a part had no slice that follows
}

// add adds what a part has.
func (c *cacheFiles) add(p *Part, x *Index) {
	if !c.torn {
		var ok bool
		if c.index, ok = log.JoinIndex(c.index, c.records, x.Index, p.Records); ok {
			c.records += p.Records
		}
		c.torn = !ok
	}
	c.counts, _ = log.JoinCounts(c.counts, x.Counts)
}

// write writes what there is.
func (c *cacheFiles) write(r *restorer, name string) error {
	for _, f := range []struct {
		name string
		data []byte
	}{{log.IndexFile(name), c.index}, {log.TokensFile(name), c.counts}} {
		if len(f.data) == 0 {
			continue
		}
		if err := r.fill(f.name, f.data, 0); err != nil {
			return err
		}
	}
	return nil
}

// children makes the directories of children.
func (r *restorer) children() error {
	if len(r.snap.Children) == 0 {
		return nil
	}
	if err := r.parents(ctxabi.ChildDir); err != nil {
		return err
	}
	for _, name := range r.snap.Children {
		if err := r.mkdir(ctxabi.ChildPath(name)); err != nil {
			return err
		}
		if err := r.mkdir(ctxabi.ChildPath(name, ctxabi.ChildArtifact)); err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer) mkdir(rel string) error {
	dir := path.Join(r.dir, rel)
	if err := r.root.FS.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return r.root.Own(dir, r.owner, r.owner.DirMode())
}

// parents makes the directory of a file, and those above it, where they are not there. That of outputs
// is the daemon's alone.
func (r *restorer) parents(rel string) error {
	if _, err := r.root.FS.Stat(path.Join(r.dir, rel)); err == nil {
		return nil
	}
	if rel == outputsDir {
		return r.root.FS.Mkdir(path.Join(r.dir, rel), 0o700)
	}
	if err := r.parents(path.Dir(rel)); err != nil {
		return err
	}
	return r.mkdir(rel)
}

// files writes the settings, notes and other files, and removes those of a new session that the
// snapshot does not have.
func (r *restorer) files() error {
	for _, name := range settings {
		if !slices.ContainsFunc(r.snap.Files, func(f File) bool { return f.Name == name }) {
			r.root.FS.Remove(path.Join(r.dir, name))
		}
	}
	for _, f := range r.snap.Files {
		data, err := r.content(f.Content)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := r.parents(path.Dir(f.Name)); err != nil {
			return err
		}
		write := r.fill
		if isDerived(f.Name) {
			write = r.inner
		}
		if err := write(f.Name, data, f.Time); err != nil {
			return err
		}
	}
	return nil
}

// blobID returns the id of a blob in a session.
func blobID(sha journal.Hash) string { return "sha256-" + hex.EncodeToString(sha[:]) }

// blobs writes what users stored. In a shared space a blob belongs to who stored it.
func (r *restorer) blobs() error {
	for i, b := range r.snap.Blobs {
		if i == 0 {
			if err := r.root.FS.Mkdir(path.Join(r.dir, blob.Dir), 0o700); err != nil {
				return err
			}
		}
		id := blobID(b.SHA)
		if r.known != nil && r.known(id, b.Size) {
			continue
		}
		data, err := r.s.Get(r.ctx, BlobName(b.SHA), b.Size)
		if err != nil {
			return err
		}
		one := *r
		if one.owner.Mode&0o070 != 0 {
			one.owner.UID = b.UID
		}
		if err := one.fill(path.Join(blob.Dir, id), data, b.Time); err != nil {
			return err
		}
	}
	return nil
}

// born sets when the session was made.
func (r *restorer) born() error {
	return r.root.FS.Chtimes(path.Join(r.dir, disk.IDFile), time.Unix(0, r.snap.Created))
}

// finish syncs the directories of the session.
func (r *restorer) finish() error { return r.syncDirs(r.dir) }

// syncDirs syncs a directory and those in it.
func (r *restorer) syncDirs(dir string) error {
	entries, err := r.root.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := r.syncDirs(path.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return r.root.FS.SyncDir(dir)
}
