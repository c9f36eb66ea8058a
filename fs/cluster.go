package fs

import (
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// Cluster keeps a store up to date with those of other hosts. Its methods wait for a bounded time.
type Cluster interface {
	// Enter brings what the owner of ref has up to date on the disk: agents, sessions, files. It returns an error
	// if nothing of it is known.
	Enter(ctx context.Context, ref ctxabi.Ref) error

	// Owners returns the owners that have something, on whichever host it was made.
	Owners(ctx context.Context) []ctxabi.Ref

	// Look brings a session up to date, and keeps it so for a while. It returns an error if there is nothing of it
	// that can be shown.
	Look(ctx context.Context, x *session.Session) error

	// Behind returns since when a session may lack what other hosts have; ok is false if it lacks nothing.
	Behind(ctx context.Context, x *session.Session) (since time.Time, ok bool)

	// Publish brings a session of this host alone into the cluster.
	Publish(ctx context.Context, x *session.Session) error

	// Withdraw takes a session out of the cluster. It stays on this host.
	Withdraw(ctx context.Context, x *session.Session) error

	// Opened is called once, with what counts the open handles of a session.
	Opened(open func(id string) int)

	// Status returns keys and values for the status file.
	Status() [][2]string
}

// behindFact is the attribute of a session, and of its logs, that other hosts may have more of: for how many seconds.
const behindFact = "behind"

// enter brings the names of an owner up to date before they are looked at.
func (t *tree) enter(ctx context.Context, ref ctxabi.Ref) syscall.Errno {
	if t.cluster == nil {
		return 0
	}
	late, cancel := patient(ctx)
	defer cancel()
	if err := t.cluster.Enter(late, ref); err != nil {
		t.log.Debug("an owner cannot be entered", "owner", ref.Owner(), "err", err)
		return errnoOf(err)
	}
	return 0
}

// look brings the session up to date before it is read.
func (p *mountedSession) look(ctx context.Context) syscall.Errno {
	if p.t.cluster == nil {
		return 0
	}
	late, cancel := patient(ctx)
	defer cancel()
	if err := p.t.cluster.Look(late, p.x); err != nil {
		return p.refuse(ctx, "open", "", err)
	}
	return 0
}

// behind returns for how many seconds the session may lack what other hosts have, or "" if it lacks nothing.
func (p *mountedSession) behind(ctx context.Context) string {
	if p.t.cluster == nil {
		return ""
	}
	late, cancel := patient(ctx)
	defer cancel()
	since, ok := p.t.cluster.Behind(late, p.x)
	if !ok {
		return ""
	}
	return strconv.FormatFloat(time.Since(since).Seconds(), 'f', 1, 64)
}

// publish brings the session into the cluster. Only the session's owner may.
func (d *sessionDir) publish(ctx context.Context, asked string) syscall.Errno {
	return d.carry(ctx, "publish", asked, "1", Cluster.Publish)
}

// withdraw takes the session out of the cluster. Only the session's owner may.
func (d *sessionDir) withdraw(ctx context.Context, asked string) syscall.Errno {
	return d.carry(ctx, "withdraw", asked, d.p.x.Ref().Session, Cluster.Withdraw)
}

func (d *sessionDir) carry(ctx context.Context, op, asked, want string, do func(c Cluster, ctx context.Context, x *session.Session) error) syscall.Errno {
	if !d.mayDecide(ctx) {
		return d.p.deny(ctx, op, "", ctxabi.ErrProtected, "only the session's owner brings it into a cluster, or out of it")
	}
	var err error
	switch {
	case d.t.cluster == nil:
		err = ctxabi.E(op, "", ctxabi.ErrProtected, "this mount is not one of a cluster; mount one with --cluster")
	case asked != want:
		err = ctxabi.E(op, "", ctxabi.ErrMalformed, "%.20q is not a value of this attribute; write %s", asked, want)
	default:
		d.p.settle("")
		late, cancel := patient(ctx)
		defer cancel()
		err = do(d.t.cluster, late, d.p.x)
	}
	if err != nil {
		return d.p.refuse(ctx, op, "", err)
	}
	return 0
}

// listOwners returns the listing of home or shared: what is in the store, and what other hosts have made.
func (t *tree) listOwners(ctx context.Context, self gofs.StableAttr, rel string, valid func(name string) bool) (gofs.DirStream, syscall.Errno) {
	there, err := t.names(rel)
	if err != nil {
		return nil, errnoOf(err)
	}
	names := map[string]bool{}
	for _, e := range there {
		if e.IsDir() && valid(e.Name()) {
			names[e.Name()] = true
		}
	}
	if t.cluster != nil {
		late, cancel := patient(ctx)
		defer cancel()
		for _, ref := range t.cluster.Owners(late) {
			if dir, name := path.Split(ref.Owner()); dir == rel+"/" {
				names[name] = true
			}
		}
	}
	var list []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, dirEntry(name, treeAttr(syscall.S_IFDIR, path.Join(rel, name))))
	}
	return listing(self, list), 0
}

// clusterStatus adds what the cluster tells to the status file.
func (t *tree) clusterStatus(row func(k string, v any)) {
	if t.cluster == nil {
		return
	}
	for _, kv := range t.cluster.Status() {
		row(kv[0], kv[1])
	}
}
