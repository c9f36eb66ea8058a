package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

// names caches which contents the records, files and packs of a session name: wherever the 64 hex
// digits of a hash stand by themselves. It reads nothing twice, unless it is asked for contents
// that it did not look for before.
type names struct {
	mu    sync.Mutex
	ids   map[string]bool         // hex digits of the contents that were looked for
	logs  map[string]*namesInLog  // by the log's name
	files map[string]*namesInFile // by path below the session's directory
	packs map[string][]string     // by pack id
}

type namesInLog struct {
	read int64 // bytes
	hits map[string]*recordsNaming
}

type recordsNaming struct {
	count, last int
	first       []int // a few
}

type namesInFile struct {
	size         int64
	mtime, ctime unix.StatxTimestamp
	ino          uint64
	ids          []string
	all          bool // it was not gone through, so it counts as one that names every content
}

// maxShown is how many of the things that name a content a reason has.
const maxShown = 3

// Users make files of any size, and directories in directories, each of which takes a descriptor.
// What is larger or deeper is not read.
const (
	largestRead = 64 << 20 // bytes
	deepestRead = 64       // directories
)

// justChanged is for how long after a change of a file another one may not change its times.
const justChanged = 2 * time.Second

// find returns what names each of ids ("sha256-<hex>"). pack is the last pack that was built.
func (n *names) find(ctx context.Context, rootFd int, x *session.Session, pack []byte, ids []string) (map[string]gc.Named, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if slices.ContainsFunc(ids, func(id string) bool { return !n.ids[hexOf(id)] }) {
		n.ids, n.logs, n.files, n.packs = map[string]bool{}, map[string]*namesInLog{}, map[string]*namesInFile{}, map[string][]string{}
		for _, id := range ids {
			n.ids[hexOf(id)] = true
		}
	}
	for _, l := range []*log.Log{x.Messages(), x.Events()} {
		if err := n.readLog(ctx, l); err != nil {
			return nil, err
		}
	}
	if err := n.readFiles(ctx, rootFd, x); err != nil {
		return nil, err
	}
	inPack, err := n.readPacks(x, pack)
	if err != nil {
		return nil, err
	}
	byFile := map[string][]string{}
	for name, f := range n.files {
		for _, id := range f.ids {
			byFile[id] = append(byFile[id], shownAs(name))
		}
		if f.all {
			for _, id := range ids {
				byFile[hexOf(id)] = append(byFile[hexOf(id)], shownAs(name))
			}
		}
	}
	found := map[string]gc.Named{}
	for _, id := range ids {
		hex := hexOf(id)
		var by gc.Named
		for _, log := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
			if h := n.logs[log].hits[hex]; h != nil {
				by.Count += h.count
				for _, line := range h.first {
					by.By = append(by.By, fmt.Sprintf("%s:%d", strings.TrimSuffix(log, ".jsonl"), line))
				}
			}
		}
		files := byFile[hex]
		slices.Sort(files)
		by.Count += len(files)
		by.By = append(by.By, files...)
		if inPack[hex] {
			by.Count++
			by.By = append(by.By, "a pack")
		}
		by.By = by.By[:min(len(by.By), maxShown)]
		found[id] = by
	}
	return found, nil
}

func hexOf(id string) string { return strings.TrimPrefix(id, "sha256-") }

// readLog reads the records of a log that were not read yet.
func (n *names) readLog(ctx context.Context, l *log.Log) error {
	in := n.logs[l.Name()]
	end := l.Len()
	if in == nil || in.read > end { // the end was lost with the power
		in = &namesInLog{hits: map[string]*recordsNaming{}}
		n.logs[l.Name()] = in
	}
	if in.read == end {
		return nil
	}
	ix, err := l.Index()
	if err != nil {
		return err
	}
	end = ix.Size()
	from := in.read
	err = scanHashes(ctx, io.NewSectionReader(l, from, end-from), func(off int64, hash []byte) {
		if !n.ids[string(hash)] {
			return
		}
		off += from
		line := sort.Search(ix.Len(), func(i int) bool { return ix.At(i+1).Offset > off })
		h := in.hits[string(hash)]
		if h == nil {
			h = &recordsNaming{}
			in.hits[string(hash)] = h
		}
		if h.last == line {
			return
		}
		h.last = line
		if h.count++; len(h.first) < maxShown {
			h.first = append(h.first, line)
		}
	})
	if err == nil {
		in.read = end
	} else {
		delete(n.logs, l.Name())
	}
	return err
}

