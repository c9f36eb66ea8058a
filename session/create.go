package session

import (
	"fmt"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Names inside a session that only the store has.
const (
	idFile        = ctxabi.InternalDir + "/id"
	quarantineDir = ctxabi.InternalDir + "/quarantine"
	errorsFile    = ctxabi.InternalDir + "/errors.jsonl"
)

// defaultPolicy is gc.policy as a new session has it: every key with its default.
const defaultPolicy = `# When ctxfs may drop what it derived. Durations: 90s 12h 1d 2w; 0 means never.
pack_ttl=1d          # builds that were served
swap_ttl=30d         # bytes of swapped content; its index stays
dedup_min_refs=1
# History is touched only with keep_messages=0 (or keep_events=0) and an age below.
keep_messages=1
keep_events=1
archive_after=0
delete_after=0
`

type newFile struct{ name, content string }

// newSession is what a session holds when it is made. A name ending in / is a directory.
var newSession = []newFile{
	{ctxabi.ContextDir + "/", ""},
	{ctxabi.PinnedDir + "/", ""},
	{ctxabi.MessagesFile, ""},
	{ctxabi.EventsFile, ""},
	{ctxabi.StateFile, "idle\n"},
	{ctxabi.CwdFile, ""},
	{ctxabi.MetaFile, "{}\n"},
	{ctxabi.BudgetFile, ""},
	{ctxabi.PolicyFile, defaultPolicy},
	{errorsFile, ""},
	{arrivalsFile(ctxabi.MessagesFile), ""},
	{arrivalsFile(ctxabi.EventsFile), ""},
}

// Create makes a session complete at once, and the directories above it. It is
// built aside and renamed into place, so that a crash leaves all of it or
// nothing. It fails with ctxabi.ErrExists when ref exists.
func (s *Store) Create(ref ctxabi.Ref, o Owner) (*Session, error) {
	if err := ctxabi.ValidName(ref.Session); err != nil {
		return nil, err
	}
	if err := s.EnsureAgent(ref, o); err != nil {
		return nil, err
	}
	s.create.Lock()
	defer s.create.Unlock()
	dir := s.inStore(ref.Path())
	if _, err := s.vfs.Stat(dir); err == nil {
		return nil, ctxabi.E("mkdir", "", ctxabi.ErrExists, "%s exists", ref)
	}
	tmp := s.tmpName()
	if err := s.build(tmp, o); err != nil {
		removeAll(s.vfs, tmp)
		return nil, diskFailed("mkdir", "", err, "the session was not made")
	}
	if err := s.vfs.Rename(tmp, dir); err != nil {
		removeAll(s.vfs, tmp)
		return nil, diskFailed("mkdir", "", err, "the session was not made")
	}
	if err := s.vfs.SyncDir(path.Dir(dir)); err != nil {
		return nil, diskFailed("mkdir", "", err, "the session was made, but may not survive a loss of power")
	}
	return s.Session(ref)
}

// build makes everything of a new session in dir and syncs it.
func (s *Store) build(dir string, o Owner) error {
	dirs := []string{dir}
	if err := s.vfs.Mkdir(dir, 0o700); err != nil {
		return err
	}
	files := append([]newFile{{ctxabi.InternalDir + "/", ""}, {idFile, newID() + "\n"}}, newSession...)
	for _, f := range files {
		name := path.Join(dir, f.name)
		mode := o.fileMode()
		var err error
		if f.name[len(f.name)-1] == '/' {
			mode = o.dirMode()
			dirs = append(dirs, name)
			err = s.vfs.Mkdir(name, 0o700)
		} else {
			err = writeSynced(s.vfs, name, []byte(f.content), mode.Perm())
		}
		if err == nil {
			err = s.own(name, o, mode)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if err := s.own(dir, o, o.dirMode()); err != nil {
		return err
	}
	for _, d := range dirs {
		if err := s.vfs.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}
