package names

import (
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// put sets a node, or removes it if n is nil.
func (c *change) put(t *tree, rel string, n *Node) {
	if n == nil {
		set(c, t.nodes, rel, Node{}, false)
	} else {
		set(c, t.nodes, rel, *n, true)
	}
	c.touched.Files[Place{t.born, rel}] = true
}

// file applies a row f.
func (c *change) file(f File) error {
	t, rel, err := c.find("write", f.Path)
	if err == nil {
		err = t.checkParent("write", c.subject, f.Path, rel)
	}
	if err != nil {
		return err
	}
	old, ok := t.nodes[rel]
	switch {
	case ok && old.Kind == Directory:
		return refuseFor(ErrIsDir, "write", f.Path, ctxabi.ErrProtected, "it is a directory")
	case ok && old.Kind == Symbolic:
		return refuse("write", f.Path, ctxabi.ErrExists, "it is a symbolic link")
	case old.Hash != f.Base && old.Hash != f.Hash:
		return refuse("write", f.Path, ctxabi.ErrConflict, "another host changed it since it was opened")
	case !ok && len(t.under(rel)) > 0:
		return refuseFor(ErrIsDir, "write", f.Path, ctxabi.ErrProtected, "there are files below it")
	}
	c.put(t, rel, &Node{Kind: Regular, Hash: f.Hash, Size: f.Size, Mode: f.Mode, UID: f.UID, GID: f.GID, MTime: f.MTime, Xattrs: f.Xattrs})
	return nil
}

// link applies a row k.
func (c *change) link(l Link) error {
	if l.Op == Move {
		return c.move(l)
	}
	op := string(l.Op)
	t, rel, err := c.find(op, l.Path)
	if err != nil {
		return err
	}
	old, ok := t.nodes[rel]
	made := Node{Kind: Directory, Mode: l.Mode, UID: l.UID, GID: l.GID, MTime: l.MTime}
	if l.Op == Symlink {
		made.Kind, made.Target = Symbolic, l.Target
	}
	switch l.Op {
	case Mkdir, Symlink:
		if ok || l.Op == Symlink && len(t.under(rel)) > 0 {
			return refuse(op, l.Path, ctxabi.ErrExists, "it exists already")
		}
		if err := t.checkParent(op, c.subject, l.Path, rel); err != nil {
			return err
		}
		c.put(t, rel, &made)
		return nil
	case Attributes, Rmdir, Unlink:
		if !ok {
			return refuse(op, l.Path, ctxabi.ErrNotFound, "it is not there")
		}
	}
	dir := old.Kind == Directory
	switch {
	case l.Op == Unlink && dir:
		return refuseFor(ErrIsDir, op, l.Path, ctxabi.ErrProtected, "it is a directory")
	case l.Op != Unlink && !dir:
		return refuseFor(ErrNotDir, op, l.Path, ctxabi.ErrNotFound, "it is no directory")
	case l.Op == Rmdir && len(t.under(rel)) > 0:
		return refuseFor(ErrNotEmpty, op, l.Path, ctxabi.ErrExists, "it is not empty")
	case l.Op == Attributes:
		c.put(t, rel, &made)
	default:
		c.put(t, rel, nil)
	}
	return nil
}

// move applies a rename: of one node, and of all that lies below it.
func (c *change) move(l Link) error {
	const op = "rename"
	from, a, err := c.locate(op, l.Path)
	if err != nil {
		return err
	}
	to, b, err := c.locate(op, l.To)
	if err != nil {
		return err
	}
	node, ok := from.nodes[a]
	below := from.under(a)
	if !ok && len(below) == 0 {
		return refuse(op, l.Path, ctxabi.ErrNotFound, "it is not there")
	}
	if l.Path == l.To {
		return nil
	}
	if within(l.To, l.Path) {
		return refuse(op, l.Path, ctxabi.ErrMalformed, "%s lies in it", l.To)
	}
	if err := to.checkParent(op, c.subject, l.To, b); err != nil {
		return err
	}
	if err := c.mayReplace(l, to, b, !ok || node.Kind == Directory); err != nil {
		return err
	}
	moved := map[string]Node{}
	for _, rel := range append(below, a) {
		n, there := from.nodes[rel]
		if !there {
			continue // a directory that is not shared itself
		}
		if !Shared(c.subject, l.To+rel[len(a):]) {
			return refuseFor(ErrCrosses, op, l.Path, ctxabi.ErrProtected, "hosts do not share %s", l.To+rel[len(a):])
		}
		moved[b+rel[len(a):]] = n
		c.put(from, rel, nil)
	}
	for rel, n := range moved {
		c.put(to, rel, &n)
	}
	return nil
}

// mayReplace returns why what stands at the target of a rename stays there.
func (c *change) mayReplace(l Link, to *tree, b string, dir bool) error {
	old, ok := to.nodes[b]
	switch {
	case ok && old.Kind == Directory && !dir:
		return refuseFor(ErrIsDir, "rename", l.To, ctxabi.ErrProtected, "it is a directory")
	case ok && old.Kind != Directory && dir:
		return refuseFor(ErrNotDir, "rename", l.To, ctxabi.ErrNotFound, "it is no directory")
	case len(to.under(b)) > 0:
		return refuseFor(ErrNotEmpty, "rename", l.To, ctxabi.ErrExists, "it is not empty")
	}
	return nil
}

// within reports whether a path lies below a directory.
func within(name, dir string) bool {
	for name = path.Dir(name); name != "."; name = path.Dir(name) {
		if name == dir {
			return true
		}
	}
	return false
}
