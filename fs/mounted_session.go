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
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// mountedSession is one session in the tree: what all nodes of its directories share.
type mountedSession struct {
	t   *tree
	x   *session.Session
	own owner

	mu sync.Mutex
	// built has what is known of each build while the shelf keeps it; it is swept when it has grown to
	// sweepAt. Both are guarded by mu.
	built   map[weak.Pointer[pack.Build]]weak.Pointer[generation]
	sweepAt int
	// removed has, of files that come back, who removed them and has not looked since; guarded by mu.
	removed map[string]removal
	// awaited has, of files of packs that were looked up while their build was awaited, what stands
	// for them; guarded by mu.
	awaited map[string]*placeholder
	// pending are handles of control files that were truncated at open and
	// flushed, with nothing written yet; guarded by mu.
	pending map[*controlHandle]struct{}
}

func newMountedSession(t *tree, x *session.Session) (*mountedSession, error) {
	st, err := t.stat(x.Ref().Path())
	if err != nil {
		return nil, err
	}
	t.gc.Use(x)
	return &mountedSession{t: t, x: x, own: owner{uid: st.Uid, gid: st.Gid, group: st.Mode&0o070 != 0}}, nil
}

// path returns the path of the session's file rel in the store.
func (p *mountedSession) path(rel string) string { return path.Join(p.x.Ref().Path(), rel) }

// stat returns the attributes of a file of the session in the store. If it is not there, stat waits
// for renames that are under way: for a moment the disk is ahead of what path returns.
func (p *mountedSession) stat(rel string) (*unix.Statx_t, error) {
	x, err := p.t.stat(p.path(rel))
	if errors.Is(err, os.ErrNotExist) {
		p.t.waitForRenames()
		x, err = p.t.stat(p.path(rel))
	}
	return x, err
}

// attr returns the identity of a session's own file or directory.
func (p *mountedSession) attr(mode uint32, rel string) gofs.StableAttr {
	return roleAttr(mode, p.x.ID(), rel)
}

// refuse returns the errno of err and reports the reason in errors.jsonl.
func (p *mountedSession) refuse(ctx context.Context, op, rel string, err error) syscall.Errno {
	return p.refuseTo(callerOf(ctx).Uid, op, rel, err)
}

// refuseTo is refuse for a request of the user uid.
func (p *mountedSession) refuseTo(uid uint32, op, rel string, err error) syscall.Errno {
	errno := errnoOf(err)
	row := disk.RowOf(op, rel, uid, err)
	row.Op, row.Errno = op, errnoName(errno) // as the program sees it
	p.x.Report(row)
	return errno
}

// deny is refuse for a rule of the tree.
func (p *mountedSession) deny(ctx context.Context, op, rel string, kind error, why string) syscall.Errno {
	return p.refuse(ctx, op, rel, ctxabi.E(op, rel, kind, "%s", why))
}

// content returns the bytes of a control file. It returns fs.ErrNotExist if the file is absent,
// which a note and a child's file never are.
func (p *mountedSession) content(ctx context.Context, rel string) ([]byte, error) {
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

// commit checks data by the rules of the control file rel and by the budget, and replaces the file.
// If it refuses, the old content stays.
func (p *mountedSession) commit(ctx context.Context, op, rel string, data []byte) syscall.Errno {
	edit := noteEdit{replaced: true, foreign: session.NamesWorkspace(rel) && isForeign(ctx)}
	return p.commitEdit(ctx, op, rel, data, &edit, callerOf(ctx).Uid)
}

// commitEdit is commit of the copy of a handle that the user by has opened. If rel is a note, edit
// is what was done to the copy.
func (p *mountedSession) commitEdit(ctx context.Context, op, rel string, data []byte, edit *noteEdit, by uint32) syscall.Errno {
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
		err = p.commitNote(ctx, rel, data, edit)
	case session.NamesWorkspace(rel):
		err = p.x.SetWorkspace(rel, data, edit.foreign)
	default:
		err = p.x.SetControl(rel, data)
	}
	if err != nil {
		return p.refuseTo(by, op, rel, err)
	}
	if rel == ctxabi.RecipeFile || rel == ctxabi.EnvFile { // never refused: people save half-finished work
		p.t.builder.CheckRecipe(builder.WithCaller(ctx, callerOf(ctx).Pid), p.x)
	}
	return 0
}

// maxJudged is the largest size in bytes of a pin whose tokens are counted at each write.
const maxJudged = 64 << 10

// writeCheck is what is refused of a control file while it is being written.
type writeCheck int

