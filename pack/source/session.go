package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
)

// Gathered has the inputs of a session's pack, without its records and the outputs of generators.
type Gathered struct {
	Length int64 // of messages.jsonl
	Events int64 // of events.jsonl
	Ref    ctxabi.Ref
	stored map[string]*stocked // files of the home, by path
	Chosen *Chosen
	Words  *Variables
	trust  *trust
	Owner  Sign // of the session's directory

	in       pack.Input // without records and outputs
	versions versions
	outside  map[string]WorkspaceFile // the last answers, by path as this machine calls it
	project  string                   // content of context/project
	parent   string                   // parent of the session, from meta.json
	children []session.Child          // children that in shows
	Refused  map[int]string           // why the commands of a source must not run, by its index
}

// same reports whether g gives the same pack as last, as far as its files decide.
func (g *Gathered) same(last *Gathered) bool {
	if last.Chosen == nil || g.Chosen != last.Chosen || g.Words != last.Words || g.Ref != last.Ref || g.Length != last.Length ||
		g.Events != last.Events || g.versions != last.versions || g.project != last.project {
		return false
	}
	a, b := g.in, last.in
	a.Files, b.Files = nil, nil
	return slices.EqualFunc(g.in.Files, last.in.Files, equalFiles) && reflect.DeepEqual(a, b) &&
		maps.Equal(g.Refused, last.Refused) && maps.Equal(g.trust.rows, last.trust.rows)
}

func equalFiles(a, b blocks.File) bool {
	return a.At == b.At && a.ID == b.ID && a.Path == b.Path && a.Stale == b.Stale && a.Reason == b.Reason && a.Pending == b.Pending && a.Note == b.Note && a.Life == b.Life &&
		(a.Sum != nil && a.Sum == b.Sum || bytes.Equal(a.Data, b.Data))
}

func (g *Gathered) Bytes() int {
	n := 0
	for name, f := range g.stored {
		n += 160 + len(name) + len(f.data)
	}
	for _, a := range g.outside {
		n += 128 + len(a.Path) + len(a.Data)
	}
	n += 200 * len(g.in.Files)
	for i := range g.in.Children {
		n += 256 + len(g.in.Children[i].Text)
	}
	for i := range g.Chosen.Recipe.Files {
		n += 4096 + len(g.Chosen.Recipe.Files[i].Path) // what was parsed of it, about
	}
	return n
}

// Budget returns the budget of the pack in tokens; 0: no limit.
func (g *Gathered) Budget() int { return g.in.Budget }

// Settled reports whether all files are old enough for their signs to prove that they have not
// changed.
func (g *Gathered) Settled() bool {
	for _, f := range g.stored {
		if f.sign.exists() && f.sign.ino == 0 {
			return false
		}
	}
	return true
}

