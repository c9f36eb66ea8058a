package carry

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/host"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/disk"
)

// withdrawn begins what the row says that ends the journal of a session which is withdrawn; the name of the host
// follows.
const withdrawn = "withdrawn by "

// endedBy returns what the row says with which a host ends a journal. No two are equal.
func endedBy(host string) []byte {
	return []byte(withdrawn + host + " " + strings.ToLower(rand.Text()))
}

// Withdraw takes x out of the cluster: this host alone has it from then on. A session of this host alone stays as it
// is. Withdraw returns ctxabi.ErrConflict if another host withdraws x, ctxabi.ErrNotFound if somebody has removed it, the
// errors of an engine that could not be reached or does not have an object, and that of the disk. It may be called again
// then: x is in the cluster until it returns nil, but perhaps nothing is appended to it any more.
func (c *Carrier) Withdraw(ctx context.Context, x *session.Session) error {
	ref := x.Ref()
	named, err := c.named(ctx, x, false)
	if err != nil {
		return err
	}
	if !named {
		if x.Removed() {
			return ctxabi.E("withdraw", "", ctxabi.ErrNotFound, "%s was removed", ref)
		}
		return nil
	}
	if err := c.end(ctx, x); err != nil {
		return err
	}
	if err := c.o.Step("fetch"); err != nil {
		return err
	}
	if err := c.fetch(ctx, x); err != nil {
		return err
	}
	if err := c.o.Step("mark"); err != nil {
		return err
	}
	err = c.o.Host.Copy(ctx, x, func(at replica.Position) error {
		if !at.Ended {
			return ctxabi.E("withdraw", "", ctxabi.ErrConflict, "somebody has published %s again meanwhile", ref)
		}
		return note(ctx, x, MarkerFile, at)
	})
	if err != nil {
		return err
	}
	if err := c.o.Step("take the name away"); err != nil {
		return err
	}
	if err := c.o.Commit(ctx, ref, names.RemoveName{Agent: ref.Agent, Session: ref.Session, ID: x.ID()}); err != nil {
		return err
	}
	c.o.Host.Forget(x)
	return nil
}

// end ends the journal of x, if that was not done. Who ended it goes on alone.
func (c *Carrier) end(ctx context.Context, x *session.Session) error {
	var ended bool
	look := func(at replica.Position) error { ended = at.Ended; return nil }
	if err := c.o.Host.Copy(ctx, x, look); err != nil {
		return err
	}
	if !ended {
		if err := c.o.Step("end the journal"); err != nil {
			return err
		}
		err := c.o.Host.CommitRow(ctx, x, journal.Row{Kind: journal.End, Content: endedBy(c.o.Name)})
		if err != nil && !errors.Is(err, ctxabi.ErrNotFound) { // somebody else was faster
			return err
		}
		if err := c.o.Host.Copy(ctx, x, look); err != nil {
			return err
		}
	}
	w, err := c.walk(ctx, host.Subject(x))
	switch by, ok := strings.CutPrefix(w.by, withdrawn); {
	case err != nil:
		return err
	case !w.ended || !ended:
		return ctxabi.E("withdraw", "", ctxabi.ErrConflict, "the journal of %s goes on behind its end; run it again", x.Ref())
	case !ok:
		return ctxabi.E("withdraw", "", ctxabi.ErrNotFound, "%s is about to be removed", x.Ref())
	case !strings.HasPrefix(by, c.o.Name+" "):
		by, _, _ = strings.Cut(by, " ")
		return ctxabi.E("withdraw", "", ctxabi.ErrConflict, "the host %s withdraws %s; run it there again to finish it", by, x.Ref())
	}
	return nil
}

// fetch makes the parts of both logs, which lie among the objects, files of the session. It returns the errors of
// bulk.Store.Get and that of the disk.
func (c *Carrier) fetch(ctx context.Context, x *session.Session) error {
	dir := x.Disk()
	objects := bulk.NewStore(c.o.Engine.Objects(), host.Subject(x).Owner)
	owner, err := dir.Owner()
	if err != nil {
		return err
	}
	for _, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
		dir.Root.Move.RLock()
		data, err := vfs.ReadFile(dir.Root.FS, dir.Path(archive.ListFile(name)))
		dir.Root.Move.RUnlock()
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		if err != nil {
			return err
		}
		list, err := archive.ParseList(data)
		if err != nil {
			return err
		}
		for _, e := range list.Parts {
			if err := c.fetchPart(ctx, x, objects, owner, name, e.Number); err != nil {
				return fmt.Errorf("%s: %w", archive.PartName(name, e.Number), err)
			}
		}
	}
	return nil
}

// fetchPart makes one part a file, unless it is.
func (c *Carrier) fetchPart(ctx context.Context, x *session.Session, objects *bulk.Store, owner disk.Owner, name string, number int) error {
	dir := x.Disk()
	dir.Root.Move.RLock()
	_, err := dir.Root.FS.Stat(dir.Path(archive.PartName(name, number)))
	row, missing := vfs.ReadFile(dir.Root.FS, dir.Path(archive.AwayRow(name, number)))
	dir.Root.Move.RUnlock()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if missing != nil {
		return missing
	}
	p, err := bulk.ParseAway(row)
	if err != nil {
		return err
	}
	data, err := objects.Get(ctx, p.Name(x.ID()), p.File.Size)
	if err != nil {
		return err
	}
	dir.Root.Move.RLock()
	defer dir.Root.Move.RUnlock()
	file := dir.Path(archive.PartName(name, number))
	if err := vfs.WriteFile(dir.Root.FS, file+".new", data, owner.FileMode().Perm()); err != nil {
		return err
	}
	if err := dir.Root.Own(file+".new", owner, owner.FileMode()); err != nil {
		return err
	}
	if err := dir.Root.FS.Rename(file+".new", file); err != nil {
		return err
	}
	return dir.Root.FS.SyncDir(path.Dir(file))
}
