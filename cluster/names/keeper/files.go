package keeper

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/names"
)

// stored returns the path of a shared file in the store.
func (o *owner) stored(name string) string { return path.Join(o.ref.Owner(), name) }

// placing is a file that is to become another: what it was, and what it is to be; nil if there is none.
type placing struct {
	place     names.Place
	old, want *names.Node
}

// placeFiles makes the touched files what they are to be.
func (o *owner) placeFiles(ctx context.Context) error {
	o.late = map[names.Place]names.Node{}
	list := map[string]placing{}
	for place := range o.copy.missing {
		o.placing(place, list)
	}
	for place := range o.touched.Files {
		o.placing(place, list)
	}
	sorted := slices.Sorted(maps.Keys(list))
	for _, name := range slices.Backward(sorted) {
		if p := list[name]; p.want == nil && p.old != nil {
			if err := o.removeFile(name, *p.old); err != nil {
				return err
			}
		}
	}
	for _, name := range sorted {
		if p := list[name]; p.want != nil {
			if err := o.placeFile(ctx, name, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// placing adds a file to a list by its path.
func (o *owner) placing(place names.Place, list map[string]placing) {
	name, ok := o.copy.want.PathOf(place)
	if !ok {
		return // its agent is removed
	}
	p := placing{place: place}
	if before, ok := o.copy.have.PathOf(place); ok {
		if n, ok := o.copy.have.Node(before); ok {
			p.old = &n
		}
	}
	if n, ok := o.copy.missing[place]; ok {
		p.old = &n
	}
	if n, ok := o.copy.want.Node(name); ok {
		p.want = &n
	}
	list[name] = p
}

// removeFile removes a file that was as old says; what a user put there instead gets another name, and a
// directory with files of this host stays.
func (o *owner) removeFile(name string, old names.Node) error {
	n, _, ok, err := o.k.disk.read(o.stored(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !ok {
		return err
	}
	if !o.known(name, n, old) {
		return o.setAside(name)
	}
	dir := n.Kind == names.Directory
	err = o.do("remove "+name, func() error { return o.k.disk.remove(o.stored(name), dir) })
	if dir && errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// known reports whether what is on the disk is what was made true before, or will be committed by somebody.
func (o *owner) known(name string, n, old names.Node) bool {
	switch {
	case n.Kind == names.Regular && o.changing(name):
		return true
	case n.Kind != old.Kind:
		return false
	case n.Kind == names.Regular:
		return n.Hash == old.Hash
	}
	return n.Target == old.Target
}

// overtaken reports whether want is what this host commits of a file, and n what somebody else on it who has the file open has made
// of it since, which he commits when he closes it.
func (o *owner) overtaken(name string, n, want names.Node) bool {
	return n.Kind == names.Regular && name == o.writing && want.Hash == o.wrote && o.k.o.Changing(o.stored(name))
}

// setAside renames what a user has put where something else is to be. It is committed under that name when the
// owner is entered or looked at next, if it is shared.
func (o *owner) setAside(name string) error {
	for n := 1; ; n++ {
		to := names.ConflictName(name, o.k.o.Host, n)
		if _, err := o.k.disk.stat(o.stored(to)); errors.Is(err, fs.ErrNotExist) {
			o.k.o.Logger.Warn("what was changed here and not committed has another name", "file", o.stored(name), "name", path.Base(to))
			o.unsaved[to] = true
			return o.do("rename "+name+" to "+to, func() error { return o.k.disk.rename(o.stored(name), o.stored(to)) })
		} else if err != nil {
			return err
		}
	}
}

// placeFile makes a file on the disk what it is to be.
func (o *owner) placeFile(ctx context.Context, name string, p placing) error {
	var old names.Node
	if p.old != nil {
		old = *p.old
	}
	want := *p.want
	n, _, ok, err := o.k.disk.read(o.stored(name))
	if err != nil {
		if err := o.parents(name); err != nil {
			return err
		}
		n, _, ok, err = o.k.disk.read(o.stored(name))
	}
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // one file that cannot be looked at stops no other
		o.miss(name, p, old, err)
		return nil
	}
	if there && n.Kind == want.Kind && n.Hash == want.Hash && n.Target == want.Target {
		return o.placeAttributes(name, n, want)
	}
	if there && o.overtaken(name, n, want) {
		return nil
	}
	var data []byte
	if want.Kind == names.Regular {
		if data, err = o.content(ctx, want.Hash); err != nil {
			o.miss(name, p, old, err)
			return nil
		}
	}
	if there && (want.Kind != names.Regular || n.Kind != names.Regular || !o.known(name, n, old)) {
		if ok && o.known(name, n, old) {
			err = o.removeFile(name, old)
		} else {
			err = o.setAside(name)
		}
		if err != nil {
			return err
		}
	}
	return o.do("make "+name, func() error {
		switch want.Kind {
		case names.Directory:
			return o.k.disk.mkdir(o.stored(name), want)
		case names.Symbolic:
			return o.k.disk.symlink(o.stored(name), want)
		}
		return o.k.disk.write(o.stored(name), want, data)
	})
}

// miss notes a file that stays as it is for now.
func (o *owner) miss(name string, p placing, old names.Node, err error) {
	o.k.o.Logger.Warn("a file of another host is not here yet", "file", o.stored(name), "err", err)
	o.late[p.place] = old
}

// content returns what has a hash. It is fetched from the cluster.
func (o *owner) content(ctx context.Context, hash string) ([]byte, error) {
	data, err := o.k.o.Engine.Objects().Get(ctx, names.ContentKey(o.subject, hash), 0, -1)
	if err == nil && Hash(data) != hash {
		err = errors.New("content of a file is damaged")
	}
	return data, err
}

// placeAttributes sets the attributes of a file whose content is right.
func (o *owner) placeAttributes(name string, n, want names.Node) error {
	if !o.k.disk.asRoot {
		n.UID, n.GID = want.UID, want.GID
	}
	if n.Kind != names.Regular {
		n.MTime = want.MTime // that of a directory changes with what is in it
	}
	if n.Kind == names.Symbolic || n.Equal(want) || n.Kind == names.Directory && n.Mode == want.Mode && n.UID == want.UID && n.GID == want.GID {
		return nil
	}
	return o.do("set attributes of "+name, func() error { return o.k.disk.attributes(o.stored(name), want) })
}

// parents makes the directories above a file that hosts do not share themselves, and moves what stands in
// their way.
func (o *owner) parents(name string) error {
	agent, _, _ := names.SplitHome(name)
	owner, ok := o.copy.want.Home()
	if agent != "" {
		owner, _, ok = o.copy.want.Agent(agent)
	}
	if !ok {
		return nil
	}
	var up []string
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		up = append(up, dir)
	}
	for _, dir := range slices.Backward(up) {
		x, err := o.k.disk.stat(o.stored(dir))
		if err == nil && is(x, unix.S_IFDIR) {
			continue
		}
		if err == nil {
			err = o.setAside(dir)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err == nil {
			n := names.Node{Kind: names.Directory, Mode: owner.Mode, UID: owner.UID, GID: owner.GID, MTime: o.k.store.Now().UnixNano()}
			err = o.do("make the directory "+dir, func() error { return o.k.disk.mkdir(o.stored(dir), n) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}