// Gather collects everything that the session's pack is made from. It does not open files that have
// not changed since last.
// It returns ctxabi.ErrIO when the agent's home cannot be read, ctxabi.ErrNoFiles or
// ctxabi.ErrNoMemory when there are no descriptors or no memory for it, and the error of ctx when ctx
// ends.
func (gr *Gatherer) Gather(ctx context.Context, x *session.Session, own *Logs, last *Gathered) (*Gathered, error) {
	for begin := time.Now(); time.Since(begin) < mostMoving; {
		g, moved, err := gr.gatherOnce(ctx, x, own, last)
		switch {
		case !moved:
			return g, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
	return nil, ctxabi.E("pack", "", ctxabi.ErrIO, "the session is renamed too often")
}

// mostMoving is how long a session may be moved again and again while it is looked at.
const mostMoving = 30 * time.Second

// gatherOnce is gather, unless the session was moved meanwhile.
func (gr *Gatherer) gatherOnce(ctx context.Context, x *session.Session, own *Logs, last *Gathered) (_ *Gathered, moved bool, err error) {
	if last == nil {
		last = &Gathered{}
	}
	h, rel, err := gr.openHome(x, last.stored)
	if err != nil {
		return nil, false, err
	}
	defer h.close()
	defer func() { moved = h.moved(x) }()
	g := &Gathered{Length: x.Messages().Len(), Events: x.Events().Len(), Ref: h.ref, stored: h.files}
	gr.setUp(x, g, h, rel, last)
	if err := g.lookAtChildren(x, last, own.mask); err != nil {
		return nil, false, err
	}
	s := &sources{g: g, h: h, rel: rel, x: x, recipe: g.Chosen.Recipe}
	s.handover, s.handoverPath = x.HandedOver(g.parent)
	if err := s.all(); err != nil {
		return nil, false, err
	}
	if h.short != nil {
		return nil, false, h.short
	}
	if h.starved != nil {
		return nil, false, h.starved
	}
	gr.readOutside(ctx, g, s, last.outside)
	g.Refused = map[int]string{}
	for at := range s.recipe.Sources {
		if src := &s.recipe.Sources[at]; src.Type.Computed() {
			if reason := g.trust.generator(at, src); reason != "" {
				g.Refused[at] = reason
			}
		}
	}
	if src := SummarizerSource(s.recipe); src != nil {
		if reason := g.trust.generator(OfSummarizer, src); reason != "" {
			g.Refused[OfSummarizer] = reason
		}
	}
	if g.same(last) {
		last.stored = g.stored // files that had just changed are old enough now
		last.trust, last.outside, last.children = g.trust, g.outside, g.children
		return last, false, nil
	}
	return g, false, nil
}

// setUp finds the recipe and the settings.
func (gr *Gatherer) setUp(x *session.Session, g *Gathered, h *home, rel string, last *Gathered) {
	control := func(name string) *stocked { return h.file(path.Join(rel, name), ctxabi.MaxControl) }
	g.Owner = h.dir(rel).sign
	env, cwd := control(ctxabi.EnvFile), control(ctxabi.CwdFile)
	g.Chosen = choose(x, h, rel, env.content, last.Chosen)
	g.in.Session, g.in.Agent, g.in.Recipe, g.in.Exists = g.Ref.Session, g.Ref.Agent, g.Chosen.Recipe, map[string]bool{}
	g.in.Notes = slices.Clone(g.Chosen.notes)
	dir := strings.TrimRight(string(cwd.data), "\r\n")
	if !path.IsAbs(dir) {
		dir = ""
	}
	at := path.Join(cmp.Or(gr.Config.Mountpoint, x.Store().Dir()), g.Ref.AgentHome())
	if w := last.Words; w != nil && g.Chosen == last.Chosen && w.Cwd == dir && w.Home == at && w.Rel == rel {
		g.Words = w
	} else {
		g.Words = newLexicon(g.Chosen.Recipe, env.data, dir, at, rel)
	}
	g.trust = gr.newTrust(x, g, rel, cwd, env)
	gr.settings(g, control)
}

// settings reads the small files that say how a pack is made.
func (gr *Gatherer) settings(g *Gathered, control func(string) *stocked) {
	r := g.Chosen.Recipe
	g.in.Budget = gr.Fallback(r)
	if n, ok, err := ctxabi.ParseBudget(control(ctxabi.BudgetFile).data); ok && err == nil {
		g.in.Budget = n
	}
	if gr.Config.Instead > 0 {
		g.in.Budget = gr.Config.Instead
	}
	var meta struct {
		Model    any `json:"model"`
		Encoding any `json:"encoding"`
		Skills   any `json:"skills"`
		Parent   any `json:"parent"`
	}
	json.Unmarshal(control(ctxabi.MetaFile).data, &meta) // what it does not hold, or not so, it does not say
	if list, ok := meta.Skills.([]any); ok {
		for _, v := range list {
			if name, ok := v.(string); ok {
				g.in.Skills = append(g.in.Skills, name)
			}
		}
	}
	g.parent, _ = meta.Parent.(string)
	g.project = string(control(ctxabi.ProjectFile).data)
	g.in.Encoding = gr.Config.Encoding
	for _, say := range []struct {
		who  string
		name any
	}{{"the recipe", r.Encoding}, {"the recipe", r.Model}, {ctxabi.MetaFile, meta.Encoding}, {ctxabi.MetaFile, meta.Model}} {
		name, _ := say.name.(string)
		if name == "" {
			continue
		}
		if c, err := tokens.For(name); err == nil {
			g.in.Encoding = c.Encoding()
		} else {
			g.in.Encoding = tokens.DefaultEncoding
			g.in.Notes = append(g.in.Notes, fmt.Sprintf("%s names %q, which is neither a known encoding nor a known model: tokens are counted with %s", say.who, name, tokens.DefaultEncoding))
		}
		break
	}
	if blocks.UsesState(r) {
		if g.in.State = strings.TrimSpace(string(control(ctxabi.StateFile).data)); g.in.State == "" {
			g.in.State = "idle"
		}
	}
}

// Fallback is the budget of a session that has none of its own.
func (gr *Gatherer) Fallback(r *recipe.Recipe) int {
	if r.TotalMaxTokens >= 0 {
		return r.TotalMaxTokens
	}
	return gr.Config.Budget
}

// Required gathers only what stands verbatim in the session's pack.
// It returns errors as [Gatherer.Gather] does.
func (gr *Gatherer) Required(x *session.Session) (*Gathered, error) {
	h, rel, err := gr.openHome(x, nil)
	if err != nil {
		return nil, err
	}
	defer h.close()
	g := &Gathered{Ref: h.ref, stored: h.files}
	gr.setUp(x, g, h, rel, &Gathered{})
	s := &sources{g: g, h: h, rel: rel, x: x, recipe: g.Chosen.Recipe}
	for at := range s.recipe.Sources {
		if src := &s.recipe.Sources[at]; pack.ClassOf(src) == pack.Required {
			if err := s.source(at, src); err != nil {
				return nil, err
			}
		}
	}
	return g, h.short
}

// eachCondition calls do for every elementary condition of a recipe.
func eachCondition(r *recipe.Recipe, do func(s *recipe.Source, c *recipe.Condition)) {
	var visit func(s *recipe.Source, c *recipe.Condition)
	visit = func(s *recipe.Source, c *recipe.Condition) {
		if c == nil {
			return
		}
		if c.When != "" {
			do(s, c)
		}
		for i := range c.All {
			visit(s, &c.All[i])
		}
		for i := range c.Any {
			visit(s, &c.Any[i])
		}
		visit(s, c.Not)
	}
	for i := range r.Sources {
		visit(&r.Sources[i], r.Sources[i].Condition)
	}
}

// isText reports whether a file may stand in a prompt.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// Input returns the inputs of a pack without its records and the outputs of generators.
func (g *Gathered) Input() pack.Input {
	in := g.in
	in.Files = slices.Clone(in.Files)
	return in
}
