package fs

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"
	"syscall"
	"weak"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/session"
)

// place is one session in the tree: what all nodes of its directories share.
type place struct {
	t   *tree
	x   *session.Session
	own owner

	mu    sync.Mutex
	built weak.Pointer[generation] // of the build seen last, while an inode shows it; guarded by mu
}

func newPlace(t *tree, x *session.Session) (*place, error) {
	st, err := t.stat(x.Ref().Path())
	if err != nil {
		return nil, err
	}
	return &place{t: t, x: x, own: owner{uid: st.Uid, gid: st.Gid, group: st.Mode&0o070 != 0}}, nil
}

// path is where a file of the session lies in the store.
func (p *place) path(rel string) string { return path.Join(p.x.Ref().Path(), rel) }

// attr is the identity of a session's own file or directory.
func (p *place) attr(mode uint32, rel string) gofs.StableAttr { return roleAttr(mode, p.x.ID(), rel) }

// refuse turns err into an errno and writes down why.
func (p *place) refuse(ctx context.Context, op, rel string, err error) syscall.Errno {
	errno := errnoOf(err)
	p.x.Report(session.ErrorRow{UID: callerOf(ctx).Uid, Op: op, Path: rel, Errno: errnoName(errno), Reason: reasonOf(err)})
	return errno
}

// deny is refuse for a rule of the tree.
func (p *place) deny(ctx context.Context, op, rel string, kind error, why string) syscall.Errno {
	return p.refuse(ctx, op, rel, ctxabi.E(op, rel, kind, "%s", why))
}

// fixedControls are the control files that a session always has, with what
// they hold when nothing was written to them.
var fixedControls = map[string]string{
	ctxabi.StateFile:  "idle\n",
	ctxabi.CwdFile:    "",
	ctxabi.MetaFile:   "{}\n",
	ctxabi.BudgetFile: "",
	ctxabi.PolicyFile: "",
}

// optionalControls are there once somebody wrote them.
var optionalControls = map[string]bool{
	ctxabi.RecipeFile: true, ctxabi.EnvFile: true, ctxabi.PlanFile: true, ctxabi.DiffFile: true,
	ctxabi.SummaryFile: true, ctxabi.FactsFile: true, ctxabi.DecisionsFile: true, ctxabi.TodoFile: true, ctxabi.RefsFile: true,
}

// scratchName says whether name in pinned/ is an editor's, not a pin.
func scratchName(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || name == "4913" ||
		len(name) == 9 && strings.HasPrefix(name, "sed")
}

// isControl says whether rel is a file whose content is checked.
func isControl(rel string) bool {
	if _, ok := fixedControls[rel]; ok || optionalControls[rel] {
		return true
	}
	return path.Dir(rel) == ctxabi.PinnedDir && !scratchName(path.Base(rel))
}

// content is what a control file holds. A fixed one that is not on the disk
// holds its default; an optional one gives fs.ErrNotExist.
func (p *place) content(rel string) ([]byte, error) {
	data, err := p.x.Control(rel)
	if def, ok := fixedControls[rel]; ok && errors.Is(err, fs.ErrNotExist) {
		return []byte(def), nil
	}
	return data, err
}

// commit checks data by the rules of the control file rel and by the budget,
// and replaces the file. What is refused leaves the old content.
func (p *place) commit(ctx context.Context, op, rel string, data []byte) syscall.Errno {
	err := session.CheckControl(rel, data)
	if err == nil {
		err = p.checkFits(rel, data)
	}
	if err == nil {
		err = p.x.SetControl(rel, data)
	}
	if err != nil {
		return p.refuse(ctx, op, rel, err)
	}
	return 0
}

func (p *place) checkFits(rel string, data []byte) error {
	if rel != ctxabi.BudgetFile && path.Dir(rel) != ctxabi.PinnedDir {
		return nil
	}
	return p.t.builder.CheckFits(p.x, rel, data)
}

// drop removes a control file: an optional one is gone, a fixed one has its
// default again.
func (p *place) drop(rel string) error {
	if def, ok := fixedControls[rel]; ok {
		return p.x.SetControl(rel, []byte(def))
	}
	dir, err := openBeneath(p.t.rootFd, path.Dir(p.path(rel)), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := unix.Unlinkat(dir, path.Base(rel), 0); err != nil {
		return err
	}
	p.x.Touch()
	return nil
}

// build is the session's pack, made when it is not the current one any more.
func (p *place) build(ctx context.Context) (*pack.Build, error) { return p.t.builder.Current(ctx, p.x) }
