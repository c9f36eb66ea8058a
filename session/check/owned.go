package check

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// checkDerived looks at what is derived of all sessions of an owner, in his own internal directory.
// All of it is a cache. Beside a daemon files are seen half written: what counts is what is found
// twice.
func (c *checker) checkDerived(ctx context.Context, t *sessionTree, of ctxabi.Ref) {
	had, before := len(c.pending), c.sum
	c.checkDerivedOnce(ctx, t, of)
	if c.o.Repair || len(c.pending) == had {
		return
	}
	first := slices.Clone(c.pending[had:])
	c.pending, c.sum = c.pending[:had], before
	c.checkDerivedOnce(ctx, t, of)
	second := slices.DeleteFunc(slices.Clone(c.pending[had:]), func(d Damage) bool { return !slices.Contains(first, d) })
	c.pending = append(c.pending[:had], second...)
}

func (c *checker) checkDerivedOnce(ctx context.Context, t *sessionTree, of ctxabi.Ref) {
	fi, err := c.s.Disk().FS.Stat(path.Join(t.dir, ctxabi.InternalDir))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	at := path.Join(t.rel, ctxabi.InternalDir)
	if err != nil || !fi.IsDir() {
		c.report(at, Odd, c.asideOfStore(at), "it must be a directory")
		return
	}
	t.derivedDir(ctxabi.InternalDir)
	if c.o.DeepOwner == nil {
		return
	}
	problems, err := c.o.DeepOwner(ctx, c.s, of)
	if err != nil {
		return // ctx ended: who called says so
	}
	for _, p := range problems {
		f := &CheckedFile{Rel: p.Log, t: t}
		f.Report(p.severity(), f.Remove(), "%s", p.What)
	}
}

// derivedDir looks at the files of a directory of an owner.
func (t *sessionTree) derivedDir(dir string) {
	c := t.c
	for _, e := range c.entries(path.Join(t.rel, dir)) {
		rel := path.Join(dir, e.Name())
		at := path.Join(t.rel, rel)
		fi, err := c.s.Disk().FS.Stat(path.Join(t.dir, rel))
		if err != nil {
			continue // removed meanwhile
		}
		c.sum.Files++
		c.sum.Bytes += fi.Size()
		kind := kindIn(c.o.OwnerKinds, rel, fi.IsDir())
		switch {
		case kind == nil:
			c.report(at, Odd, c.asideOfStore(at), "a file with this name does not belong there")
		case fi.IsDir():
			t.derivedDir(rel)
		case !fi.Mode().IsRegular():
			c.report(at, Odd, c.asideOfStore(at), "it is %s, and must be a file", typeOf(fi))
		case kind.Check != nil:
			kind.Check(&CheckedFile{Rel: rel, t: t, info: fi, kind: kind})
		}
	}
}
