package keeper

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// mostLooked is how many files of an owner are looked at for what was not committed.
const mostLooked = 1 << 17

// found is a file of the disk that is not what the state has.
type found struct {
	name string
	node names.Node
	data []byte
}

// enter commits what was not committed: all that is found when the owner is entered, and later the files whose
// commit failed. The caller has the turn, and all that was read is true.
func (o *owner) enter(ctx context.Context) error {
	o.queue.Lock()
	entered := o.entered
	o.queue.Unlock()
	if !entered {
		return o.recoverAll(ctx)
	}
	for _, name := range slices.Sorted(maps.Keys(o.unsaved)) {
		if o.changing(name) {
			continue
		}
		if o.commitBelow(ctx, name) != nil {
			return nil // the next look tries again
		}
		delete(o.unsaved, name)
	}
	return nil
}

// recoverAll is recover, and notes that the owner is entered.
func (o *owner) recoverAll(ctx context.Context) error {
	if err := o.recover(ctx); err != nil {
		return err
	}
	clear(o.unsaved)
	o.queue.Lock()
	defer o.queue.Unlock()
	o.entered = true
	return nil
}

// later reports whether what failed may be done later.
func later(err error) bool {
	return errors.Is(err, engine.ErrUnreachable) || errors.Is(err, engine.ErrUnknown) || errors.Is(err, engine.ErrFull) || errors.Is(err, context.DeadlineExceeded)
}

