package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/adapter"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mcp"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// earlierWork and changedNotes begin what a hook says of another session and of a session that is
// taken up again.
const (
	earlierWork  = "\n# Earlier work in "
	changedNotes = "\n# Notes of this session that changed\n"
)

// told is what a conversation that is taken up again has of its memory.
type told struct {
	hooks []string // what hooks said of this session, the oldest first
	all   string   // every text, without line breaks and repeated blanks
}

// toldIn reads what the model of a transcript has before it. ok is false where
// that is not known, or the paragraph about this memory is not part of it.
func toldIn(transcript string, f *adapter.Format, dir string) (t told, ok bool) {
	file, err := os.Open(transcript)
	if err != nil || f == nil {
		return t, false
	}
	defer file.Close()
	texts, err := f.Context(file)
	if err != nil {
		return t, false
	}
	paragraph := mcp.Snippet(dir)
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(oneLine(text.Text) + "\n")
		if text.Hook {
			ok = ok || strings.Contains(text.Text, paragraph)
			own, _, _ := strings.Cut(text.Text, earlierWork)
			t.hooks = append(t.hooks, own)
		}
	}
	t.all = all.String()
	return t, ok
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// section returns what was said last below a title; ok is false where nothing was.
func (t told) section(title string) (text string, ok bool) {
	for i := len(t.hooks) - 1; i >= 0; i-- {
		if _, text, ok := strings.Cut(t.hooks[i], sectionHead(title)); ok {
			return text, true
		}
	}
	return "", false
}

// changed adds a section that was not told like this. Where something was told and there is nothing
// any more, none says so.
func (w *contextWriter) changed(t told, title, text, path string, most int, none string) {
	was, ok := t.section(title)
	if text == "" && ok {
		text = none
	}
	now := contextWriter{left: w.left}
	now.text(title, text, path, most)
	if rest, same := strings.CutPrefix(was, strings.TrimPrefix(now.String(), sectionHead(title))); ok && same && sectionEnds(rest) {
		return
	}
	w.add(now.String())
}

// sectionEnds reports whether what follows a section's text is none of it: a pin may have headings of its own.
func sectionEnds(rest string) bool {
	return rest == "" || slices.ContainsFunc(sectionTitles, func(title string) bool { return strings.HasPrefix(rest, sectionHead(title)) }) ||
		strings.HasPrefix(rest, "\n## "+pinTitle(""))
}

// resumed returns which notes of a session the conversation does not have yet. What was derived
// from the conversation is in it, as long as the session is of this one alone.
func resumed(dir string, t told) string {
	w := contextWriter{left: maxContext}
	shared := os.Getenv(locate.SessionEnv) != ""
	pinned := map[string]bool{}
	for _, name := range pinsOf(dir) {
		pinned[pinTitle(name)] = true
		path := filepath.Join(dir, ctxabi.PinnedDir, name)
		if b, err := os.ReadFile(path); err == nil {
			w.changed(t, pinTitle(name), strings.TrimSpace(string(b)), path, 2*sectionShare, "")
		}
	}
	for _, title := range t.pins() {
		if !pinned[title] {
			w.changed(t, title, "", dir, sectionShare, "It is pinned no longer.")
		}
	}
	for _, n := range []struct{ title, rel, field string }{
		{"Open", ctxabi.TodoFile, ""}, {"Decided", ctxabi.DecisionsFile, "decision"}, {"Known", ctxabi.FactsFile, "text"},
	} {
		path := filepath.Join(dir, n.rel)
		if !shared && mounts.Attr(path, "user.ctx.origin") == ctxabi.OriginDerived {
			continue
		}
		b, err := os.ReadFile(path)
		text := strings.TrimSpace(string(b))
		switch {
		case err != nil:
		case n.field == "":
			w.changed(t, n.title, text, path, sectionShare, "Nothing is open.")
		default:
			w.text(n.title, t.without(rows(text, n.field)), path, sectionShare)
		}
	}
	if w.String() == "" {
		return ""
	}
	return changedNotes + w.String()
}

// pins returns the titles of the pins that hooks told of.
func (t told) pins() (titles []string) {
	for _, text := range t.hooks {
		for _, part := range strings.Split(text, "\n## "+pinTitle(""))[1:] {
			name, _, _ := strings.Cut(part, "\n")
			titles = append(titles, pinTitle(name))
		}
	}
	slices.Sort(titles)
	return slices.Compact(titles)
}

// without drops the rows that the conversation has, with or without their source.
func (t told) without(lines string) string {
	var left []string
	for line := range strings.Lines(lines) {
		said := oneLine(strings.TrimPrefix(line, "- "))
		bare := said
		if i := strings.LastIndex(said, " ("); i > 0 && strings.HasSuffix(said, ")") {
			bare = said[:i]
		}
		if !strings.Contains(t.all, bare) {
			left = append(left, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(left, "\n")
}
