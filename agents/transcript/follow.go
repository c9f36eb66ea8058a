package transcript

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// How long a follower waits: for what a program writes in one go, and before it tries again what another import kept it from.
const (
	settles = 200 * time.Millisecond
	tryNext = 2 * time.Second
)

// Follow calls bring with each transcript below dirs, those that changed last behind the others, and then with each that is new or
// grows, until ctx ends; it returns nil then. Directories may come later. A transcript for which bring returns ctxabi.ErrLocked is brought
// again soon, one for which it returns another error when it grows. Follow returns the error of a directory that cannot be watched.
// It calls problem with what keeps the sessions in a program's database from being brought, once.
func Follow(ctx context.Context, dirs []string, bring func(Kept) error, problem func(error)) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	f := follower{dirs: dirs, watcher: w, seen: map[string]stamp{}, changed: map[string]bool{}, all: true, problem: problem}
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-w.Events:
			f.changed[e.Name] = true
			wait.Reset(settles)
		case <-w.Errors: // events are lost: all is looked at
			f.all = true
			wait.Reset(settles)
		case <-wait.C:
			again, err := f.look(ctx, bring)
			if err != nil {
				return err
			}
			if again {
				wait.Reset(tryNext)
			}
		}
	}
}

// follower knows how far transcripts are brought.
type follower struct {
	dirs    []string
	watcher *fsnotify.Watcher
	seen    map[string]stamp // by file
	changed map[string]bool  // paths of which events tell that were not looked at
	all     bool             // everything is to be looked at

	problem func(error) // nil once it was called
}

// stampOf is the stamp of a transcript with the conversations of sub-agents beside it.
func stampOf(file string, fi fs.FileInfo) stamp {
	s := stamp{fi.Size(), fi.ModTime()}
	for _, name := range filesBelow(file) {
		if fi, err := os.Stat(name); err == nil {
			s.size += fi.Size()
			if fi.ModTime().After(s.changed) {
				s.changed = fi.ModTime()
			}
		}
	}
	return s
}

// look brings what is new; again reports whether something is left for which another import is under way.
func (f *follower) look(ctx context.Context, bring func(Kept) error) (again bool, err error) {
	var all []Kept
	visit := func(file string, fi fs.FileInfo) error {
		now := stampOf(file, fi)
		if f.seen[file] == now {
			return nil
		}
		k, ok, err := keptIn(file)
		if f.seen[file] = now; ok {
			all = append(all, k)
		}
		return err
	}
	for _, at := range f.due() {
		if err := f.watch(at); err != nil {
			return false, err
		}
		if err := eachKept([]string{at}, visit); err != nil {
			return false, err
		}
	}
	exported, err := f.exported(ctx)
	all = append(all, exported...)
	sortKept(all)
	for _, k := range all {
		if ctx.Err() != nil {
			return false, nil
		}
		if errors.Is(bring(k), ctxabi.ErrLocked) {
			delete(f.seen, k.File)
			f.changed[k.File] = true
			again = true
		}
	}
	return again || len(exported) > 0, err
}

// due returns what is to be looked at: all directories at first and after events were lost or something changed outside of them,
// else the paths that have changed.
func (f *follower) due() (at []string) {
	changed, all := f.changed, f.all
	f.changed, f.all = map[string]bool{}, false
	for name := range changed {
		if !slices.ContainsFunc(f.dirs, func(dir string) bool { return strings.HasPrefix(name, dir+string(filepath.Separator)) }) {
			all = true
		}
		at = append(at, partsOf(name)...)
	}
	if all {
		return f.dirs
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// partsOf returns the paths to examine after a change of name: name itself, which may be a
// directory, and the transcript of its session.
func partsOf(name string) []string {
	if owner := ownerOf(name); owner != "" {
		return []string{name, owner}
	}
	return []string{name}
}

// exported returns the sessions in databases that have changed since they were brought.
func (f *follower) exported(ctx context.Context) (all []Kept, err error) {
	var dirs []string
	for _, dir := range f.dirs {
		if now, ok := databaseStamp(dir); ok && f.seen[dir] != now {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 || ctx.Err() != nil {
		return nil, nil
	}
	found, err := Exported(ctx, dirs)
	for _, dir := range dirs { // as the program leaves it: what it writes as it looks is nothing new
		f.seen[dir], _ = databaseStamp(dir)
	}
	if err != nil {
		if f.problem != nil && ctx.Err() == nil {
			f.problem(err)
			f.problem = nil
		}
		return nil, nil
	}
	for _, k := range found {
		if now := (stamp{changed: k.Changed}); f.seen[k.File] != now {
			f.seen[k.File] = now
			all = append(all, k)
		}
	}
	return all, nil
}

// watch watches all directories below dir, or what there is above it as long as it is not there.
func (f *follower) watch(dir string) error {
	for at, below := dir, ""; ; at, below = filepath.Dir(at), at {
		if fi, err := os.Stat(at); err != nil || !fi.IsDir() {
			continue
		}
		if at != dir {
			if !slices.Contains(f.dirs, dir) { // gone, or a file, which its directory tells of
				return nil
			}
			if err := f.watcher.Add(at); err != nil {
				return err
			}
			if fi, err := os.Stat(below); err == nil && fi.IsDir() { // made before the watch was there, which tells nothing of it
				return f.watch(dir)
			}
			return nil
		}
		break
	}
	if _, is := databaseStamp(dir); is {
		return f.watcher.Add(dir)
	}
	return filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !e.IsDir() || strings.HasPrefix(e.Name(), "tool-results"):
			return nil
		}
		if err := f.watcher.Add(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}
