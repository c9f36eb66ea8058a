package check

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// FsckOptions say how a store is checked.
type FsckOptions struct {
	Repair          bool                                                                 // repair what can be; the store must not be served
	Served          bool                                                                 // a daemon serves it: what is in tmp is its own
	Sessions        []ctxabi.Ref                                                         // nil: all, and the store's own files
	Kinds           []FileKind                                                           // of files that other packages keep in sessions
	Deep            func(context.Context, *session.Session) ([]Problem, error)           // what other packages know to be wrong; nil: nothing
	OwnerKinds      []FileKind                                                           // of files that other packages keep of all sessions of an owner
	DeepOwner       func(context.Context, *session.Store, ctxabi.Ref) ([]Problem, error) // as Deep, of these; Problem.Log is the file
	Progress        func(ref ctxabi.Ref, done, sessions int)                             // before each session; nil: nobody wants to know
	session.Options                                                                      // ReadOnly is set by Repair
}

// FsckSummary counts what was looked at.
type FsckSummary struct {
	Sessions    int   `json:"sessions"`
	Files       int   `json:"files"`
	Bytes       int64 `json:"bytes"`
	Quarantined int   `json:"quarantined"` // files in quarantines, for somebody to look at
}

// Fsck checks every file of the store in dir and calls found for each damage. Without Repair it
// changes nothing, and a daemon may serve the store at the same time: Fsck checks each finding twice.
// With Repair it opens the store as a daemon does; it returns ctxabi.ErrLocked if a daemon serves the
// store. A repair moves a damaged file that is not a cache to the session's quarantine before it
// writes another one, and changes no byte of a record. Any other error means that the check could not
// be finished.
func Fsck(ctx context.Context, dir string, o FsckOptions, found func(Damage)) (FsckSummary, error) {
	if o.VFS == nil {
		o.VFS = vfs.OS
	}
	o.ReadOnly = !o.Repair
	c := &checker{o: o, found: found, ids: map[string][]ctxabi.Ref{}, kinds: slices.Concat(sessionKinds, sealedKinds(), o.Kinds)}
	if err := c.open(dir); err != nil {
		return c.sum, err
	}
	err := c.run(ctx)
	return c.sum, errors.Join(err, c.s.Close())
}

func (c *checker) run(ctx context.Context) error {
	if c.o.Sessions == nil {
		c.checkStore()
		c.tell()
	}
	refs := c.sessions()
	for _, ref := range refs {
		t := &sessionTree{c: c, dir: c.s.Disk().Join(ref.Path())}
		if id := t.id(); id != "" {
			c.ids[id] = append(c.ids[id], ref)
		}
	}
	for i, ref := range refs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.o.Sessions != nil && !slices.Contains(c.o.Sessions, ref) {
			continue
		}
		if c.o.Progress != nil {
			c.o.Progress(ref, i, len(refs))
		}
		if err := c.session(ctx, ref); err != nil {
			return err
		}
	}
	for _, ref := range c.o.Sessions {
		if !slices.Contains(refs, ref) {
			return ctxabi.E("fsck", "", ctxabi.ErrNotFound, "there is no session %s", ref)
		}
	}
	if c.o.Sessions == nil {
		return c.deepOwners(ctx)
	}
	return nil
}

// session checks one session. Beside a daemon files are seen half written: what counts is what is
// found twice.
func (c *checker) session(ctx context.Context, ref ctxabi.Ref) error {
	before := c.sum
	if err := c.checkSession(ctx, ref); err != nil {
		return err
	}
	if !c.o.Repair && len(c.pending) > 0 {
		first := c.pending
		c.pending, c.sum = nil, before
		if err := c.checkSession(ctx, ref); err != nil {
			return err
		}
		c.pending = slices.DeleteFunc(c.pending, func(d Damage) bool { return !slices.Contains(first, d) })
	}
	c.sum.Sessions++
	c.tell()
	return nil
}

// checkSession is session, once. What was found before must not be believed by a later step, so
// each one reads the disk anew.
func (c *checker) checkSession(ctx context.Context, ref ctxabi.Ref) error {
	c.ref = &ref
	defer func() { c.ref = nil }()
	t := &sessionTree{c: c, ref: ref, dir: c.s.Disk().Join(ref.Path()), rel: ref.Path()}
	if err := t.owners(); err != nil {
		return err
	}
	t.skeleton()
	t.checkID()
	t.walk("")
	c.s.Forget(ref)
	x, err := c.s.Session(ref)
	if err != nil {
		if len(c.pending) == 0 {
			c.report(path.Join(t.rel, disk.IDFile), Lost, NoRemedy, "the session cannot be opened: %v", err)
		}
		return nil
	}
	readable := true
	for _, l := range []*log.Log{x.Events(), x.Messages()} {
		opens, err := t.checkLog(ctx, l)
		readable = readable && opens && err == nil
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.report(path.Join(t.rel, l.Name()), Lost, NoRemedy, "it cannot be read: %v", err)
		}
	}
	t.checkServed(x)
	if c.o.Deep != nil && readable {
		problems, err := c.o.Deep(ctx, x)
		t.deep(problems)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.report(t.rel, Lost, NoRemedy, "its content could not be looked up: %v", err)
		}
	}
	return c.close(x)
}

// deep reports what other packages found, the first problem of each file. What follows from the
// truth, and does not fit it, is set aside.
func (t *sessionTree) deep(problems []Problem) {
	more := map[string]int{}
	for _, p := range problems {
		more[p.Log]++
	}
	for _, p := range problems {
		n := more[p.Log]
		if delete(more, p.Log); n == 0 {
			continue
		}
		r := NoRemedy
		if p.severity() != Lost {
			r = t.aside(p.Log)
		}
		what := p.What
		if n > 1 {
			what += fmt.Sprintf(" (and %d more)", n-1)
		}
		t.report(p.Log, p.severity(), r, "%s", what)
	}
}

// close writes out what was rebuilt and closes the session's logs, so that a store of many sessions
// takes no more than one.
func (c *checker) close(x *session.Session) error {
	var failed error
	for _, l := range []*log.Log{x.Messages(), x.Events()} {
		failed = errors.Join(failed, l.Shut())
	}
	c.s.Forget(x.Ref())
	return failed
}

// sessions lists every directory that is a session, or was one: its id may be what is missing.
func (c *checker) sessions() (refs []ctxabi.Ref) {
	var owners []ctxabi.Ref
	for _, uid := range c.s.Homes() {
		owners = append(owners, ctxabi.Ref{UID: uid})
	}
	for _, name := range c.s.Disk().Dirs(ctxabi.SharedDir) {
		if ctxabi.ValidName(name) == nil {
			owners = append(owners, ctxabi.Ref{Space: name})
		}
	}
	for _, ref := range owners {
		for _, ref.Agent = range c.s.Disk().Dirs(ref.Owner(), ctxabi.AgentDir) {
			for _, ref.Session = range c.s.Disk().Dirs(ref.AgentHome(), ctxabi.SessionDir) {
				if ctxabi.ValidName(ref.Agent) == nil && ctxabi.ValidName(ref.Session) == nil {
					refs = append(refs, ref)
				}
			}
		}
	}
	return refs
}
