package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// This file is for the garbage collector: it lists what a session has and removes what the collector
// asks for. The collector decides what may be removed.

// Now returns the time of the store's clock.
func (s *Store) Now() time.Time { return s.disk.Now() }

// Glance is what is known of a session from its directory alone, without opening the session.
type Glance struct {
	Stamp   string        // changes with gc.policy and with the kinds of derived content that exist
	Derived bool          // there are directories of it
	Policy  ctxabi.Policy // in force
}

// Glance reads the directory of the session ref. If the stamp still equals was, it returns only the
// stamp, at the cost of two stats. It returns ctxabi.ErrNotFound if there is no such session.
func (s *Store) Glance(ref ctxabi.Ref, was string) (g Glance, err error) {
	s.disk.Move.RLock()
	defer s.disk.Move.RUnlock()
	dir := s.disk.Join(ref.Path())
	internal, err := s.disk.FS.Stat(path.Join(dir, ctxabi.InternalDir))
	if err != nil {
		return g, ctxabi.E("look", "", ctxabi.ErrNotFound, "there is no session %s", ref)
	}
	file := path.Join(dir, ctxabi.PolicyFile)
	g.Stamp = fmt.Sprint(internal.ModTime().UnixNano())
	policy, err := s.disk.FS.Stat(file)
	if err == nil {
		g.Stamp += fmt.Sprint(" ", policy.ModTime().UnixNano(), policy.Size())
	}
	if g.Stamp == was {
		return g, nil
	}
	g.Policy = ctxabi.DefaultPolicy()
	if err == nil && policy.Size() <= ctxabi.MaxControl {
		if data, err := vfs.ReadFile(s.disk.FS, file); err == nil {
			if p, err := ctxabi.ParsePolicy(data); err == nil {
				g.Policy = p
			}
		}
	}
	entries, err := s.disk.FS.ReadDir(path.Join(dir, ctxabi.InternalDir))
	if err != nil {
		return g, vfs.Failed("look", "", err, "its directory cannot be read")
	}
	g.Derived = slices.ContainsFunc(entries, fs.DirEntry.IsDir)
	return g, nil
}

// Usage is a file or a directory of the session's internal directory.
type Usage struct {
	Name string // relative to the session
	Size int64  // bytes, of all in it
	Time time.Time
}

// kept looks at rel, a file or a directory of files. Root.Move is held.
func (x *Session) kept(rel string) (k Usage, err error) {
	fi, err := x.store.disk.FS.Stat(x.dir.Path(rel))
	if err != nil {
		return k, err
	}
	if k = (Usage{Name: rel, Time: fi.ModTime()}); fi.Mode().IsRegular() {
		k.Size = fi.Size()
	}
	if !fi.IsDir() {
		return k, nil
	}
	if disk, ok := x.store.disk.FS.(vfs.UserFiles); ok {
		t, err := disk.Tree(x.dir.Path(rel))
		if err != nil {
			return k, err
		}
		defer t.Close()
		left := mostLooked
		return k, k.add(t, 1, &left)
	}
	entries, err := x.store.disk.FS.ReadDir(x.dir.Path(rel))
	for _, e := range entries {
		in, err := x.kept(path.Join(rel, e.Name()))
		if err != nil {
			continue // gone meanwhile
		}
		k.Size += in.Size
		if in.Time.After(k.Time) {
			k.Time = in.Time
		}
	}
	return k, err
}

// mostLooked is how many files of a directory are looked at: a user may have any number, and others
// wait meanwhile.
const mostLooked = 1 << 17

// add looks at what is in a directory. It stays beneath it, whatever its owner moves or links there
// at the same time.
func (k *Usage) add(t vfs.Tree, depth int, left *int) error {
	entries, err := t.ReadDir()
	for _, e := range entries {
		if *left--; *left < 0 {
			break
		}
		fi, err := t.Lstat(e.Name())
		if err != nil {
			continue // gone meanwhile
		}
		if fi.Mode().IsRegular() {
			k.Size += fi.Size()
		}
		if fi.ModTime().After(k.Time) {
			k.Time = fi.ModTime()
		}
		if fi.IsDir() && depth < deepest {
			if in, err := t.Sub(e.Name()); err == nil {
				k.add(in, depth+1, left)
				in.Close()
			}
		}
	}
	return err
}

// Caches returns the directories of derived content among names ("dedup") that are there: the bytes
// in them, and when something was written to them last.
func (x *Session) Caches(names ...string) (list []Usage) {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	for _, name := range names {
		if k, err := x.kept(path.Join(ctxabi.InternalDir, name)); err == nil {
			list = append(list, k)
		}
	}
	return list
}

// LogFile returns the size and the time of the file that a log's records are appended to, without
// opening the log. It returns the error of the disk.
func (x *Session) LogFile(l *log.Log) (Usage, error) {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	k, err := x.kept(l.Name())
	if err != nil {
		err = vfs.Failed("look", l.Name(), err, "it cannot be examined")
	}
	return k, err
}

