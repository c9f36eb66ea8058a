package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// errSuperseded means that another preview began before this one was done.
var errSuperseded = errors.New("another preview began")

// openFunc opens a session, as [Config.Look].
type openFunc func(ctx context.Context, dir string, budget int) (*Look, error)

// looks keeps one look open for what stands now, one for previews and one for the past, so that each
// is bounded. It is safe for concurrent use.
type looks struct {
	open openFunc

	now, preview, past lane
}

// lane is work of which one piece is done at a time, with the look that the last one needed.
type lane struct {
	mu     sync.Mutex
	cancel context.CancelCauseFunc // of what goes on or waits; guarded by mu; nil: nothing does

	busy chan struct{} // holds one token while somebody works; guards what follows
	once sync.Once
	key  lookKey
	look *Look
}

// lookKey is what a look is of: another one needs another look.
type lookKey struct {
	dir    string
	budget int
	stamp  string
}

// current calls f with the present state of a session. Whoever comes meanwhile waits.
func (l *looks) current(ctx context.Context, dir string, f func(context.Context, *Look) error) error {
	return l.now.do(ctx, l.open, dir, 0, f)
}

// previewed calls f with a session, and with another budget where budget is not 0. It ends the preview
// that goes on, which returns errSuperseded.
func (l *looks) previewed(ctx context.Context, dir string, budget int, f func(context.Context, *Look) error) error {
	return l.preview.instead(ctx, l.open, dir, budget, f)
}

// replayed calls f with a session, to look at many of its earlier prompts. It ends the replay that goes
// on, which returns errSuperseded.
func (l *looks) replayed(ctx context.Context, dir string, f func(context.Context, *Look) error) error {
	return l.past.instead(ctx, l.open, dir, 0, f)
}

// instead is do in place of what goes on.
func (p *lane) instead(ctx context.Context, open openFunc, dir string, budget int, f func(context.Context, *Look) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.mu.Lock()
	if p.cancel != nil {
		p.cancel(errSuperseded)
	}
	p.cancel = cancel
	p.mu.Unlock()
	err := p.do(ctx, open, dir, budget, f)
	if err != nil && errors.Is(context.Cause(ctx), errSuperseded) {
		return errSuperseded
	}
	return err
}

// do calls f when nobody else works in the lane.
func (n *lane) do(ctx context.Context, open openFunc, dir string, budget int, f func(context.Context, *Look) error) error {
	ctx, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	n.once.Do(func() { n.busy = make(chan struct{}, 1) })
	select {
	case n.busy <- struct{}{}:
		defer func() { <-n.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	key := lookKey{dir, budget, stampOf(dir)}
	if n.look == nil || n.key != key {
		if err := n.drop(); err != nil {
			return err
		}
		look, err := open(ctx, dir, budget)
		if err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		n.look, n.key = look, key
	}
	err := f(ctx, n.look)
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

// drop closes the look. busy is held.
func (n *lane) drop() (err error) {
	if n.look != nil {
		err = n.look.Close()
	}
	n.look = nil
	return err
}

// close closes all looks.
func (l *looks) close() error {
	var failed []error
	for _, n := range []*lane{&l.now, &l.preview, &l.past} {
		n.once.Do(func() { n.busy = make(chan struct{}, 1) })
		n.busy <- struct{}{}
		failed = append(failed, n.drop())
		<-n.busy
	}
	return errors.Join(failed...)
}

// stamped are the files and directories by which a look at a session is known to be out of date.
var stamped = []string{ctxabi.MessagesFile, ctxabi.EventsFile, ctxabi.StateFile, ctxabi.CwdFile, ctxabi.MetaFile, ctxabi.ContextDir, ctxabi.BudgetFile,
	ctxabi.RecipeFile, ctxabi.EnvFile, ctxabi.PlanFile, ctxabi.DiffFile, ctxabi.HandoffFile, ctxabi.PinnedDir,
	"../../" + ctxabi.SystemPromptFile, "../../" + ctxabi.AgentRecipeFile, "../../" + ctxabi.ToolsFile}

// stampOf returns a text that is another one when the session in dir has changed.
func stampOf(dir string) string {
	text := ""
	for _, name := range stamped {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil {
			text += fmt.Sprintf("%d %d\n", fi.Size(), fi.ModTime().UnixNano())
		} else {
			text += "\n"
		}
	}
	return text
}
