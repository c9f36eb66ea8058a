package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// movingMark is in the names of what is on its way to a name that something else has still.
const movingMark = ".ctxfs-moving-"

// inode returns the number of an agent's home on the disk; 0 if there is none of that name.
func (o *owner) inode(agent string) (uint64, error) {
	x, err := o.k.disk.stat(o.home(agent))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil || !is(x, unix.S_IFDIR) {
		return 0, err
	}
	return x.Ino, nil
}

// where returns the name that an agent's home has on the disk; "" if it is not there. It may have been renamed
// since the state that is true: each rename was noted before, with the inode.
func (o *owner) where(born uint64) (string, error) {
	for _, m := range slices.Backward(o.copy.moves) {
		if m.Born != born {
			continue
		}
		if ino, err := o.inode(m.To); err != nil || ino == m.Ino {
			return m.To, err
		}
	}
	old, ok := o.copy.have.AgentOf(born)
	if !ok {
		return "", nil
	}
	ino, err := o.inode(old)
	if err != nil || ino == 0 {
		return "", err
	}
	for _, m := range o.copy.moves {
		if m.Born == born && m.Ino != ino || m.Born != born && m.Ino == ino {
			return "", nil // another's by now
		}
	}
	return old, nil
}

// removeAgents removes the homes of agents that are no more, but for what this host alone has in them.
func (o *owner) removeAgents() error {
	for _, born := range slices.Sorted(maps.Keys(o.touched.Agents)) {
		if _, ok := o.copy.want.AgentOf(born); ok || born == 0 {
			continue
		}
		name, err := o.where(born)
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		if err := o.removeHome(born, name); err != nil {
			return err
		}
	}
	return nil
}

// removeHome removes what hosts share of an agent's home, and the home if nothing else is in it.
func (o *owner) removeHome(born uint64, name string) error {
	old, _ := o.copy.have.AgentOf(born)
	up := map[string]bool{o.home(name): true, path.Join(o.home(name), ctxabi.SessionDir): true}
	for _, p := range slices.Backward(o.copy.have.Paths()) {
		agent, rel, ok := names.SplitHome(p)
		if !ok || agent != old {
			continue
		}
		n, _ := o.copy.have.Node(p)
		if before, ok := o.copy.missing[names.Place{Born: born, Rel: rel}]; ok {
			n = before
		}
		if err := o.removeFile(names.HomePath(name, rel), n); err != nil {
			return err
		}
		for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
			up[path.Join(o.home(name), dir)] = true
		}
	}
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(up))) {
		err := o.do("remove the directory "+dir, func() error { return o.k.disk.remove(dir, true) })
		if err != nil && !errors.Is(err, fs.ErrExist) { // what is not empty stays
			return err
		}
	}
	return nil
}

// makeHome makes the owner's home.
func (o *owner) makeHome() error {
	owner, ok := o.copy.want.Home()
	if !ok || !o.touched.Agents[0] && len(o.touched.Agents) == 0 {
		return nil
	}
	return o.do("make the home "+o.ref.Owner(), func() error {
		if o.ref.Space == "" {
			return o.k.store.EnsureHome(o.ref.UID, owner.GID)
		}
		_, err := o.k.store.CreateSpace(o.ref.Space, owner.GID)
		if errors.Is(err, ctxabi.ErrExists) {
			return nil
		}
		return err
	})
}

// moveAgents renames the homes of agents that have other names now.
func (o *owner) moveAgents() error {
	to := map[uint64]string{}
	for born := range o.touched.Agents {
		name, ok := o.copy.want.AgentOf(born)
		if !ok {
			continue
		}
		if at, err := o.where(born); err != nil {
			return err
		} else if at != "" && at != name {
			to[born] = name
		}
	}
	for len(to) > 0 {
		moved := false
		for _, born := range slices.Sorted(maps.Keys(to)) {
			if ino, err := o.inode(to[born]); err != nil {
				return err
			} else if ino != 0 {
				continue
			}
			if err := o.moveAgent(born, to[born]); err != nil {
				return err
			}
			delete(to, born)
			moved = true
		}
		if moved || len(to) == 0 {
			continue
		}
		if err := o.makeRoom(to); err != nil {
			return err
		}
	}
	return nil
}

// makeRoom moves what has the name that an agent is to have: another one that gets another name, too, or a
// home of this host alone.
func (o *owner) makeRoom(to map[uint64]string) error {
	first := slices.Sorted(maps.Keys(to))[0]
	for born := range to {
		at, err := o.where(born)
		if err != nil {
			return err
		}
		if at == to[first] {
			return o.moveAgent(born, fmt.Sprint(cutName(at, 80), movingMark, born))
		}
	}
	free, err := o.freeName(to[first], func(name string) (bool, error) { ino, err := o.inode(name); return ino == 0, err })
	if err != nil {
		return err
	}
	return o.renameDir(o.home(to[first]), o.home(free))
}

// moveAgent renames an agent's home, after noting which directory gets the name.
func (o *owner) moveAgent(born uint64, to string) error {
	at, err := o.where(born)
	if err != nil {
		return err
	}
	ino, err := o.inode(at)
	if err != nil {
		return err
	}
	m := move{born, to, ino}
	if err := o.do("note a rename", func() error { return o.copy.add(true, line{Move: &m}) }); err != nil {
		return err
	}
	o.copy.moves = append(o.copy.moves, m)
	return o.renameDir(o.home(at), o.home(to))
}

func (o *owner) renameDir(from, to string) error {
	return o.do("rename "+from+" to "+to, func() error {
		return o.k.store.ApplyName(session.NameChange{Kind: session.RenameDir, From: from, To: to})
	})
}

// freeName returns a name of this host's own for what stands in the way of name.
func (o *owner) freeName(name string, free func(name string) (bool, error)) (string, error) {
	for n := 1; ; n++ {
		suffix := path.Base(names.ConflictName("x", o.k.o.Host, n))[1:]
		other := cutName(name, ctxabi.MaxName-len(suffix)) + suffix
		if ok, err := free(other); ok || err != nil {
			return other, err
		}
	}
}

// cutName returns the first bytes of a name.
func cutName(name string, n int) string { return name[:min(len(name), max(n, 1))] }

// makeAgents makes the homes of agents that are not there.
func (o *owner) makeAgents() error {
	for _, born := range slices.Sorted(maps.Keys(o.touched.Agents)) {
		name, ok := o.copy.want.AgentOf(born)
		if !ok {
			continue
		}
		owner, _, _ := o.copy.want.Agent(name)
		ref := o.ref
		ref.Agent = name
		if err := o.do("make the agent "+name, func() error { return o.k.store.EnsureAgent(ref, disk.Owner(owner)) }); err != nil {
			return err
		}
	}
	return nil
}