// readPacks reads the packs that are stored, and current, the last one that was built. It returns
// the contents that they name.
func (n *names) readPacks(x *session.Session, current []byte) (in map[string]bool, err error) {
	in = map[string]bool{}
	scanAll(current, func(hash []byte) {
		if n.ids[string(hash)] {
			in[string(hash)] = true
		}
	})
	s, err := x.Served()
	if err != nil {
		return nil, err
	}
	s.Each(func(id string) bool { _, known := n.packs[id]; return known }, func(id string, data []byte) {
		ids := []string{}
		scanAll(data, func(hash []byte) {
			if n.ids[string(hash)] && !slices.Contains(ids, string(hash)) {
				ids = append(ids, string(hash))
			}
		})
		n.packs[id] = ids
	})
	listed := map[string]bool{}
	for _, p := range s.Times() {
		listed[p.ID] = true
	}
	for id, ids := range n.packs {
		if !listed[id] {
			delete(n.packs, id)
			continue
		}
		for _, hash := range ids {
			in[hash] = true
		}
	}
	return in, nil
}

// readFiles reads the files that a user has in the session, and the agent's recipe.
func (n *names) readFiles(ctx context.Context, rootFd int, x *session.Session) error {
	ref := x.Ref()
	w := fileWalk{n: n, seen: map[string]bool{}}
	dir, err := beneath.Open(rootFd, ref.Path(), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	if err := w.dir(ctx, dir, "", 1); err != nil {
		return err
	}
	home, err := beneath.Open(rootFd, ref.AgentHome(), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(home)
	if err := w.file(ctx, home, ctxabi.AgentRecipeFile, "../../"+ctxabi.AgentRecipeFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for name := range n.files {
		if !w.seen[name] {
			delete(n.files, name)
		}
	}
	return nil
}

type fileWalk struct {
	n    *names
	seen map[string]bool
}

// dir reads the directory rel, which is open as fd, and closes it.
func (w *fileWalk) dir(ctx context.Context, fd int, rel string, depth int) error {
	d := os.NewFile(uintptr(fd), rel)
	defer d.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := d.ReadDir(256)
		for _, e := range entries {
			name := path.Join(rel, e.Name())
			var err error
			switch {
			case rel == "" && e.Name() == ctxabi.InternalDir:
				err = w.versions(ctx, fd)
			case rel == "" && ofLog(e.Name()):
			case e.IsDir() && depth == deepestRead:
				w.seen[name] = true
				w.n.files[name] = &namesInFile{all: true}
			case e.IsDir():
				var sub int
				if sub, err = beneath.Open(fd, e.Name(), unix.O_RDONLY|unix.O_DIRECTORY, 0); err == nil {
					err = w.dir(ctx, sub, name, depth+1)
				}
			case e.Type().IsRegular():
				err = w.file(ctx, fd, e.Name(), name)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // gone, or replaced, meanwhile
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// versions reads the delivered versions of the summary, in the session's directory dir.
func (w *fileWalk) versions(ctx context.Context, dir int) error {
	sub, err := beneath.Open(dir, ctxabi.InternalDir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(sub)
	return w.file(ctx, sub, session.VersionsFile, versionsName)
}

// versionsName is the path of the versions of the summary in a session.
const versionsName = ctxabi.InternalDir + "/" + session.VersionsFile

// shownAs returns the name of a session's file in the mount.
func shownAs(name string) string {
	if name == versionsName {
		return ctxabi.SummariesDir
	}
	for _, note := range ctxabi.NoteFiles {
		if name == ctxabi.OwnNote(note) {
			return note
		}
	}
	return name
}

// ofLog reports whether a file in a session's directory holds records of a log.
func ofLog(name string) bool {
	_, _, sealed := archive.ParsePartName(name)
	return sealed || name == ctxabi.MessagesFile || name == ctxabi.EventsFile
}

// file reads a file of the open directory dir, unless it has not changed since the last time.
func (w *fileWalk) file(ctx context.Context, dir int, base, rel string) error {
	fd, err := beneath.Open(dir, base, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), rel)
	defer f.Close()
	x, err := beneath.Stat(fd)
	if err != nil || x.Mode&unix.S_IFMT != unix.S_IFREG {
		return err
	}
	w.seen[rel] = true
	if x.Size > largestRead {
		w.n.files[rel] = &namesInFile{size: -1, all: true}
		return nil
	}
	now := namesInFile{size: int64(x.Size), mtime: x.Mtime, ctime: x.Ctime, ino: x.Ino}
	if was := w.n.files[rel]; was != nil && was.size == now.size && was.mtime == now.mtime && was.ctime == now.ctime && was.ino == now.ino {
		return nil
	}
	err = scanHashes(ctx, io.LimitReader(f, largestRead), func(_ int64, hash []byte) {
		if w.n.ids[string(hash)] && !slices.Contains(now.ids, string(hash)) {
			now.ids = append(now.ids, string(hash))
		}
	})
	if err != nil {
		return err
	}
	if time.Since(time.Unix(x.Ctime.Sec, int64(x.Ctime.Nsec))) < justChanged {
		now.size = -1 // it is read again the next time
	}
	w.n.files[rel] = &now
	return nil
}
