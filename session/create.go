package session

import (
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
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
	{disk.ErrorsFile, ""},
	{log.ArrivalsFile(ctxabi.MessagesFile), ""},
	{log.ArrivalsFile(ctxabi.EventsFile), ""},
}

// Create makes a session complete at once, and the directories above it. It is
// built aside and renamed into place, so that a crash leaves all of it or
// nothing. It fails with ctxabi.ErrExists when ref exists.
func (s *Store) Create(ref ctxabi.Ref, o disk.Owner) (*Session, error) {
	if err := ctxabi.ValidName(ref.Session); err != nil {
		return nil, err
	}
	return s.install("mkdir", ref, o, disk.NewID(), func(string) error { return nil })
}

// install makes the session ref with an id, and has fill write into its directory dir, which has
// all of a new session, before it has its name: what fill writes, it syncs. op names the operation
// in errors. install returns ctxabi.ErrExists if ref is taken, the error of fill, and that of the
// disk.
func (s *Store) install(op string, ref ctxabi.Ref, o disk.Owner, id string, fill func(dir string) error) (*Session, error) {
	defer s.named(NameChange{Kind: CreateSession, Ref: ref})
	if err := s.EnsureAgent(ref, o); err != nil {
		return nil, err
	}
	dir := s.disk.Join(ref.Path())
	exists := func() bool { _, err := s.disk.FS.Stat(dir); return err == nil }
	taken := ctxabi.E(op, "", ctxabi.ErrExists, "%s exists already", ref)
	if exists() {
		return nil, taken
	}

	tmp := s.disk.TmpName()
	err := s.build(tmp, o, id)
	if err == nil {
		err = fill(tmp)
	}
	if err != nil {
		s.disk.RemoveAll(tmp)
		return nil, vfs.Failed(op, "", err, "the session was not made")
	}

	s.create.Lock()
	defer s.create.Unlock()
	if exists() { // made meanwhile
		err = taken
	} else if err = s.disk.FS.Rename(tmp, dir); err != nil {
		err = vfs.Failed(op, "", err, "the session was not made")
	}
	if err != nil {
		s.disk.RemoveAll(tmp)
		return nil, err
	}
	if err := s.disk.FS.SyncDir(path.Dir(dir)); err != nil {
		return nil, vfs.Failed(op, "", err, "the session was made, but may not survive a loss of power")
	}
	return s.Session(ref)
}

// build makes everything of a new session with an id in dir and syncs it, once all is
// written: the first sync takes most of the work of the others along.
func (s *Store) build(dir string, o disk.Owner, id string) error {
	if err := s.disk.FS.Mkdir(dir, 0o700); err != nil {
		return err
	}
	var files []vfs.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	dirs := []string{dir}
	for _, f := range append([]newFile{{ctxabi.InternalDir + "/", ""}, {disk.IDFile, id + "\n"}}, newSession...) {
		name := path.Join(dir, f.name)
		mode := o.FileMode()
		if f.name[len(f.name)-1] == '/' {
			mode = o.DirMode()
			dirs = append(dirs, name)
			if err := s.disk.FS.Mkdir(name, 0o700); err != nil {
				return err
			}
		} else {
			out, err := s.disk.FS.OpenFile(name, vfs.Create, mode.Perm())
			if err != nil {
				return err
			}
			if f.content == "" {
				err = out.Close() // its directory's sync is all it needs
			} else {
				files = append(files, out)
				err = vfs.WriteFull(out, []byte(f.content))
			}
			if err != nil {
				return err
			}
		}
		if err := s.disk.Own(name, o, mode); err != nil {
			return err
		}
	}
	if err := s.disk.Own(dir, o, o.DirMode()); err != nil {
		return err
	}
	for _, f := range files {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		if err := s.disk.FS.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}
