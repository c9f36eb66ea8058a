package carry

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/cluster/replica"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// MarkerFile is where a session that was withdrawn, or is about to be, has the end of its journal, relative to the
// session. It has the form of log.JournalFile.
const MarkerFile = ctxabi.InternalDir + "/withdrawn"

// sharedFile is where a copy keeps what lies among the objects; see package tend.
const sharedFile = ctxabi.InternalDir + "/shared"

// copyFiles are what a copy has and a session of one host has not.
var copyFiles = []string{log.JournalFile, log.SetsFile, sharedFile, archive.AwayDir}

// IsLocal reports whether the session in dir was withdrawn, and is not about to be published: the host that has it
// changes it as a store does that is alone.
func IsLocal(dir *disk.Dir) bool {
	dir.Root.Move.RLock()
	defer dir.Root.Move.RUnlock()
	_, err := dir.Root.FS.Stat(dir.Path(MarkerFile))
	if err != nil {
		return false
	}
	_, err = dir.Root.FS.Stat(dir.Path(log.JournalFile))
	return errors.Is(err, fs.ErrNotExist)
}

// Keep makes x a session of this host alone, if its name was taken away by the Withdraw of this host, and reports
// whether it was. It is called before x is removed because its name is gone. It returns the error of the disk.
func Keep(x *session.Session) (bool, error) {
	marker, ok, err := replica.ReadPosition(x.Disk(), MarkerFile)
	if err != nil || !ok {
		return false, err
	}
	at, is, err := replica.ReadPosition(x.Disk(), log.JournalFile)
	if err != nil || is && at.I != marker.I { // published again, and removed then
		return false, err
	}
	return true, remove(x.Disk(), copyFiles...)
}

// freeze has nothing appended to x from now on that is not of a journal: log.JournalFile says that x is a copy. It
// returns what that says, the error of ctx, and that of the disk.
func freeze(ctx context.Context, x *session.Session) (at replica.Position, err error) {
	release, err := log.HoldWithin(ctx, x.Messages(), x.Events())
	if err != nil {
		return at, err
	}
	defer release()
	at, ok, err := replica.ReadPosition(x.Disk(), log.JournalFile)
	if err != nil || ok {
		return at, err
	}
	if at, _, err = replica.ReadPosition(x.Disk(), MarkerFile); err != nil {
		return at, err
	}
	at.Ended = false
	return at, note(ctx, x, log.JournalFile, at)
}

// note writes a position at which x is, durably, with where its logs end. The caller holds the turns of the logs, or
// x is frozen.
func note(ctx context.Context, x *session.Session, name string, at replica.Position) error {
	for _, l := range []struct {
		log *log.Log
		to  *log.Mark
	}{{x.Messages(), &at.Messages}, {x.Events(), &at.Events}} {
		tail, err := l.log.Tail()
		if err == nil {
			err = l.log.Sync(ctx)
		}
		if err == nil {
			err = l.log.SyncRows(ctx)
		}
		if err != nil {
			return err
		}
		*l.to = tail.Mark()
	}
	return replace(x, name, at.Row())
}

// replace writes a file of x, durably.
func replace(x *session.Session, name string, data []byte) error {
	dir := x.Disk()
	dir.Root.Move.RLock()
	defer dir.Root.Move.RUnlock()
	return dir.Replace(name, data, true)
}

// remove removes files of a session, durably, if they are there.
func remove(dir *disk.Dir, names ...string) error {
	dir.Root.Move.RLock()
	defer dir.Root.Move.RUnlock()
	for _, name := range names {
		if name == archive.AwayDir {
			dir.Root.RemoveAll(dir.Path(name))
			continue
		}
		if err := dir.Root.FS.Remove(dir.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return dir.Root.FS.SyncDir(path.Dir(dir.Path(MarkerFile)))
}
