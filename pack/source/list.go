package source

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
)

// sources turns the sources of a recipe into files.
type sources struct {
	g      *Gathered
	h      *home
	rel    string // the session's directory in the home
	x      *session.Session
	recipe *recipe.Recipe
	asks   []outsideFile

	handover     []byte // what the session's parent wrote for it
	handoverPath string // where, below the store
}

// all lists the files of all sources, and what else decides about them.
func (s *sources) all() error {
	s.g.versions = versionsOf(s.x)
	for at := range s.recipe.Sources {
		src := &s.recipe.Sources[at]
		s.g.in.Locations = append(s.g.in.Locations, s.location(cmp.Or(src.Path, blocks.BuiltinPaths[src.Type]), src.Origin))
		if err := s.source(at, src); err != nil {
			return err
		}
	}
	s.file(blocks.OfPlan, "plan", "${SESSION}/"+ctxabi.PlanFile, recipe.Origin{})
	s.file(blocks.OfDiff, "review.diff", "${SESSION}/"+ctxabi.DiffFile, recipe.Origin{})
	if !s.recipe.Has(recipe.TypeTodo) {
		s.file(blocks.OfTodo, "todo", "${SESSION}/"+ctxabi.TodoFile, recipe.Origin{})
	}
	s.sections()
	if src := SummarizerSource(s.recipe); src != nil {
		s.g.trust.check(s.h, s.g.Words, OfSummarizer, src)
	}
	s.unlistedPins()
	eachCondition(s.recipe, func(src *recipe.Source, c *recipe.Condition) {
		if c.When == recipe.FileExists {
			s.exists(c.Path, src.Origin)
		}
	})
	return nil
}

// location is where a path of the recipe leads, as a reader in the session's directory finds it; "" when
// it reads none, or when that needs a workspace and there is none.
func (s *sources) location(where string, o recipe.Origin) string {
	if where == "" {
		return ""
	}
	loc := s.g.Words.locate(where, o)
	if loc.inHome {
		return fromSession(s.rel, loc.rel)
	}
	return loc.path
}

func (s *sources) source(at int, src *recipe.Source) error {
	where := cmp.Or(src.Path, blocks.BuiltinPaths[src.Type])
	switch src.Type {
	case recipe.TypePinned:
		return s.pins(at, src, where)
	case recipe.TypeSkills:
		s.skills(at, src, where)
	case recipe.TypeMemory, recipe.TypeKnowledge, recipe.TypePlaybook:
		s.directory(at, src, where)
	case recipe.TypeComputed, recipe.TypePipeline:
		s.g.trust.check(s.h, s.g.Words, at, src)
	case recipe.TypeFile:
		if c := s.file(at, src.Block, where, src.Origin); c != nil && c.absent {
			s.viewed(at, src, where)
		} else if c != nil && pack.ClassOf(src) == pack.Required {
			return mustHave(fromSession(s.rel, where), c)
		}
	default:
		if where == "" {
			return nil
		}
		c := s.file(at, src.Block, where, src.Origin)
		if src.Type == recipe.TypeHandoff && c != nil && c.absent && len(s.handover) > 0 {
			s.handedOver(at, src)
		}
		if src.Type.Required() && c != nil {
			return mustHave(fromSession(s.rel, where), c)
		}
	}
	return nil
}

// mustHave fails where a required file is there and cannot be given whole.
func mustHave(name string, c *content) error {
	switch {
	case c.big:
		return ctxabi.E("pack", name, ctxabi.ErrOverBudget, "it is %s", c.reason)
	case c.failed:
		return ctxabi.E("pack", name, ctxabi.ErrIO, "it cannot be read: %s", c.reason)
	}
	return nil
}

// file adds the file at a path of the recipe; its content where that lies in the home.
func (s *sources) file(at int, id, text string, o recipe.Origin) *content {
	loc := s.g.Words.locate(text, o)
	if loc.inHome {
		return s.stored(at, id, loc.rel)
	}
	if loc.path != "" {
		s.asks = append(s.asks, outsideFile{path: loc.path, file: len(s.g.in.Files)})
		s.g.in.Files = append(s.g.in.Files, blocks.File{At: at, ID: id, Path: loc.path})
	}
	return nil
}

// viewed returns why a file of the session yields nothing that a reader of the mount may see and that was never written.
func (s *sources) viewed(at int, src *recipe.Source, where string) {
	name := s.location(where, src.Origin)
	if ctxabi.IsView(name) || session.IsNote(name) {
		s.g.in.Files = append(s.g.in.Files, blocks.File{At: at, ID: src.Block, Path: name, Reason: reasonView})
	}
}

// stored adds a file of the home, if it is there. Of a note that ctxfs derives it adds what the agent wrote beside that.
func (s *sources) stored(at int, id, rel string) *content {
	c := s.h.file(rel, maxFile).content
	name, life := fromSession(s.rel, rel), ""
	if name == ctxabi.SummaryFile {
		if c, delivered := s.summary(at, id); delivered {
			return c
		}
	}
	if session.IsNote(name) {
		life = ctxabi.OriginAgent
		if c.absent {
			c, life = s.h.internal(path.Join(s.rel, ctxabi.OwnNote(name)), maxFile).content, ctxabi.OriginMixed
			if c.absent { // the note may have taken its place between the two looks
				c, life = s.h.recheck(rel, maxFile).content, ctxabi.OriginAgent
			}
			if c.absent {
				return c
			}
		}
	}
	if x := s.sibling(rel); x != nil && c.absent {
		if other, delivered := s.delivered(x, blocks.File{At: at, ID: id, Path: name}); delivered {
			return other
		}
	}
	if !c.absent {
		s.g.in.Files = append(s.g.in.Files, blocks.File{At: at, ID: id, Path: name, Data: c.data, Reason: c.reason, Life: life, Sum: &c.sum})
	}
	return c
}

