package files

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/names/keeper"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/disk"
)

// baseAttr is where a file that became too large has the hash of what hosts shared of it before.
const baseAttr = "user.ctx.base"

// Options of Files.
type Options struct {
	Freshness time.Duration // how old the answer to a look-up may be; 0: not at all
	Logger    *slog.Logger  // nil: discard
}

// Files is what a mount knows of the files that hosts share. Names of its methods are paths in the store:
// "home/1000/agent/coder/memory/x.md". It is safe for concurrent use.
//
// Where a method has an argument local, it is called once the operation is committed and does the same on the
// disk, so that what users have open stays theirs; what it leaves to be done is done by the keeper. It must
// not wait for another call of Files.
type Files struct {
	o        Options
	k        *keeper.Keeper
	changing atomic.Pointer[func(name string) bool]
}

// New returns files without a keeper, which is handed to Attach.
func New(o Options) *Files {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Files{o: o}
}

// Attach makes k who commits files. It is called once, before all else but Changing.
func (f *Files) Attach(k *keeper.Keeper) { f.k = k }

// Mounted is called by a mount before it serves: changing reports whether somebody has the file open that has a
// name, and has changed it.
func (f *Files) Mounted(changing func(name string) bool) { f.changing.Store(&changing) }

// Changing reports what the mount does; see keeper.Options.
func (f *Files) Changing(name string) bool {
	changing := f.changing.Load()
	return changing != nil && (*changing)(name)
}

// Shared reports whether hosts share what has a name. It depends on the name alone: a file may be too large.
func (f *Files) Shared(name string) bool {
	owner, rel, ok := split(name)
	return ok && names.Shared(names.SubjectOf(owner), rel)
}

// Fresh brings what the owner of a file has up to date with what other hosts had committed: when it was called, if
// now is set, else at most Options.Freshness before. It waits within bounds ([keeper.Keeper.Fresh]); what was not
// learned by then comes later. It does nothing for names in sessions.
func (f *Files) Fresh(name string, now bool) {
	since := time.Now()
	owner, rel, ok := split(name)
	if !ok || inSession(rel) {
		return
	}
	if !now {
		since = since.Add(-f.o.Freshness)
	}
	if err := f.k.Fresh(owner, since); err != nil {
		f.o.Logger.Debug("files of an owner may be old", "owner", owner.Owner(), "err", err)
	}
}

// commit commits an operation on a file, of whose agent other hosts know after that. It returns the errors of
// keeper.Keeper.Commit.
func (f *Files) commit(ctx context.Context, owner ctxabi.Ref, name string, op names.Op, local func() error) error {
	if err := f.know(ctx, owner, name); err != nil {
		return err
	}
	_, err := f.k.Commit(context.WithoutCancel(ctx), owner, op, local)
	return err
}

// know has the agent of a file of this host alone become one that hosts share. It returns the errors of
// keeper.Keeper.AdoptAgent.
func (f *Files) know(ctx context.Context, owner ctxabi.Ref, name string) (err error) {
	agent, _, ok := names.SplitHome(name)
	if !ok {
		return nil
	}
	known := false
	if err := f.k.View(owner, func(s *names.State) { _, _, known = s.Agent(agent) }); err != nil || known {
		return err
	}
	owner.Agent = agent
	return f.k.AdoptAgent(context.WithoutCancel(ctx), owner)
}

// Mkdir makes a directory that belongs to o, with the mode of o. It returns ctxabi.ErrExists if another host has
// made it, ctxabi.ErrUnreachable if it was not made, and others of ctxabi.
func (f *Files) Mkdir(ctx context.Context, name string, o disk.Owner, local func() error) error {
	owner, rel, _ := split(name)
	l := names.Link{Op: names.Mkdir, Path: rel, Mode: o.Mode, UID: o.UID, GID: o.GID, MTime: time.Now().UnixNano()}
	return explain("mkdir", rel, f.commit(ctx, owner, rel, names.ChangeLink{Link: l}, local))
}

// Symlink makes a symbolic link to target. It returns the errors of Mkdir.
func (f *Files) Symlink(ctx context.Context, name, target string, o disk.Owner, local func() error) error {
	owner, rel, _ := split(name)
	l := names.Link{Op: names.Symlink, Path: rel, Target: target, UID: o.UID, GID: o.GID, MTime: time.Now().UnixNano()}
	return explain("symlink", rel, f.commit(ctx, owner, rel, names.ChangeLink{Link: l}, local))
}

// Remove removes a file, or an empty directory. What other hosts do not know is removed here alone. It returns
// ctxabi.ErrExists if others have files in the directory, and the errors of Mkdir.
func (f *Files) Remove(ctx context.Context, name string, dir bool, local func() error) error {
	owner, rel, _ := split(name)
	return explain("remove", rel, f.commit(ctx, owner, rel, names.RemoveFile{Path: rel, Dir: dir}, local))
}