const (
	checkNone  writeCheck = iota // nothing: it is checked as a whole
	checkLines                   // a line that breaks the file's rules
	checkText                    // what is no text
)

// judge returns an error if data, the beginning of what the user by writes to the control file rel,
// is wrong already, whatever follows.
func (p *mountedSession) judge(rel string, data []byte, by uint32) error {
	switch entryOf(rel).check {
	case checkLines:
		lines := data[:bytes.LastIndexByte(data, '\n')+1]
		if len(bytes.TrimSpace(lines)) == 0 {
			return nil
		}
		if err := session.CheckControl(rel, lines); err != nil {
			return err
		}
		if rel == ctxabi.PolicyFile {
			return p.checkHistory("write", rel, lines, p.x.Policy(), by) // other keys may follow
		}
		return p.checkFits(rel, lines)
	case checkText:
		if err := session.CheckText(rel, wholeRunes(data)); err != nil { // what makes a diff one may come later
			return err
		}
	}
	if rel == ctxabi.SummaryFile {
		return p.x.CheckSummary(data)
	}
	if path.Dir(rel) == ctxabi.PinnedDir && len(data) <= maxJudged { // a pin only grows
		return p.checkFits(rel, data)
	}
	return nil
}

// wholeRunes returns data without a character that is cut off at its end.
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

func (p *mountedSession) checkFits(rel string, data []byte) error {
	if rel != ctxabi.BudgetFile && path.Dir(rel) != ctxabi.PinnedDir {
		return nil
	}
	return p.t.builder.CheckFits(p.x, rel, data)
}

// mayDecide reports whether a user is the session's owner, or root.
func (p *mountedSession) mayDecide(uid uint32) bool { return uid == p.own.uid || uid == 0 }

// checkHistory returns ctxabi.ErrProtected if data changes what becomes of history and by is not
// the session's owner: in a shared space members change settings, but not that. base is the policy
// where data does not set a key.
func (p *mountedSession) checkHistory(op, rel string, data []byte, base ctxabi.Policy, by uint32) error {
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
	return ctxabi.E(op, rel, ctxabi.ErrProtected, "it changes %s; only the session's owner decides about its history; leave those keys unchanged", strings.Join(keys, " "))
}

// drop removes a control file for the caller. A child's file that is not on the disk counts as
// removed.
func (p *mountedSession) drop(ctx context.Context, rel string) error {
	if rel == ctxabi.PolicyFile {
		p.t.policies.Lock()
		defer p.t.policies.Unlock()
		if err := p.checkHistory("remove", rel, nil, ctxabi.DefaultPolicy(), callerOf(ctx).Uid); err != nil {
			p.refuse(ctx, "remove", rel, err)
			return err
		}
	}
	err := p.x.RemoveControl(rel)
	if errors.Is(err, os.ErrNotExist) && ctxabi.IsChildFile(rel) {
		return nil // a child's file was as it is after it is removed
	}
	return err
}

// build returns the session's current pack. It waits for commits that are under way, and for the
// build.
func (p *mountedSession) build(ctx context.Context) (*pack.Build, error) {
	p.settle("")
	late, cancel := patient(ctx)
	defer cancel()
	return p.t.builder.Current(builder.WithCaller(late, callerOf(ctx).Pid), p.x)
}

// buildAt returns the pack of the session's first n messages.
func (p *mountedSession) buildAt(ctx context.Context, n int) (*pack.Build, error) {
	p.settle("")
	late, cancel := patient(ctx)
	defer cancel()
	return p.t.builder.At(builder.WithCaller(late, callerOf(ctx).Pid), p.x, n)
}

// The wait of settle: so many steps of so long. It is a sum of steps and not one timer, so that on
// a machine that is busy, or stood still, the release that was read already runs as often as the
// wait does. A commit that has begun is waited for in any case.
const (
	settleStep  = 10 * time.Millisecond
	settleSteps = 50
)

// settle waits for the commits of control files that were truncated and closed: the kernel answers
// the close before it sends the release that commits them. It waits once for a handle that is still
// open (`> file` before its first write). It waits for the handles of rel, or of all files if rel
// is "".
func (p *mountedSession) settle(rel string) {
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

// emptiedBy reports whether the process pid has truncated the control file rel and written nothing
// since.
func (p *mountedSession) emptiedBy(rel string, pid uint32) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for h := range p.pending {
		if h.n.rel == rel && h.by == pid && pid != 0 {
			return true
		}
	}
	return false
}

func (p *mountedSession) unpend(h *controlHandle) {
	p.mu.Lock()
	delete(p.pending, h)
	p.mu.Unlock()
}
