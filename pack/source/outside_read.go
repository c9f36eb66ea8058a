package source

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// maxWorkspaceFile is the most that is read of one file of a workspace, in bytes.
const maxWorkspaceFile = 1 << 20

// outsideFile is a file outside of the store that is wanted.
type outsideFile struct {
	path   string // as the session's owner calls it
	file   int    // index in gathered.files of what is to be filled in, or -1
	exists string // key in gathered.exists, or ""
}

// readOutside fills in the files outside of the store. Where no answer comes, the last known ones are used.
func (gr *Gatherer) readOutside(ctx context.Context, g *Gathered, s *sources, before map[string]WorkspaceFile) {
	g.outside = map[string]WorkspaceFile{}
	if len(s.asks) == 0 {
		return
	}
	reason := g.trust.outside()
	if reason == "" && gr.Config.Workspace == nil {
		reason = "files outside of the store are not read here"
	}
	var paths []string
	for _, a := range s.asks {
		paths = append(paths, gr.Mapped(a.path))
	}
	if reason == "" {
		gr.answers(ctx, g, paths, before)
	}
	gone := map[int]bool{}
	for i, ask := range s.asks {
		a := g.outside[paths[i]]
		if ask.file < 0 {
			g.in.Exists[ask.exists] = a.Exists
			continue
		}
		f := &g.in.Files[ask.file]
		f.Data, f.Stale, f.Foreign, f.Reason = a.Data, a.Stale, a.Foreign, cmp.Or(reason, a.Reason)
		f.Pending = a.Stale && !a.Exists && reason == "" // nobody knows yet whether it is there
		switch {
		case f.Reason != "":
		case !isText(a.Data):
			f.Data, f.Reason = nil, reasonNoText
		case a.Exists:
		case a.Stale:
			f.Reason = "the workspace has not answered yet"
		default:
			gone[ask.file] = true
		}
	}
	if len(gone) > 0 {
		i := -1
		g.in.Files = slices.DeleteFunc(g.in.Files, func(blocks.File) bool { i++; return gone[i] })
	}
}

// answers asks the runner for paths.
func (gr *Gatherer) answers(ctx context.Context, g *Gathered, paths []string, before map[string]WorkspaceFile) {
	wait := gr.WaitFor(g.Chosen.Recipe)
	if wait < 0 {
		wait = time.Minute // a dead disk must not keep whoever waits for all else
	}
	answers, err := gr.Config.Workspace.ReadFiles(ctx, g.Owner.UID, g.Owner.GID, paths, maxWorkspaceFile, wait)
	for i, p := range paths {
		a := before[p]
		if err == nil && i < len(answers) {
			a = answers[i]
		} else {
			a.Stale = true
		}
		g.outside[p] = a
	}
}

// Mapped is a path as this machine calls it.
func (gr *Gatherer) Mapped(p string) string {
	if gr.Config.MapPath != nil {
		return gr.Config.MapPath(p)
	}
	return p
}

// WaitFor is how long a read may wait for what is outside of the store; negative: until all is there.
func (gr *Gatherer) WaitFor(r *recipe.Recipe) time.Duration {
	switch {
	case gr.Config.WaitForAll:
		return -1
	case gr.Config.Wait != 0:
		return gr.Config.Wait
	}
	return r.Wait
}