// RemoveAgent removes an agent without sessions and files, whose home has a name. It returns the errors of Remove.
func (f *Files) RemoveAgent(ctx context.Context, name string, local func() error) error {
	owner, rel, _ := split(name)
	agent := strings.TrimPrefix(rel, ctxabi.AgentDir+"/")
	known := false
	if err := f.k.View(owner, func(s *names.State) { _, _, known = s.Agent(agent) }); err != nil || !known {
		return errors.Join(err, local())
	}
	_, err := f.k.Commit(context.WithoutCancel(ctx), owner, names.RemoveName{Agent: agent}, local)
	return explain("rmdir", rel, err)
}

// Rename renames a file or a directory, of which hosts need share only one name. Where keep is set, what has the
// new name stays. crosses is true if nothing was done because who renames has to copy: from one owner to
// another, and where a directory would come to be shared, or not. Rename returns ctxabi.ErrExists where the new
// name is taken, and the errors of Mkdir.
func (f *Files) Rename(ctx context.Context, from, to string, keep bool, local func() error) (crosses bool, err error) {
	owner, rel, ok := split(from)
	other, toRel, okTo := split(to)
	if !ok || !okTo || owner != other {
		return true, nil
	}
	for _, name := range []string{rel, toRel} {
		if err := f.know(ctx, owner, name); err != nil {
			return false, explain("rename", rel, err)
		}
	}
	err = f.k.Rename(context.WithoutCancel(ctx), owner, rel, toRel, keep, local)
	if errors.Is(err, names.ErrCrosses) {
		return true, nil
	}
	return false, explain("rename", rel, err)
}

// Changed commits the attributes that a file or a directory has on the disk, and its content. It returns the
// errors of Mkdir.
func (f *Files) Changed(ctx context.Context, name string) error {
	owner, rel, _ := split(name)
	err := f.know(ctx, owner, rel)
	if err == nil {
		err = f.k.Adopt(context.WithoutCancel(ctx), owner, rel)
	}
	return explain("set", rel, err)
}

// Put makes data the content of a file that belongs to o, whatever it was. It returns the errors of Mkdir.
func (f *Files) Put(ctx context.Context, name string, o disk.Owner, data []byte) error {
	owner, rel, _ := split(name)
	row := names.File{Path: rel, Hash: keeper.Hash(data), Size: int64(len(data)), Mode: o.Mode, UID: o.UID, GID: o.GID, MTime: time.Now().UnixNano()}
	if err := f.k.View(owner, func(s *names.State) { n, _ := s.Node(rel); row.Base = n.Hash }); err != nil {
		return explain("write", rel, err)
	}
	_, err := f.k.WriteFile(context.WithoutCancel(ctx), owner, row, data)
	return explain("write", rel, err)
}

// Base returns the hash of what hosts share of a file that is open to be read, and that nobody changes: of its
// content, or of what it was before it became too large. It returns the error of the disk.
func (f *Files) Base(file *os.File) (string, error) {
	row, _, ok, err := f.k.Opened("", file)
	if ok || err != nil {
		return row.Hash, err
	}
	base := make([]byte, 64)
	n, err := unix.Fgetxattr(int(file.Fd()), baseAttr, base)
	if err != nil {
		return "", nil // others never had it
	}
	return string(base[:n]), nil
}

// Write commits a file that is open to be read and that somebody here has changed, whose content was base when
// he opened it. It returns the name that the content has now, which is another where two hosts changed the
// file, and the base of what is changed after that. A file that is too large to be shared is not committed,
// and that is no error. Write returns the errors of Mkdir.
func (f *Files) Write(ctx context.Context, name, base string, file *os.File) (kept, next string, err error) {
	owner, rel, _ := split(name)
	if err := f.know(ctx, owner, rel); err != nil {
		return name, base, explain("write", rel, err)
	}
	row, data, ok, err := f.k.Opened(rel, file)
	if err != nil {
		return name, base, err
	}
	if !ok {
		f.o.Logger.Warn("a file is too large for the other hosts, which do not see it", "file", name, "limit", names.MaxFile)
		if base != "" {
			unix.Fsetxattr(int(file.Fd()), baseAttr, []byte(base), 0) // without it, what others did not change is a conflict later
		}
		return name, base, nil
	}
	row.Base = base
	kept, err = f.k.WriteFile(context.WithoutCancel(ctx), owner, row, data)
	if errors.Is(err, names.ErrPerHost) {
		f.o.Logger.Warn("a file has too many attributes for the other hosts, which do not see it", "file", name, "err", err)
		return name, base, nil
	}
	if err != nil {
		return name, base, explain("write", rel, err)
	}
	if kept != rel {
		f.o.Logger.Warn("two hosts changed a file; this one keeps its own beside the other", "file", name, "kept", kept)
		return owner.Owner() + "/" + kept, row.Hash, nil
	}
	unix.Fremovexattr(int(file.Fd()), baseAttr)
	return name, row.Hash, nil
}
