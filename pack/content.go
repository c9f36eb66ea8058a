package pack

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
)

// blank is a block of source k without content.
func (y *layout) blank(k int, id string) block {
	s := &y.recipe.Sources[k]
	if id == "" {
		id = s.Block
	}
	b := block{source: s, at: k, id: id, phase: phase(s.Phase), class: ClassOf(s), path: s.Path}
	if k < len(y.in.Locations) {
		b.path = cmp.Or(y.in.Locations[k], b.path)
	}
	if files := y.files[k]; len(files) == 1 {
		b.path = files[0].Path
	} else if len(files) > 1 {
		b.path = path.Dir(files[0].Path)
	}
	switch {
	case b.path != "":
	case s.Type == recipe.TypeErrors:
		b.path = ctxabi.EventsFile
	case s.Type == recipe.TypeRecall:
		b.path = ctxabi.LineDir
	case s.Type == recipe.TypeChildren:
		b.path = ctxabi.ChildDir
	default:
		b.path = id
	}
	b.kind = kindOf(s, b.path)
	b.label, b.trust = y.authorityOf(&b)
	for _, f := range y.files[k] {
		b.stale = b.stale || f.Stale
	}
	return b
}

// kindOf is what pack.json calls the blocks of a source.
func kindOf(s *recipe.Source, file string) string {
	switch s.Type {
	case recipe.TypeSystemRole:
		return "system"
	case recipe.TypeChildren:
		return "child_result"
	case recipe.TypeFile:
		switch name := path.Base(file); {
		case name == "AGENTS.md" || name == "DELTA.md" || name == "CLAUDE.md":
			return "guide"
		case isSystemPrompt(s):
			return "system"
		}
	}
	return string(s.Type)
}

// authorityOf returns the label of a block from a source of the recipe, and who wrote it. Text with a
// label has the user's role.
func (y *layout) authorityOf(b *block) (ctxabi.Label, string) {
	s, label := b.source, record.LabelOf(b.kind)
	trust := "owner"
	switch s.Type {
	case recipe.TypeComputed, recipe.TypePipeline:
		trust = "generator"
	case recipe.TypeFile:
		label, trust = y.authorityOfPath(s.Path, b.path, s.Origin)
	}
	if s.Role == recipe.UserRole || s.Role == recipe.RoleOfOwner && y.isForeign(b.at) {
		label = ctxabi.QuotedData
	}
	if label != ctxabi.Unlabeled {
		trust = label.Trust()
	}
	return label, trust
}

// isForeign reports whether the file of source k belongs to another user than the session.
func (y *layout) isForeign(k int) bool {
	return slices.ContainsFunc(y.files[k], func(f *blocks.File) bool { return f.Foreign })
}

// authorityOfPath returns the authority of a file at path. file is its name in the recipe.
func (y *layout) authorityOfPath(file, path string, o recipe.Origin) (ctxabi.Label, string) {
	switch {
	case strings.HasPrefix(file, "${CWD}"):
	case ctxabi.OfHistory(path):
		return ctxabi.QuotedData, ctxabi.QuotedData.Trust()
	case strings.HasPrefix(file, "${AGENT_HOME}"), strings.HasPrefix(file, "${SESSION}"):
		return ctxabi.Unlabeled, "owner"
	case strings.HasPrefix(file, "${RECIPE_DIR}"):
		return ctxabi.Unlabeled, y.trustOfOrigin(o)
	}
	return ctxabi.Unlabeled, "workspace"
}

func (y *layout) trustOfOrigin(o recipe.Origin) string {
	for _, f := range y.recipe.Files {
		if f.Path == o.File && f.Package != "" {
			return "package"
		}
	}
	return "owner"
}

// contents returns the blocks of source k, those without content included where a file says why.
// limit is what the block may take; task is what a source that chooses chooses for.
func (y *layout) contents(k int, task string, limit int) (found []block) {
	s := &y.recipe.Sources[k]
	usable := make([]blocks.File, 0, len(y.files[k]))
	for _, f := range y.files[k] {
		if f.Reason != "" {
			b := y.blank(k, f.ID)
			b.path, b.reason = f.Path, f.Reason
			found = append(found, b)
		} else if len(f.Data) > 0 {
			usable = append(usable, *f)
		}
	}
	switch s.Type {
	case recipe.TypePinned:
		for i := range usable {
			f := &usable[i]
			b := y.blank(k, f.ID)
			b.path = f.Path
			b.stale = f.Stale
			found = y.add(found, b, limit, func(func(string) bool) blocks.Selection { return blocks.Selection{Text: string(f.Data)} })
		}
		return found
	case recipe.TypePlan:
		usable = slices.DeleteFunc(append(usable, y.usable(blocks.OfPlan)...), func(f blocks.File) bool { return y.plan == nil })
	case recipe.TypeErrors:
		open, _ := y.openErrors()
		return y.add(found, y.blank(k, ""), limit, func(fits func(string) bool) blocks.Selection {
			return blocks.Selection{Text: blocks.ErrorsText(open, fits)}
		})
	case recipe.TypeChildren:
		children := y.childrenNow()
		return y.add(found, y.blank(k, ""), limit, func(fits func(string) bool) blocks.Selection {
			return blocks.ChildrenText(children, fits)
		})
	}
	if len(usable) == 0 {
		return found
	}
	b := y.blank(k, "")
	if b.path == b.id && len(usable) == 1 {
		b.path = usable[0].Path
	}
	if s.Type.Selected() {
		b.selected = task
	}
	if s.Type.Computed() {
		if l, ok := y.liftedTimes()[k]; ok {
			return y.add(found, b, limit, func(func(string) bool) blocks.Selection { return blocks.Selection{Text: l.text} })
		}
	}
	found = y.add(found, b, limit, func(fits func(string) bool) blocks.Selection {
		return y.choose(s, usable, task, fits)
	})
	if last := len(found) - 1; last >= 0 && found[last].text != "" && len(found[last].shown) == 1 {
		found[last].path = found[last].shown[0]
	}
	return found
}

