package check

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// ownedTree returns the directory of an owner, home/<uid> or shared/<space>.
func (c *checker) ownedTree(rel string) *sessionTree {
	return &sessionTree{c: c, dir: c.s.Disk().Join(rel), rel: rel}
}

// twice calls look, and once more if it reports damage and nothing is repaired: beside a daemon a file may
// be half written at the first look, so that only damage found both times counts.
func (c *checker) twice(look func()) {
	had, before := len(c.pending), c.sum
	look()
	if c.o.Repair || len(c.pending) == had {
		return
	}
	first := slices.Clone(c.pending[had:])
	c.pending, c.sum = c.pending[:had], before
	look()
	second := slices.DeleteFunc(slices.Clone(c.pending[had:]), func(d Damage) bool { return !slices.Contains(first, d) })
	c.pending = append(c.pending[:had], second...)
}

// checkDerived looks at the files that are derived of all sessions of an owner, in the owner's own
// internal directory. All of them are caches.
func (c *checker) checkDerived(rel string) {
	t := c.ownedTree(rel)
	fi, err := c.s.Disk().FS.Stat(path.Join(t.dir, ctxabi.InternalDir))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	at := path.Join(rel, ctxabi.InternalDir)
	if err != nil || !fi.IsDir() {
		c.report(at, Odd, c.asideOfStore(at), "it must be a directory")
		return
	}
	c.twice(func() { t.derivedDir(ctxabi.InternalDir) })
}

// deepOwners reports the damage that DeepOwner finds in the files derived of all sessions of an owner. It
// runs after the repair of the sessions. It returns the errors of DeepOwner.
func (c *checker) deepOwners(ctx context.Context) error {
	if c.o.DeepOwner == nil {
		return nil
	}
	var owners []ctxabi.Ref
	for _, uid := range c.s.Homes() {
		owners = append(owners, ctxabi.Ref{UID: uid})
	}
	for _, space := range c.s.Spaces() {
		owners = append(owners, ctxabi.Ref{Space: space.Name})
	}
	var failed error
	for _, of := range owners {
		t := c.ownedTree(of.Owner())
		c.twice(func() {
			problems, err := c.o.DeepOwner(ctx, c.s, of)
			failed = errors.Join(failed, err)
			for _, p := range problems {
				f := &CheckedFile{Rel: p.Log, t: t}
				f.Report(p.severity(), f.Remove(), "%s", p.What)
			}
		})
	}
	c.tell()
	return failed
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
		kind := kindIn(slices.Concat(ownerKinds, c.o.OwnerKinds), rel, fi.IsDir())
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