// adopt is Adopt with the turn.
func (o *owner) adopt(ctx context.Context, name string) error {
	f, differs, err := o.compare(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !differs {
		return nil
	}
	if err != nil {
		return err
	}
	return o.commitFound(ctx, f)
}

// recover commits what is on the disk and shared, but was not committed: what a crash left, what stood in the
// way of something else, and what was here before. It also makes again what is missing on the disk. All that is
// true was made true before. The caller has the turn.
func (o *owner) recover(ctx context.Context) error {
	want := o.copy.want // grows with what is committed here
	if again, some := o.gone(); some {
		if err := o.makeAgain(ctx, again); err != nil {
			return err
		}
	}
	if err := o.recoverSpace(ctx); err != nil {
		return err
	}
	roots := []string{ctxabi.TrustFile, ctxabi.ProjectsDir}
	for _, agent := range want.Agents() {
		roots = append(roots, names.HomePath(agent))
	}
	return o.commitBelow(ctx, roots...)
}

// recoverSpace commits a shared space that was made in the store beside the mount.
func (o *owner) recoverSpace(ctx context.Context) error {
	if _, ok := o.copy.want.Home(); ok || o.ref.Space == "" {
		return nil
	}
	x, err := o.k.disk.stat(o.ref.Owner())
	if err != nil || !is(x, unix.S_IFDIR) {
		return nil // there is none
	}
	_, err = o.commit(ctx, names.CreateHome{Owner: names.Owner{UID: x.Uid, GID: x.Gid, Mode: uint32(x.Mode) & 0o7777}}, nil)
	if errors.Is(err, ctxabi.ErrExists) {
		return nil // another host was faster
	}
	return err
}

// isUnmade reports whether the owner is a space that is not in the journal, as far as that was read.
func (o *owner) isUnmade() (unmade bool) {
	if o.ref.Space != "" {
		o.replica.View(func(s *names.State) { _, made := s.Home(); unmade = !made })
	}
	return unmade
}

// commitBelow commits what is on the disk below some paths and is not what the state has.
func (o *owner) commitBelow(ctx context.Context, roots ...string) error {
	var list []found
	left := mostLooked
	for _, root := range roots {
		if err := o.look(root, o.copy.want, &list, &left); err != nil {
			return err
		}
	}
	for _, f := range list {
		if err := o.commitFound(ctx, f); err != nil {
			if later(err) || ctx.Err() != nil {
				return err
			}
			o.k.o.Logger.Warn("a file of this host is not shared", "file", o.stored(f.name), "err", err)
		}
	}
	return nil
}

// gone returns what is true and is not on the disk: who looks after a disk may have removed it, or lost it.
func (o *owner) gone() (again names.Touched, some bool) {
	want := o.copy.want
	all := want.All()
	isGone := func(name string) bool {
		_, err := o.k.disk.stat(name)
		some = some || errors.Is(err, fs.ErrNotExist)
		return errors.Is(err, fs.ErrNotExist)
	}
	maps.DeleteFunc(all.Files, func(place names.Place, _ bool) bool {
		name, _ := want.PathOf(place)
		return !isGone(o.stored(name))
	})
	maps.DeleteFunc(all.Sessions, func(id string, _ bool) bool {
		x, _ := want.SessionByID(id)
		return !isGone(x.Ref.Path())
	})
	maps.DeleteFunc(all.Agents, func(born uint64, _ bool) bool {
		agent, ok := want.AgentOf(born)
		return !ok || !isGone(o.home(agent))
	})
	return all, some
}

// AdoptAgent makes the agent ref, which is on the disk of this host and not known to others, one that hosts
// share, with its files, not with its sessions. It does nothing for an agent that they know, or that is not on
// the disk. It returns the errors of Commit and of engine.Objects.Put.
func (k *Keeper) AdoptAgent(ctx context.Context, ref ctxabi.Ref) error {
	o, err := k.owner(ref)
	if err != nil {
		return err
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	if _, _, ok := o.copy.want.Agent(ref.Agent); ok {
		return nil
	}
	x, err := o.k.disk.stat(ref.AgentHome())
	if err != nil || !is(x, unix.S_IFDIR) {
		return nil // there is none
	}
	owner := names.Owner{UID: x.Uid, GID: x.Gid, Mode: uint32(x.Mode) & 0o7777}
	if _, err := o.commit(ctx, names.CreateAgent{Agent: ref.Agent, Owner: owner}, nil); err != nil && !errors.Is(err, ctxabi.ErrExists) {
		return err
	}
	return o.commitBelow(ctx, names.HomePath(ref.Agent))
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
	if f, differs, err := o.compare(name); err != nil {
		return nil
	} else if old, there := want.Node(name); differs && (!there || f.node.Hash != old.Hash) {
		*list = append(*list, f)
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

// compare returns what a shared file is on the disk, and reports whether it is to be committed because it is not
// what the state has. It returns the error of the disk, fs.ErrNotExist among them.
func (o *owner) compare(name string) (f found, differs bool, err error) {
	if !names.Shared(o.subject, name) || o.changing(name) {
		return f, false, nil
	}
	n, data, ok, err := o.k.disk.read(o.stored(name))
	if err != nil || !ok {
		return f, false, err
	}
	if before, ok := o.lacks(name); ok && n.Hash == before.Hash {
		return f, false, nil // the other content could not be fetched yet
	}
	old, there := o.copy.want.Node(name)
	same := n
	if !o.k.disk.asRoot {
		same.UID, same.GID = old.UID, old.GID
	}
	if n.Kind == names.Directory {
		same.MTime = old.MTime
	}
	return found{name, n, data}, !there || n.Kind == old.Kind && n.Kind != names.Symbolic && !same.Equal(old), nil
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
		op := names.Mkdir
		if _, there := o.copy.want.Node(f.name); there {
			op = names.Attributes
		}
		l := names.Link{Op: op, Path: f.name, Mode: f.node.Mode, UID: f.node.UID, GID: f.node.GID, MTime: f.node.MTime}
		_, err := o.commit(ctx, names.ChangeLink{Link: l}, nil)
		return err
	}
	l := names.Link{Op: names.Symlink, Path: f.name, Target: f.node.Target, UID: f.node.UID, GID: f.node.GID, MTime: f.node.MTime}
	_, err := o.commit(ctx, names.ChangeLink{Link: l}, nil)
	return err
}