func (y *layout) usable(at int) []blocks.File {
	files := make([]blocks.File, 0, len(y.files[at]))
	for _, f := range y.files[at] {
		if f.Reason == "" && len(f.Data) > 0 {
			files = append(files, *f)
		}
	}
	return files
}

// choose makes the text of a source from its files.
func (y *layout) choose(s *recipe.Source, files []blocks.File, task string, fits func(string) bool) blocks.Selection {
	switch s.Type {
	case recipe.TypeTools:
		text, err := native.ToolsText(files[0].Data)
		if err != nil {
			return blocks.Selection{Notes: []string{err.Error()}}
		}
		return blocks.Selection{Text: text}
	case recipe.TypeSkills:
		return blocks.SkillsText(files, y.in.Skills, fits)
	case recipe.TypeMemory:
		return blocks.MemoryText(task, files, s.Top, fits, y.memo.Corpora)
	case recipe.TypeKnowledge:
		return blocks.KnowledgeText(task, files, s.Top, fits, y.memo.Corpora)
	case recipe.TypePlaybook:
		return blocks.PlaybookText(task, files, fits, y.memo.Corpora)
	case recipe.TypePlan:
		return blocks.Selection{Text: blocks.PlanText(y.plan)}
	}
	return blocks.Selection{Text: string(files[0].Data)}
}

// systemPrompt is the block of the strategy's system prompt in place of source k.
func (y *layout) systemPrompt(k int) []block {
	text := y.in.shown(y.strategy.SystemPrompt)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	b := y.blank(k, "")
	b.path, b.trust = "strategy "+y.strategy.Name, y.trustOfOrigin(y.strategy.Origin)
	return y.add(nil, b, blocks.NoCap, func(func(string) bool) blocks.Selection { return blocks.Selection{Text: text} })
}

// sectionBlock is the block of a section of the strategy.
func (y *layout) sectionBlock(s recipe.Section, at int) block {
	text, from := y.section(s)
	text = y.in.shown(text)
	b := block{at: at, id: y.strategy.Name + "/" + s.Name, kind: "section", phase: phaseSession, class: whole, path: from}
	b.source = &recipe.Source{Block: b.id, MaxTokens: s.MaxTokens, Phase: recipe.Session, Priority: 100, Type: recipe.TypeFile, Origin: y.strategy.Origin}
	if s.MaxTokens > 0 {
		b.class = explicit
	}
	switch {
	case s.Text != "":
		b.trust = y.trustOfOrigin(y.strategy.Origin)
	case s.Path != "":
		b.label, b.trust = y.authorityOfPath(s.Path, s.Path, y.strategy.Origin)
	default:
		b.label = ctxabi.Notes
		if s.From == "review.diff" {
			b.label = ctxabi.QuotedData
		}
		b.trust = b.label.Trust()
	}
	if place := y.in.Sections[s.Name]; s.Path != "" && text == "" && place != "" {
		b.path = place
	}
	if b.path == "" {
		b.path = "strategy " + y.strategy.Name
	}
	if strings.TrimSpace(text) == "" {
		b.reason = missing
		return b
	}
	return y.add(nil, b, blocks.NoCap, func(func(string) bool) blocks.Selection { return blocks.Selection{Text: text} })[0]
}

// childrenNow are the session's children as the history stands. Those that are folded come last.
func (y *layout) childrenNow() (children []blocks.ChildNow) {
	var folded []blocks.ChildNow
	for i := range y.in.Children {
		c := blocks.ChildNow{ChildResult: y.in.Children[i]}
		if c.Folded = c.Finished && y.shownBefore(c.After); c.Folded {
			folded = append(folded, c)
			continue
		}
		children = append(children, c)
	}
	return append(children, folded...)
}

// shownBefore reports whether what came when the session had so many messages stood in prompts before the last compaction. Two answers
// stand between: the first may have been on its way already, the second was made from a pack that was read behind it.
func (y *layout) shownBefore(messages int) bool {
	answers := 0
	for at := y.clock.Compacted - 1; at > 0 && answers < 2; at-- {
		a := record.AddressOf(y.history, at)
		if a.Event {
			continue
		}
		if a.Line <= messages {
			return false
		}
		if y.history.At(at).Role == ctxabi.Assistant {
			answers++
		}
	}
	return answers == 2
}
