package blocks

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// SkillsText shows the skills that are active, in the order of their paths: those that active (of meta.json)
// names and those whose front matter says active: true or always: true. files are all of skills/. A skill is a file SKILL.md,
// named after its directory, or a file *.md or *.txt directly in skills/, named after itself; the name in its front
// matter counts, too. Names that no skill has are noted.
func SkillsText(files []File, active []string, fits func(string) bool) Selection {
	var shown []snippet
	known := map[string]bool{}
	for _, i := range usable(files) {
		name := skillName(files[i].Path)
		if name == "" {
			continue
		}
		matter, _ := splitFrontMatter(string(files[i].Data))
		names := []string{name, path.Base(name), matter.text("name")}
		on := matter.flag("active") || matter.flag("always")
		for _, n := range names {
			known[n] = true
			on = on || n != "" && slices.Contains(active, n)
		}
		if on {
			s := wholeFile(files, i)
			s.about = matter.text("description")
			if strings.TrimSpace(s.text) != "" {
				shown = append(shown, s)
			}
		}
	}
	sel := showSnippets(shown, fits)
	for _, n := range slices.Compact(slices.Sorted(slices.Values(active))) {
		if !known[n] || n == "" {
			sel.Notes = append(sel.Notes, fmt.Sprintf("meta.json names the skill %.80q, which skills/ does not hold", n))
		}
	}
	return sel
}

// skillName returns the name of the skill that the file at p is; "" when it is none.
func skillName(p string) string {
	_, rest, ok := strings.Cut(p, "skills/")
	if !ok {
		rest = p
	}
	dir, base := path.Split(rest)
	switch {
	case dir != "" && strings.EqualFold(base, "SKILL.md"):
		return strings.TrimSuffix(dir, "/")
	case dir == "" && (path.Ext(base) == ".md" || path.Ext(base) == ".txt"):
		return strings.TrimSuffix(base, path.Ext(base))
	}
	return ""
}