// Everything returns how many bytes all files of the session take, without the derived content of
// one name, and when one of its settings, notes, pins or other files of a user changed last. It
// returns the error of the disk.
func (x *Session) Everything(without string) (Usage, error) {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	all, err := x.kept(".")
	if err != nil {
		return all, vfs.Failed("look", "", err, "its directory cannot be read")
	}
	if k, err := x.kept(ctxabi.InternalDir + "/" + without); err == nil {
		all.Size -= k.Size
	}
	all.Time = x.Created()
	entries, err := x.store.disk.FS.ReadDir(x.dir.Path())
	if err != nil {
		return all, vfs.Failed("look", "", err, "its directory cannot be read")
	}
	for _, e := range entries {
		if e.Name() == ctxabi.InternalDir {
			continue
		}
		if k, err := x.kept(e.Name()); err == nil && k.Time.After(all.Time) {
			all.Time = k.Time
		}
	}
	return all, nil
}

// InUse returns the session at ref if it was looked up since the store was opened, else nil.
func (s *Store) InUse(ref ctxabi.Ref) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[ref]
}

// SweepCache removes a directory of derived content, whole, if confirm, called with what it takes
// at that moment, returns true. Whoever writes to it meanwhile makes it anew. freed is in bytes.
// SweepCache returns ctxabi.ErrReadOnly, the error of confirm, and that of the disk; the directory
// stays then.
func (x *Session) SweepCache(name string, confirm func(Usage) (bool, error)) (freed int64, done bool, err error) {
	rel, err := x.changeDerived("collect", name)
	if err != nil {
		return 0, false, err
	}
	s := x.store
	s.disk.Move.RLock()
	k, err := x.kept(rel)
	s.disk.Move.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, vfs.Failed("collect", rel, err, "it was not removed")
	}
	if ok, err := confirm(k); !ok || err != nil {
		return 0, false, err
	}
	tmp := s.disk.TmpName()
	s.disk.Move.RLock()
	err = s.disk.FS.Rename(x.dir.Path(rel), tmp)
	s.disk.Move.RUnlock()
	if err != nil {
		return 0, false, vfs.Failed("collect", rel, err, "it was not removed")
	}
	s.disk.RemoveAll(tmp)
	return k.Size, true, nil
}

// Quarantined lists what was moved aside when a log was opened because it was no record.
func (x *Session) Quarantined() (list []Usage) {
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	entries, _ := x.store.disk.FS.ReadDir(x.dir.Path(disk.QuarantineDir))
	for _, e := range entries {
		if k, err := x.kept(path.Join(disk.QuarantineDir, e.Name())); err == nil {
			list = append(list, k)
		}
	}
	return list
}

// SweepQuarantined removes one of [Session.Quarantined] by its name if confirm, called with what it
// takes at that moment, returns true. It returns ctxabi.ErrMalformed for a name that is not in the
// quarantine, the error of confirm, and that of the disk.
func (x *Session) SweepQuarantined(name string, confirm func(Usage) (bool, error)) (freed int64, done bool, err error) {
	if err := x.store.disk.Writable("collect"); err != nil {
		return 0, false, err
	}
	if path.Dir(name) != disk.QuarantineDir {
		return 0, false, ctxabi.E("collect", name, ctxabi.ErrMalformed, "it is not in the quarantine")
	}
	x.store.disk.Move.RLock()
	k, err := x.kept(name)
	x.store.disk.Move.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, vfs.Failed("collect", name, err, "it was not removed")
	}
	if ok, err := confirm(k); !ok || err != nil {
		return 0, false, err
	}
	x.store.disk.Move.RLock()
	defer x.store.disk.Move.RUnlock()
	if err := x.store.disk.FS.Remove(x.dir.Path(name)); err != nil {
		return 0, false, vfs.Failed("collect", name, err, "it was not removed")
	}
	return k.Size, true, nil
}

// RemoveIf removes the session as [Store.Remove] does if confirm returns true. It is called at a
// moment from which on nothing can be appended to the session. RemoveIf returns the error of
// confirm, and ctxabi.ErrNotFound for a session that is moved meanwhile, which stays.
func (x *Session) RemoveIf(confirm func() (bool, error)) (done bool, err error) {
	return x.store.remove(x, x.Ref(), confirm)
}

// Unowned lists what lies in the store's directory of things that are being built, is older than
// before and belongs to no open handle.
func (s *Store) Unowned(before time.Time) (list []Usage) {
	entries, _ := s.disk.FS.ReadDir(path.Join(s.disk.Dir, disk.TmpDir))
	for _, e := range entries {
		fi, err := s.disk.FS.Stat(path.Join(s.disk.Dir, disk.TmpDir, e.Name()))
		if err != nil || !fi.ModTime().Before(before) {
			continue
		}
		if _, owned := s.disk.Owned.Load(path.Join(s.disk.Dir, disk.TmpDir, e.Name())); !owned {
			list = append(list, Usage{Name: path.Join(disk.TmpDir, e.Name()), Size: fi.Size(), Time: fi.ModTime()})
		}
	}
	return list
}

// RemoveUnowned removes one of [Store.Unowned] by its name. It returns ctxabi.ErrMalformed for a
// name that is not there, and ctxabi.ErrIO if it could not be removed.
func (s *Store) RemoveUnowned(name string) error {
	if err := s.disk.Writable("collect"); err != nil {
		return err
	}
	if path.Dir(name) != disk.TmpDir {
		return ctxabi.E("collect", name, ctxabi.ErrMalformed, "it is not in %s", disk.TmpDir)
	}
	s.disk.RemoveAll(s.disk.Join(name))
	if _, err := s.disk.FS.Stat(s.disk.Join(name)); err == nil {
		return ctxabi.E("collect", name, ctxabi.ErrIO, "it could not be removed")
	}
	return nil
}
