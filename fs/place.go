package fs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
	"weak"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/beneath"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/build"
	"github.com/ctxfs/ctxfs/session"
)

// place is one session in the tree: what all nodes of its directories share.
type place struct {
	t   *tree
	x   *session.Session
	own owner

	mu sync.Mutex
	// built has what is known of each build while the shelf keeps it; it is swept when it has grown to sweepAt. Both are guarded by mu.
	built   map[weak.Pointer[pack.Build]]weak.Pointer[generation]
	sweepAt int
	// removed has, of files that come back, who removed them and has not looked since; guarded by mu.
	removed map[string]removal
	// awaited has, of files of packs that were looked up while their build was awaited, what stands for them; guarded by mu.
	awaited map[string]*standIn
	// pending are handles of control files that were truncated at open and
	// flushed, with nothing written yet; guarded by mu.
	pending map[*controlHandle]struct{}
}

func newPlace(t *tree, x *session.Session) (*place, error) {
	st, err := t.stat(x.Ref().Path())
	if err != nil {
		return nil, err
	}
	t.builder.Use(x)
	t.gc.use(x)
	return &place{t: t, x: x, own: owner{uid: st.Uid, gid: st.Gid, group: st.Mode&0o070 != 0}}, nil
}

// path is where a file of the session lies in the store.
func (p *place) path(rel string) string { return path.Join(p.x.Ref().Path(), rel) }

// stat looks at a file of the session. It waits for a rename of the session
// that is under way: for a moment the disk is ahead of what path says.
func (p *place) stat(rel string) (*unix.Statx_t, error) {
	x, err := p.t.stat(p.path(rel))
	if errors.Is(err, os.ErrNotExist) {
		p.t.waitForRenames()
		x, err = p.t.stat(p.path(rel))
	}
	return x, err
}

// attr is the identity of a session's own file or directory.
func (p *place) attr(mode uint32, rel string) gofs.StableAttr { return roleAttr(mode, p.x.ID(), rel) }

// refuse turns err into an errno and writes down why.
func (p *place) refuse(ctx context.Context, op, rel string, err error) syscall.Errno {
	return p.refuseTo(callerOf(ctx).Uid, op, rel, err)
}

// refuseTo is refuse of what a user asked for.
func (p *place) refuseTo(uid uint32, op, rel string, err error) syscall.Errno {
	errno := errnoOf(err)
	row := session.RowOf(op, rel, uid, err)
	row.Op, row.Errno = op, errnoName(errno) // as the program sees it
	p.x.Report(row)
	return errno
}

// deny is refuse for a rule of the tree.
func (p *place) deny(ctx context.Context, op, rel string, kind error, why string) syscall.Errno {
	return p.refuse(ctx, op, rel, ctxabi.E(op, rel, kind, "%s", why))
}

// controls are the files of a session whose content is checked. The first
// five are there from the start; each may be removed, and is then what its
// absence means: state is idle, a budget is the mount's.
var controls = map[string]bool{
	ctxabi.StateFile: true, ctxabi.CwdFile: true, ctxabi.MetaFile: true, ctxabi.BudgetFile: true, ctxabi.PolicyFile: true,
	ctxabi.RecipeFile: true, ctxabi.EnvFile: true, ctxabi.PlanFile: true, ctxabi.DiffFile: true, ctxabi.HandoffFile: true,
	ctxabi.SummaryFile: true, ctxabi.FactsFile: true, ctxabi.DecisionsFile: true, ctxabi.TodoFile: true, ctxabi.RefsFile: true,
}

// isControl says whether rel is a file whose content is checked.
func isControl(rel string) bool {
	return controls[rel] || ctxabi.IsChildFile(rel) || path.Dir(rel) == ctxabi.PinnedDir && ctxabi.IsPin(path.Base(rel))
}

// content is what a control file holds; fs.ErrNotExist when it is absent. A child's is never absent, nor is a note.
func (p *place) content(ctx context.Context, rel string) ([]byte, error) {
	switch {
	case session.IsNote(rel):
		v, err := p.note(ctx, rel)
		return v.text(), err
	case ctxabi.IsChildFile(rel):
		child, file, _ := ctxabi.SplitChild(rel)
		data, _, _, err := p.x.ChildFile(child, file)
		return data, err
	}
	return p.x.Control(rel)
}