// handedOver adds what the parent of the session wrote for it, where nobody wrote a handoff in the session itself.
func (s *sources) handedOver(at int, src *recipe.Source) {
	_, file, _ := strings.Cut(s.handoverPath, "/"+ctxabi.AgentDir+"/")
	s.g.in.Files = append(s.g.in.Files, blocks.File{At: at, ID: src.Block, Path: path.Join("../../..", file), Data: s.handover})
}

// folder finds the directory of a source; ok is false when there is none to look into.
func (s *sources) folder(at int, src *recipe.Source, where string) (rel string, ok bool) {
	loc := s.g.Words.locate(where, src.Origin)
	reason := ""
	switch {
	case loc.inHome:
		rel = loc.rel
		if reason = s.h.dir(rel).reason; reason == "" {
			return rel, true
		}
	case loc.path != "":
		reason = "only a directory of the agent's home can be listed; name the files"
	default:
		return "", false
	}
	s.g.in.Files = append(s.g.in.Files, blocks.File{At: at, ID: src.Block, Path: cmp.Or(loc.path, fromSession(s.rel, rel)), Reason: reason})
	return "", false
}

func (s *sources) pins(at int, src *recipe.Source, where string) error {
	rel, ok := s.folder(at, src, where)
	if !ok {
		return nil
	}
	list := s.h.list(rel)
	for _, name := range list.names {
		if !ctxabi.IsPin(name) || list.subs[name] {
			continue
		}
		if err := mustHave(fromSession(s.rel, path.Join(rel, name)), s.stored(at, src.Block+"/"+name, path.Join(rel, name))); err != nil {
			return err
		}
	}
	return nil
}

// unlistedPins notes that there are pins which the recipe does not use. Who pins something means it.
func (s *sources) unlistedPins() {
	if slices.ContainsFunc(s.recipe.Sources, func(src recipe.Source) bool {
		return src.Type == recipe.TypePinned || strings.Contains(src.Path, ctxabi.PinnedDir)
	}) {
		return
	}
	rel := path.Join(s.rel, ctxabi.PinnedDir)
	if s.h.dir(rel).reason != "" {
		return
	}
	list := s.h.list(rel)
	for _, name := range list.names {
		if ctxabi.IsPin(name) && !list.subs[name] {
			s.g.in.Notes = append(s.g.in.Notes, fmt.Sprintf("the pins in %s are in no pack: the recipe %s has no source of type %s", ctxabi.PinnedDir, s.recipe.Name, recipe.TypePinned))
			return
		}
	}
}

// skills are the files skills/<name>.md and skills/<name>/SKILL.md.
func (s *sources) skills(at int, src *recipe.Source, where string) {
	rel, ok := s.folder(at, src, where)
	if !ok {
		return
	}
	list := s.h.list(rel)
	for i, name := range list.names {
		if i == maxDirFiles {
			return
		}
		file := path.Join(rel, name)
		short, isText := strings.CutSuffix(name, ".md")
		switch {
		case list.subs[name]:
			s.stored(at, src.Block+"/"+name, path.Join(file, "SKILL.md"))
		case isText:
			s.stored(at, src.Block+"/"+short, file)
		}
	}
}

// directory adds all text files of a directory and those below it, as many as are looked at.
func (s *sources) directory(at int, src *recipe.Source, where string) {
	rel, ok := s.folder(at, src, where)
	if !ok {
		return
	}
	names, more := s.h.walk(rel)
	size, others, first := 0, 0, ""
	for i, name := range names {
		c := s.h.file(name, maxFile).content
		if c.reason == reasonNoText {
			if others++; first == "" {
				first = strings.TrimPrefix(name, rel+"/")
			}
			continue
		}
		if size += len(c.data); size > maxDirBytes {
			names, more = names[:i], true
			break
		}
		s.stored(at, src.Block+"/"+strings.TrimPrefix(name, rel+"/"), name)
	}
	left := func(format string, args ...any) {
		s.g.in.Files = append(s.g.in.Files, blocks.File{At: at, ID: src.Block, Path: fromSession(s.rel, rel), Reason: fmt.Sprintf(format, args...)})
	}
	if others > 0 {
		left("%d of its files are not text (%s)", others, first)
	}
	if more {
		left("only its first %d files are looked at: %d files or %d MiB are the most", len(names), maxDirFiles, maxDirBytes>>20)
	}
}

// sections adds the files of the strategies' sections that may be used.
func (s *sources) sections() {
	r := s.recipe
	for i := range r.Strategies {
		st := &r.Strategies[i]
		asked := cmp.Or(r.Strategy, s.g.Ref.Agent)
		if st.Name != asked && st.Name != "general" {
			continue
		}
		for _, sec := range st.Sections {
			if sec.Path != "" {
				if s.g.in.Sections == nil {
					s.g.in.Sections = map[string]string{}
				}
				s.g.in.Sections[sec.Name] = s.location(sec.Path, st.Origin)
				s.file(blocks.OfSection, sec.Name, sec.Path, st.Origin)
			}
		}
	}
}

func (s *sources) exists(text string, o recipe.Origin) {
	switch loc := s.g.Words.locate(text, o); {
	case loc.inHome:
		s.g.in.Exists[text] = within(loc.rel) && s.h.sign(loc.rel).exists()
	case loc.path != "":
		s.asks = append(s.asks, outsideFile{path: loc.path, file: -1, exists: text})
	default:
		s.g.in.Exists[text] = false
	}
}
