package keeper

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// mostLooked is how many files of an owner are looked at for what was not committed.
const mostLooked = 1 << 17

// found is a file of the disk that is not what the state has.
type found struct {
	name string
	node names.Node
	data []byte
}

// recover commits what is on the disk and shared, but was not committed: what a crash left, what stood in the
// way of something else, and what was here before. It also makes again what is missing on the disk. All that is
// true was made true before. The caller has the turn.
func (o *owner) recover(ctx context.Context) error {
	want := o.copy.want
	again := names.Touched{}
	for place := range want.All().Files {
		name, _ := want.PathOf(place)
		if _, err := o.k.disk.stat(o.stored(name)); errors.Is(err, fs.ErrNotExist) {
			again.Add(names.Touched{Files: map[names.Place]bool{place: true}})
		}
	}
	if len(again.Files) > 0 {
		o.touched.Add(again)
		if err := errors.Join(o.makeTrue(ctx), o.done()); err != nil {
			return vfs.Failed("apply", "", vfs.WithKind(err), "what was committed is not shown yet")
		}
		o.touched = names.Touched{}
	}
	var list []found
	left := mostLooked
	roots := []string{ctxabi.TrustFile, ctxabi.ProjectsDir}
	for _, agent := range want.Agents() {
		roots = append(roots, names.HomePath(agent))
	}
	for _, root := range roots {
		if err := o.look(root, want, &list, &left); err != nil {
			return err
		}
	}
	for _, f := range list {
		if err := o.commitFound(ctx, f); err != nil {
			if errors.Is(err, engine.ErrUnreachable) || errors.Is(err, engine.ErrUnknown) || ctx.Err() != nil {
				return err
			}
			o.k.o.Logger.Warn("a file of this host is not shared", "file", o.stored(f.name), "err", err)
		}
	}
	return nil
}

// lacks returns what a file was before it got the content that could not be fetched yet; ok is false if it lacks
// none.
func (o *owner) lacks(name string) (before names.Node, ok bool) {
	for place, n := range o.copy.missing {
		if at, ok := o.copy.want.PathOf(place); ok && at == name {
			return n, true
		}
	}
	return before, false
}

// look adds what is on the disk below a path and differs from the state, directories before what is in them.
func (o *owner) look(name string, want *names.State, list *[]found, left *int) error {
	if *left--; *left < 0 {
		return nil
	}
	x, err := o.k.disk.stat(o.stored(name))
	if err != nil {
		return nil // gone, or nothing that can be looked at
	}
	shared := names.Shared(o.subject, name)
	if shared && !o.changing(name) {
		n, data, ok, err := o.k.disk.read(o.stored(name))
		if err != nil {
			return nil
		}
		old, there := want.Node(name)
		if before, ok := o.lacks(name); ok && n.Hash == before.Hash {
			return nil // the other content could not be fetched yet
		}
		if ok && (!there || n.Kind == names.Regular && old.Kind == names.Regular && n.Hash != old.Hash) {
			*list = append(*list, found{name, n, data})
		}
	}
	if !is(x, unix.S_IFDIR) {
		return nil
	}
	entries, err := o.k.disk.list(o.stored(name))
	if err != nil {
		return err
	}
	for _, e := range entries {
		below := path.Join(name, e.Name())
		if agent, rel, ok := names.SplitHome(below); ok && agent != "" && (rel == ctxabi.SessionDir || rel == ctxabi.HomeSearchDir) {
			continue
		}
		if strings.HasPrefix(e.Name(), newName) { // a crash left it half written
			if err := o.do("remove "+below, func() error { return o.k.disk.remove(o.stored(below), false) }); err != nil {
				return err
			}
			continue
		}
		if err := o.look(below, want, list, left); err != nil {
			return err
		}
	}
	return nil
}

// commitFound commits a file of the disk.
func (o *owner) commitFound(ctx context.Context, f found) error {
	switch f.node.Kind {
	case names.Regular:
		row := fileOf(f.name, f.node)
		old, _ := o.copy.want.Node(f.name)
		row.Base = old.Hash
		_, err := o.writeFile(ctx, row, f.data)
		return err
	case names.Directory:
		l := names.Link{Op: names.Mkdir, Path: f.name, Mode: f.node.Mode, UID: f.node.UID, GID: f.node.GID, MTime: f.node.MTime}
		_, err := o.commit(ctx, names.ChangeLink{Link: l}, nil)
		return err
	}
	l := names.Link{Op: names.Symlink, Path: f.name, Target: f.node.Target, UID: f.node.UID, GID: f.node.GID, MTime: f.node.MTime}
	_, err := o.commit(ctx, names.ChangeLink{Link: l}, nil)
	return err
}