// commit checks data by the rules of the control file rel and by the budget,
// and replaces the file. What is refused leaves the old content.
func (p *place) commit(ctx context.Context, op, rel string, data []byte) syscall.Errno {
	return p.commitEdit(ctx, op, rel, data, &noteEdit{replaced: true}, callerOf(ctx).Uid)
}

// commitEdit is commit of a handle's copy, of a file that the user by has opened; where rel is a note, edit says what became of it.
func (p *place) commitEdit(ctx context.Context, op, rel string, data []byte, edit *noteEdit, by uint32) syscall.Errno {
	if rel == ctxabi.PolicyFile {
		p.t.policies.Lock()
		defer p.t.policies.Unlock()
	}
	err := session.CheckControl(rel, edit.own(data))
	if err == nil {
		err = p.checkHistory(op, rel, data, ctxabi.DefaultPolicy(), by)
	}
	if err == nil {
		err = p.checkFits(rel, data)
	}
	switch {
	case err != nil:
	case session.IsNote(rel):
		err = p.commitNote(rel, data, edit)
	default:
		err = p.x.SetControl(rel, data)
	}
	if err != nil {
		return p.refuseTo(by, op, rel, err)
	}
	if rel == ctxabi.RecipeFile || rel == ctxabi.EnvFile { // never refused: people save half-finished work
		p.t.builder.CheckRecipe(build.WithCaller(ctx, callerOf(ctx).Pid), p.x)
	}
	return 0
}

// maxJudged is how long a pin may be to be counted at each write of it.
const maxJudged = 64 << 10

// judge says whether data, the beginning of what is being written to the
// control file rel by a user, is wrong already, whatever follows. The rules of these
// files are by line, and a pin only grows.
func (p *place) judge(rel string, data []byte, by uint32) error {
	like := rel
	if _, file, ok := ctxabi.SplitChild(rel); ok {
		like = judgedAs[file]
	}
	switch like {
	case ctxabi.StateFile, ctxabi.CwdFile, ctxabi.BudgetFile, ctxabi.PolicyFile, ctxabi.EnvFile,
		ctxabi.FactsFile, ctxabi.DecisionsFile, ctxabi.RefsFile:
		lines := data[:bytes.LastIndexByte(data, '\n')+1]
		if len(bytes.TrimSpace(lines)) == 0 {
			return nil
		}
		if err := session.CheckControl(rel, lines); err != nil {
			return err
		}
		if rel == ctxabi.PolicyFile {
			return p.checkHistory("write", rel, lines, p.x.Policy(), by) // what is not said yet may follow
		}
		return p.checkFits(rel, lines)
	}
	if path.Dir(rel) == ctxabi.PinnedDir || like == ctxabi.SummaryFile || like == ctxabi.TodoFile || like == ctxabi.HandoffFile || like == ctxabi.DiffFile {
		if err := session.CheckText(rel, wholeRunes(data)); err != nil { // what makes a diff one may come later
			return err
		}
	}
	if path.Dir(rel) == ctxabi.PinnedDir && len(data) <= maxJudged {
		return p.checkFits(rel, data)
	}
	return nil
}

// judgedAs says which file of a session has rules of the same kind as that of a child: by line, or text.
var judgedAs = map[string]string{
	ctxabi.ChildAgent: ctxabi.StateFile, ctxabi.ChildSession: ctxabi.StateFile, ctxabi.ChildStatus: ctxabi.StateFile,
	ctxabi.ChildRefs: ctxabi.RefsFile, ctxabi.ChildHandoff: ctxabi.HandoffFile, ctxabi.ChildResult: ctxabi.HandoffFile,
}

