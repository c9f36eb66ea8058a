package transcript

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
func Follow(ctx context.Context, dirs []string, bring func(Kept) error) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	f := follower{dirs: dirs, watcher: w, seen: map[string]stamp{}}
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.Events:
			wait.Reset(settles)
		case <-w.Errors: // events are lost: all is looked at
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
}

// stamp is what tells that a transcript has changed: its own bytes, and those of the conversations of sub-agents beside it.
type stamp struct {
	size    int64
	changed time.Time
}

func stampOf(file string, fi fs.FileInfo) stamp {
	s := stamp{fi.Size(), fi.ModTime()}
	beside, err := os.ReadDir(filepath.Join(strings.TrimSuffix(file, ".jsonl"), "subagents"))
	if err != nil {
		return s // there are none
	}
	for _, e := range beside {
		if fi, err := e.Info(); err == nil {
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
	for _, dir := range f.dirs {
		if err := f.watch(dir); err != nil {
			return false, err
		}
	}
	var all []Kept
	now := map[string]stamp{}
	err = eachKept(f.dirs, func(file string, fi fs.FileInfo) error {
		now[file] = stampOf(file, fi)
		if f.seen[file] == now[file] {
			return nil
		}
		k, ok, err := keptIn(file)
		if ok {
			all = append(all, k)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	sortKept(all)
	f.seen = now
	for _, k := range all {
		if ctx.Err() != nil {
			return false, nil
		}
		if errors.Is(bring(k), ctxabi.ErrLocked) {
			delete(f.seen, k.File)
			again = true
		}
	}
	return again, nil
}

// watch watches all directories below dir, or what there is above it as long as it is not there.
func (f *follower) watch(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		if fi, err := os.Stat(at); err != nil || !fi.IsDir() {
			continue
		}
		if at != dir {
			return f.watcher.Add(at)
		}
		break
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
