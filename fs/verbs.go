package fs

import (
	"context"
	"strconv"
	"strings"
	"syscall"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Getxattr returns the slug of the workspace whose memory the session shares, or what is stored with the directory.
func (d *sessionDir) Getxattr(ctx context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	if d.here != "" || name != ctxabi.ProjectAttr {
		return d.plain.Getxattr(ctx, name, dest)
	}
	return facts{"project": func() string {
		dir := d.t.builder.Workspace(d.p.x)
		if dir == "" {
			return ""
		}
		slug, _ := ctxabi.ProjectSlug(dir)
		return slug
	}}.Get(name, dest)
}

// Setxattr does what an attribute of the session asks for. None of these attributes can be read.
func (d *sessionDir) Setxattr(ctx context.Context, name string, data []byte, flags uint32) syscall.Errno {
	switch {
	case d.here != "":
	case name == ctxabi.ForkAttr:
		return d.fork(ctx, string(data))
	case name == ctxabi.ArchiveAttr:
		return d.archive(ctx, string(data))
	case name == ctxabi.RemoveAttr:
		return d.remove(ctx, string(data))
	case name == ctxabi.CollectAttr:
		return d.collect(ctx, string(data))
	}
	return noXattrs{}.Setxattr(ctx, name, data, flags)
}

func (d *sessionDir) fork(ctx context.Context, asked string) syscall.Errno {
	to, n, err := parseFork(d.p.x.Ref(), asked)
	if err == nil {
		from := realm{t: d.t, ref: to}
		_, _, err = d.t.store.Fork(d.p.x, n, to, from.maker(ctx))
	}
	if err != nil {
		return d.p.refuse(ctx, "fork", "", err)
	}
	return 0
}

// archive seals the records of the session's logs. Only the session's owner may.
func (d *sessionDir) archive(ctx context.Context, asked string) syscall.Errno {
	if !d.mayDecide(ctx) {
		return d.p.deny(ctx, "archive", "", ctxabi.ErrProtected, "only the session's owner archives it")
	}
	var err error
	if asked != "1" {
		err = ctxabi.E("archive", "", ctxabi.ErrMalformed, "%.20q is not a value of this attribute; write 1", asked)
	} else {
		late, cancel := patient(ctx)
		defer cancel()
		_, _, err = d.p.x.Archive(late)
	}
	if err != nil {
		return d.p.refuse(ctx, "archive", "", err)
	}
	return 0
}

// parseFork parses NAME, NAME@LINE or AGENT/NAME@LINE; without a line n is -1. It returns
// ctxabi.ErrMalformed for anything else.
func parseFork(from ctxabi.Ref, asked string) (to ctxabi.Ref, n int, err error) {
	to, n = from, -1
	name, line, at := strings.Cut(asked, "@")
	if at {
		if n, err = strconv.Atoi(line); err != nil || n < 0 || strconv.Itoa(n) != line {
			return to, 0, ctxabi.E("fork", "", ctxabi.ErrMalformed, "%q is not a number of messages; write NAME@120", line)
		}
	}
	if agent, session, ok := strings.Cut(name, "/"); ok {
		to.Agent, name = agent, session
		if err := ctxabi.ValidName(agent); err != nil {
			return to, 0, err
		}
	}
	to.Session = name
	return to, n, ctxabi.ValidName(name)
}

// collect plans or sweeps the session. Only the session's owner may.
func (d *sessionDir) collect(ctx context.Context, asked string) syscall.Errno {
	if !d.mayDecide(ctx) {
		return d.p.deny(ctx, "gc", "", ctxabi.ErrProtected, "only the session's owner can collect its garbage")
	}
	late, cancel := patient(ctx)
	defer cancel()
	if err := d.t.gc.Run(late, d.p.x, asked); err != nil {
		return d.p.refuse(ctx, "gc", "", err)
	}
	return 0
}

// mayDecide reports whether the caller is the session's owner, or root.
func (d *sessionDir) mayDecide(ctx context.Context) bool { return d.p.mayDecide(callerOf(ctx).Uid) }

// remove removes the session. Only the session's owner may: in a shared space members write, and do
// not take history away.
func (d *sessionDir) remove(ctx context.Context, name string) syscall.Errno {
	x := d.p.x
	ref := x.Ref()
	if !d.mayDecide(ctx) {
		return d.p.deny(ctx, "remove", "", ctxabi.ErrProtected, "only the session's owner removes it")
	}
	if name != ref.Session {
		return d.p.refuse(ctx, "remove", "", ctxabi.E("remove", "", ctxabi.ErrMalformed, "%q is not this session's name; write its name to remove it", name))
	}
	if err := d.t.store.Remove(ref); err != nil {
		return errnoOf(err)
	}
	d.t.builder.Forget(x.ID())
	// In the background: the kernel may hold the lock that the notification needs until this call returns.
	if _, parent := d.Parent(); parent != nil {
		go parent.NotifyEntry(ref.Session)
	}
	return 0
}
