package pack

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// maxWorkspaceFile is the most that is read of one file of a workspace, in bytes.
const maxWorkspaceFile = 1 << 20

// gathered is what a session's pack is made from, as far as it can be known
// without opening a file: a fingerprint, and what was read for it.
type gathered struct {
	length int64 // of messages.jsonl
	events int64 // of events.jsonl
	dir    string
	budget sign
	cwd    sign
	pinned sign    // the directory
	dirs   [2]sign // context/ and the agent's home: a file that is not there appears with a change of these
	files  []storeFile
	read   []File   // of the store
	guides []File   // of the workspace
	paths  []string // of the workspace, as its owner calls them
	mapped []string // the same as this machine calls them
	// untrusted: cwd is not the owner's alone, so nothing outside the store is read.
	untrusted bool
	tokens    int  // the budget
	fresh     bool // a file changed so lately that its sign does not tell
}

// gather looks at the session's files. Where nothing changed since last, it
// opens none and gives last itself.
func (b *Builder) gather(ctx context.Context, x *session.Session, last *gathered) (*gathered, error) {
	dir := x.Dir()
	here := openDirectory(dir)
	defer here.close()
	g := &gathered{
		length: x.Messages().Len(),
		events: x.Events().Len(),
		dir:    dir,
		budget: here.sign(ctxabi.BudgetFile),
		cwd:    here.sign(ctxabi.CwdFile),
		pinned: here.sign(ctxabi.PinnedDir),
		dirs:   [2]sign{here.sign(ctxabi.ContextDir), here.sign(agentHome)},
	}
	known := last != nil && !last.fresh && last.dir == dir
	if known && last.pinned == g.pinned {
		g.files = slices.Clone(last.files)
	} else {
		names, err := pinNames(dir + "/" + ctxabi.PinnedDir)
		if err != nil {
			return nil, err
		}
		g.files = storeFiles(names)
	}
	look(here, g.files, known && last.pinned == g.pinned && last.dirs == g.dirs)
	now := time.Now()
	g.fresh = g.budget.fresh(now) || g.cwd.fresh(now) || g.pinned.fresh(now) || g.dirs[0].fresh(now) || g.dirs[1].fresh(now)
	for _, f := range g.files {
		g.fresh = g.fresh || f.sign.fresh(now)
	}

	same := known && last.budget == g.budget && slices.Equal(last.files, g.files)
	if same {
		g.read, g.tokens = last.read, last.tokens
	} else if err := b.readFiles(g); err != nil {
		return nil, err
	}
	if known && last.cwd == g.cwd {
		g.paths, g.mapped, g.untrusted = last.paths, last.mapped, last.untrusted
	} else {
		b.workspacePaths(x, g)
		same = false
	}
	var before []File
	if last != nil {
		before = last.guides
	}
	g.guides = b.readWorkspace(ctx, g, before)
	if same && g.length == last.length && g.events == last.events && slices.EqualFunc(g.guides, before, equalFiles) {
		return last, nil
	}
	return g, nil
}

func equalFiles(a, b File) bool {
	return a.ID == b.ID && a.Path == b.Path && a.Stale == b.Stale && a.Reason == b.Reason && bytes.Equal(a.Data, b.Data)
}

// readFiles reads the files of the store and the budget.
func (b *Builder) readFiles(g *gathered) error {
	g.tokens = b.config.Budget
	if data, _, err := readRegular(g.dir + "/" + ctxabi.BudgetFile); err == nil {
		if n, ok, err := ctxabi.ParseBudget(data); ok && err == nil {
			g.tokens = n
		}
	}
	for i := range g.files {
		if g.files[i].rel == "" {
			continue
		}
		f, ok, err := g.files[i].read(g.dir)
		if err != nil {
			return err
		}
		if ok {
			g.read = append(g.read, f)
		}
	}
	return nil
}

// workspacePaths reads the session's cwd and names the files that the recipe wants from there.
func (b *Builder) workspacePaths(x *session.Session, g *gathered) {
	data, reason, err := readRegular(g.dir + "/" + ctxabi.CwdFile)
	cwd := strings.TrimRight(string(data), "\r\n")
	if err != nil || reason != "" || !filepath.IsAbs(cwd) {
		return
	}
	if x.Ref().Space != "" {
		// Whoever may write cwd could have files read as the session's owner.
		owner := signOf(g.dir)
		g.untrusted = g.cwd.mode&0o022 != 0 || g.cwd.uid != owner.uid
	}
	local := cwd
	if b.config.MapPath != nil {
		local = b.config.MapPath(cwd)
	}
	for _, s := range gatheredSources() {
		if s.Where == inWorkspace {
			g.paths = append(g.paths, filepath.Join(cwd, s.Path))
			g.mapped = append(g.mapped, filepath.Join(local, s.Path))
		}
	}
}

// readWorkspace asks for the workspace's files. Where no answer comes, the last known ones are used.
func (b *Builder) readWorkspace(ctx context.Context, g *gathered, before []File) []File {
	if len(g.paths) == 0 || b.config.Workspace == nil {
		return nil
	}
	if g.untrusted {
		return b.untrustedWorkspace(g)
	}
	var st unix.Stat_t
	if unix.Lstat(g.dir, &st) != nil {
		return nil
	}
	answers, err := b.config.Workspace.ReadFiles(ctx, st.Uid, st.Gid, g.mapped, maxWorkspaceFile, b.wait)
	var sources []oldSource
	for _, s := range gatheredSources() {
		if s.Where == inWorkspace {
			sources = append(sources, s)
		}
	}
	if err != nil || len(answers) != len(sources) {
		if len(before) == 0 {
			answers = make([]WorkspaceFile, len(sources))
			for i := range answers {
				answers[i].Stale = true
			}
		} else {
			files := slices.Clone(before)
			for i := range files {
				files[i].Stale = true
			}
			return files
		}
	}
	var files []File
	for i, a := range answers {
		f := File{At: sources[i].At, ID: sources[i].ID, Path: g.paths[i], Data: a.Data, Stale: a.Stale, Reason: a.Reason}
		switch {
		case f.Reason == "" && !isText(a.Data):
			f.Data, f.Reason = nil, "it is not text"
		case a.Exists || a.Reason != "":
		case a.Stale:
			f.Reason = "the workspace has not answered yet"
		default:
			continue
		}
		files = append(files, f)
	}
	return files
}

// untrustedWorkspace names the workspace's files without asking for them.
func (b *Builder) untrustedWorkspace(g *gathered) (files []File) {
	i := 0
	for _, s := range gatheredSources() {
		if s.Where == inWorkspace {
			files = append(files, File{At: s.At, ID: s.ID, Path: g.paths[i],
				Reason: "others than the session's owner can write cwd, so files outside the space are not read"})
			i++
		}
	}
	return files
}

// isText says whether a file of the workspace may stand in a prompt.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// input puts what was gathered together in the order of the recipe.
func (g *gathered) input(ref ctxabi.Ref, encoding string) Input {
	in := Input{Session: ref.Session, Agent: ref.Agent, Budget: g.tokens, Encoding: encoding}
	for _, s := range gatheredSources() {
		for _, f := range g.read {
			if f.At == s.At {
				in.Files = append(in.Files, f)
			}
		}
		for _, f := range g.guides {
			if f.At == s.At {
				in.Files = append(in.Files, f)
			}
		}
	}
	return in
}
