package keeper

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// idAt returns the id of the session that is on the disk at ref; "" if there is none.
func (o *owner) idAt(ref ctxabi.Ref) (string, error) {
	root := o.k.store.Disk()
	data, err := vfs.ReadFile(root.FS, root.Join(ref.Path(), disk.IDFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(data)), err
}

// locate returns where a session is on the disk, of the places where it can be: that of the state that is true,
// with the agent under the name that its home has on the disk, and that of the state that is wanted.
func (o *owner) locate(id string) (at ctxabi.Ref, ok bool, err error) {
	var places []ctxabi.Ref
	if x, ok := o.copy.want.SessionByID(id); ok {
		places = append(places, x.Ref)
	}
	if x, ok := o.copy.have.SessionByID(id); ok {
		places = append(places, x.Ref)
		_, born, _ := o.copy.have.Agent(x.Ref.Agent)
		agent, err := o.where(born)
		if err != nil {
			return at, false, err
		}
		if agent != "" {
			x.Ref.Agent = agent
			places = append(places, x.Ref)
		}
	}
	for _, place := range places {
		for _, name := range []string{place.Session, "x" + movingMark + id} {
			place.Session = name
			found, err := o.idAt(place)
			if err != nil {
				return at, false, err
			}
			if found == id {
				return place, true, nil
			}
		}
	}
	return at, false, nil
}

// removeSessions removes the sessions that are no more.
func (o *owner) removeSessions() error {
	for _, id := range slices.Sorted(maps.Keys(o.touched.Sessions)) {
		if _, ok := o.copy.want.SessionByID(id); ok {
			continue
		}
		at, ok, err := o.locate(id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		err = o.do("remove the session "+at.Path(), func() error {
			if kept, err := o.keep(at, id); kept || err != nil {
				return err
			}
			return o.k.store.ApplyName(session.NameChange{Kind: session.RemoveSession, Ref: at, ID: id})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keep reports whether a session stays here though its name is gone.
func (o *owner) keep(at ctxabi.Ref, id string) (bool, error) {
	if o.k.o.Keep == nil {
		return false, nil
	}
	x, err := o.k.store.Session(at)
	if err != nil || x.ID() != id {
		return false, nil // to be removed as before
	}
	return o.k.o.Keep(x)
}

// placeSessions makes sessions, and moves them to where they are wanted.
func (o *owner) placeSessions() error {
	open := map[string]bool{}
	for id := range o.touched.Sessions {
		x, ok := o.copy.want.SessionByID(id)
		if !ok {
			continue
		}
		found, err := o.idAt(x.Ref)
		if err != nil {
			return err
		}
		if found != id {
			open[id] = true
		}
	}
	for len(open) > 0 {
		placed := false
		for _, id := range slices.Sorted(maps.Keys(open)) {
			x, _ := o.copy.want.SessionByID(id)
			if free, err := o.freeSession(x.Ref); err != nil {
				return err
			} else if !free {
				continue
			}
			if err := o.placeSession(id, x.Ref, disk.Owner(x.Owner)); err != nil {
				return err
			}
			delete(open, id)
			placed = true
		}
		if placed || len(open) == 0 {
			continue
		}
		x, _ := o.copy.want.SessionByID(slices.Sorted(maps.Keys(open))[0])
		if err := o.makeRoomForSession(x.Ref, open); err != nil {
			return err
		}
	}
	return nil
}

// freeSession reports whether nothing is on the disk at ref.
func (o *owner) freeSession(ref ctxabi.Ref) (bool, error) {
	_, err := o.k.disk.stat(ref.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// placeSession moves a session to ref, or makes it there if it is nowhere.
func (o *owner) placeSession(id string, ref ctxabi.Ref, owner disk.Owner) error {
	at, ok, err := o.locate(id)
	if err != nil {
		return err
	}
	if ok {
		return o.renameDir(at.Path(), ref.Path())
	}
	return o.do("make the session "+ref.Path(), func() error {
		return o.k.store.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: ref, Owner: owner, ID: id})
	})
}

// makeRoomForSession moves what is on the disk at ref: a session that is wanted elsewhere, which is among open
// afterwards, or one of this host alone.
func (o *owner) makeRoomForSession(ref ctxabi.Ref, open map[string]bool) error {
	id, err := o.idAt(ref)
	if err != nil {
		return err
	}
	to := ref
	if _, ok := o.copy.want.SessionByID(id); ok {
		to.Session = "x" + movingMark + id
		open[id] = true
		return o.renameDir(ref.Path(), to.Path())
	}
	to.Session, err = o.freeName(ref.Session, func(name string) (bool, error) {
		to.Session = name
		return o.freeSession(to)
	})
	if err != nil {
		return err
	}
	return o.renameDir(ref.Path(), to.Path())
}