// wholeRunes is data without a character that is cut off at its end.
func wholeRunes(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if last := data[len(data)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

func (p *place) checkFits(rel string, data []byte) error {
	if rel != ctxabi.BudgetFile && path.Dir(rel) != ctxabi.PinnedDir {
		return nil
	}
	return p.t.builder.CheckFits(p.x, rel, data)
}

// mayDecide reports whether a user is the session's owner, or root.
func (p *place) mayDecide(uid uint32) bool { return uid == p.own.uid || uid == 0 }

// checkHistory reports whether the user by may let data be a part of the control file rel, or all of it: in a shared space members change
// settings, and what becomes of history is the owner's to decide. base is what holds where data says nothing.
func (p *place) checkHistory(op, rel string, data []byte, base ctxabi.Policy, by uint32) error {
	if rel != ctxabi.PolicyFile || p.mayDecide(by) {
		return nil
	}
	next, err := base.With(data)
	if err != nil {
		return err
	}
	keys := p.x.Policy().HistoryKeys(next)
	if len(keys) == 0 {
		return nil
	}
	return ctxabi.E(op, rel, ctxabi.ErrProtected, "it changes %s; only the session's owner decides what becomes of its history, leave that as it stands", strings.Join(keys, " "))
}

// drop removes a control file for the caller.
func (p *place) drop(ctx context.Context, rel string) error {
	if rel == ctxabi.PolicyFile {
		p.t.policies.Lock()
		defer p.t.policies.Unlock()
		if err := p.checkHistory("remove", rel, nil, ctxabi.DefaultPolicy(), callerOf(ctx).Uid); err != nil {
			p.refuse(ctx, "remove", rel, err)
			return err
		}
	}
	dir, err := beneath.Open(p.t.rootFd, path.Dir(p.path(rel)), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := unix.Unlinkat(dir, path.Base(rel), 0); err != nil && !(err == unix.ENOENT && ctxabi.IsChildFile(rel)) {
		return err // a child's file was as it is after it is removed
	}
	p.x.Touch()
	return nil
}

// build is the session's pack, made when it is not the current one any more.
func (p *place) build(ctx context.Context) (*pack.Build, error) {
	p.settle("")
	late, cancel := patient(ctx)
	defer cancel()
	return p.t.builder.Current(build.WithCaller(late, callerOf(ctx).Pid), p.x)
}

// buildAt is the pack of the session's first n messages.
func (p *place) buildAt(ctx context.Context, n int) (*pack.Build, error) {
	p.settle("")
	late, cancel := patient(ctx)
	defer cancel()
	return p.t.builder.At(build.WithCaller(late, callerOf(ctx).Pid), p.x, n)
}

// served is what was read of the session's packs.
func (p *place) served(ctx context.Context) (*session.Served, error) {
	late, cancel := patient(ctx)
	defer cancel()
	return p.t.builder.Served(late, p.x)
}

// settle waits for a handle's release this often for so long. It is a sum of steps, and not one timer: on a machine that is
// busy, or stood still, the release that was read already gets to run as often as the wait does. That it commits, on a disk that may
// be slow, is waited for in any case.
const (
	settleStep  = 10 * time.Millisecond
	settleSteps = 50
)

// settle waits a moment for control files that were truncated and closed: the
// kernel answers the close before it sends the release that commits them. A
// handle that is still open (`> file` before its first write) is waited for once.
// It waits for those of rel, or of all files where rel is "".
func (p *place) settle(rel string) {
	p.mu.Lock()
	var waits []*controlHandle
	for h := range p.pending {
		if rel == "" || h.n.rel == rel {
			waits = append(waits, h)
		}
	}
	p.mu.Unlock()
	if len(waits) == 0 {
		return
	}
	step := time.NewTicker(settleStep)
	defer step.Stop()
	steps := 0
	for _, h := range waits {
		for released := false; !released; {
			select {
			case <-h.releasing:
				<-h.released
				released = true
			case <-step.C:
				if steps++; steps < settleSteps {
					continue
				}
				for _, h := range waits {
					p.unpend(h)
				}
				return
			}
		}
	}
}

// emptiedBy says whether the process pid has truncated the control file rel and written nothing since.
func (p *place) emptiedBy(rel string, pid uint32) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for h := range p.pending {
		if h.n.rel == rel && h.by == pid && pid != 0 {
			return true
		}
	}
	return false
}

func (p *place) unpend(h *controlHandle) {
	p.mu.Lock()
	delete(p.pending, h)
	p.mu.Unlock()
}
