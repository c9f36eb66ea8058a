package source

import (
	"bytes"
	"context"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/session"
)

// Most looks at a pack find nothing new. Who looked before knows what there is to look at, so that
// the recipe need not be gone through again: the same directories and files are asked for their signs.

// sighted is what a scan saw, directory by directory.
type sighted struct {
	rel   string
	sign  Sign
	files []sightedFile
}

type sightedFile struct {
	name string
	*stocked
}

// path returns what must be as it was for the scan to hold, nil when its signs cannot tell: a directory changed
// lately, or something was reached by a link.
func (l *scan) path() []sighted {
	if l.linked || l.here() != l.entered {
		return nil
	}
	byDir := map[string]*sighted{}
	for rel, s := range l.dirs {
		if s.exists() {
			byDir[rel] = &sighted{rel: rel, sign: s}
		} else if _, ok := l.dirs[path.Dir(rel)]; !ok {
			return nil // it would appear with a change of its directory, which was not looked at
		}
	}
	for rel, f := range l.files {
		d := byDir[path.Dir(rel)]
		switch {
		case f.absent && (d != nil || l.absentDir(path.Dir(rel))):
		case d == nil || !f.sign.exists():
			return nil
		default:
			d.files = append(d.files, sightedFile{path.Base(rel), f})
		}
	}
	all := make([]sighted, 0, len(byDir))
	for _, d := range byDir {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b sighted) int {
		if a.rel < b.rel {
			return -1
		}
		return 1
	})
	return all
}

// here counts the directories whose signs tell.
func (l *scan) here() (n int) {
	for _, s := range l.dirs {
		if s.exists() {
			n++
		}
	}
	return n
}

// absentDir reports whether the directory rel is known not to be there.
func (l *scan) absentDir(rel string) bool {
	s, ok := l.dirs[rel]
	return ok && !s.exists()
}

// Unchanged reports whether all that g was made from is as it was. When it cannot tell, it says no, and which files it found as they were.
func (gr *Gatherer) Unchanged(ctx context.Context, x *session.Session, g *Gathered) (ok bool, found map[*stocked]bool) {
	if x.Messages().Len() != g.Length || x.Events().Len() != g.Events || x.Ref() != g.Ref || g.Ref.Space != "" || g.trust.needed() {
		return false, nil
	}
	if !g.sameChildren(x) || !g.sameHandover(x) || g.versions != versionsOf(x) {
		return false, nil
	}
	if !g.scan.walked {
		g.scan.walked, g.scan.way = true, g.scan.path()
	}
	if g.scan.way == nil {
		return false, nil
	}
	ok, found = gr.same(x, g.scan.way)
	return ok && gr.sameOutside(ctx, g), found
}

// same compares the signs of what was seen with what is there now, and gives the files that it found the same, up to the first other one.
func (gr *Gatherer) same(x *session.Session, way []sighted) (ok bool, found map[*stocked]bool) {
	h, _, err := gr.openHome(x, nil)
	if err != nil {
		return false, nil
	}
	defer h.close()
	found = map[*stocked]bool{}
	for i := range way {
		if !h.sameDirectory(&way[i], found) {
			return false, found
		}
	}
	return true, found
}

func (h *home) sameDirectory(d *sighted, found map[*stocked]bool) bool {
	fd := h.fd
	if d.rel != "." {
		var err error
		if fd, err = beneath.Open(h.fd, d.rel, unix.O_PATH|unix.O_DIRECTORY, 0); err != nil {
			return false
		}
		defer unix.Close(fd)
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || signFrom(&st) != d.sign {
		return false
	}
	for _, f := range d.files {
		s := directory(fd).sign(f.name)
		if s != f.sign && !h.sameContent(path.Join(d.rel, f.name), s, f.stocked) {
			return false
		}
		found[f.stocked] = true
	}
	return true
}

// sameContent is for the file rel that had changed so lately, when f was read, that its sign hid another change: it says whether it
// holds what it held then. Once its sign, which is s now, tells, f has it.
func (h *home) sameContent(rel string, s Sign, f *stocked) bool {
	ino := s.ino
	if s.ino = 0; s != f.sign || !f.content.equal(h.read(rel, s, maxFile)) || h.now.linked {
		return false
	}
	if !s.fresh(h.at) {
		f.sign.ino = ino
	}
	return true
}

// sameOutside asks for the files outside of the store again.
func (gr *Gatherer) sameOutside(ctx context.Context, g *Gathered) bool {
	if len(g.asked) == 0 {
		return true
	}
	wait := gr.WaitFor(g.Chosen.Recipe)
	if wait < 0 || gr.Config.Workspace == nil {
		return false
	}
	answers, err := gr.Config.Workspace.ReadFiles(ctx, g.Owner.UID, g.Owner.GID, g.asked, maxWorkspaceFile, wait)
	if err != nil || len(answers) != len(g.asked) {
		return false
	}
	for i, a := range answers {
		was := g.outside[g.asked[i]]
		if a.Stale || was.Stale || a.Exists != was.Exists || a.Foreign != was.Foreign || a.Reason != was.Reason || !bytes.Equal(a.Data, was.Data) {
			return false
		}
	}
	return true
}

// Settled reports whether all that was looked at is old enough for its signs to tell.
func (g *Gathered) Settled() bool {
	for _, f := range g.scan.files {
		if f.sign.exists() && f.sign.ino == 0 {
			return false
		}
	}
	return g.scan.here() == g.scan.entered
}

// Reread returns the paths of the files in the agent's home whose content was read again since before, and how many files there are.
func (g *Gathered) Reread(before *Gathered) (names []string, all int) {
	for name, f := range g.scan.files {
		if was := before.scan.files[name]; was == nil || f.content != was.content {
			names = append(names, name)
		}
	}
	return names, len(g.scan.files)
}
