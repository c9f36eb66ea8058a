package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/agents/brief"
	"github.com/ctxfs/ctxfs/agents/mcp"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// earlierWork and changedNotes begin what a hook says of other sessions and of a session that is
// taken up again.
const (
	earlierWork  = "\n# Earlier work in "
	changedNotes = "\n# Notes of this session that changed\n"
)

// told is what a conversation that is taken up again has of its memory.
type told struct {
	hooks []string // what hooks said of this session, the oldest first
	all   string   // every text, without line breaks and repeated blanks
	here  bool     // the paragraph about this memory is part of it
	late  bool     // it could not be read in time, and nothing is known
}

// told returns the memory texts that a resumed conversation already contains. It reads the
// transcript once and spends at most half of the time until the deadline of ctx, which leaves the
// rest for the answer.
func (h *input) told(ctx context.Context, dir string) told {
	if h.Event != beforeAgent && (h.Source != "resume" || h.program == gemini) {
		return told{}
	}
	if h.has == nil {
		if end, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
			defer cancel()
		}
		t := toldIn(ctx, h, dir)
		h.has = &t
	}
	return *h.has
}

// toldIn reads the memory texts in the model context of a transcript. It returns the zero value if
// the context is unknown.
func toldIn(ctx context.Context, h *input, dir string) (t told) {
	texts, err := contextIn(ctx, h.Transcript, h.program)
	if err != nil {
		return told{late: isOver(err)}
	}
	paragraph := mcp.Snippet(dir)
	var all strings.Builder
	for _, text := range texts {
		if h.program == gemini {
			text.Text = angles.Replace(text.Text)
		}
		all.WriteString(oneLine(text.Text) + "\n")
		_, said, marked := strings.Cut(text.Text, ctxabi.ToldBegins)
		if !marked && text.Hook { // as hooks said it before there were marks
			said = text.Text
		}
		if said == "" {
			continue
		}
		said, _, _ = strings.Cut(said, ctxabi.ToldEnds)
		t.here = t.here || strings.Contains(said, paragraph)
		own, _, _ := strings.Cut(said, earlierWork)
		t.hooks = append(t.hooks, own)
	}
	t.all = all.String()
	return t
}

// bounded is a file that fails to read after ctx ends.
type bounded struct {
	*os.File
	ctx context.Context
}

func (b bounded) ReadAt(p []byte, off int64) (int, error) {
	if b.ctx.Err() != nil {
		return 0, b.ctx.Err()
	}
	return b.File.ReadAt(p, off)
}

// contextIn returns the texts in the model context of a transcript. It reads backward from the end
// to the last compaction. It returns the error of ctx if ctx ends first, and the errors of opening
// and reading the file.
func contextIn(ctx context.Context, name, program string) (texts []adapter.Told, err error) {
	opened, err := inputs.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if texts, err = contextOf(bounded{opened, ctx}, program); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return texts, nil
}

// contextOf is contextIn for an open transcript. It returns an error if reading fails.
func contextOf(file adapter.File, program string) ([]adapter.Told, error) {
	if f, ok := formats.Lookup(program); ok && f.Context != nil {
		return f.Context(file)
	}
	if program == gemini {
		return geminiContext(file)
	}
	return nil, fmt.Errorf("it is not known what the model of %s has before it", program)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// section returns what was said last below a title; ok is false where nothing was.
func (t told) section(title string) (text string, ok bool) {
	for i := len(t.hooks) - 1; i >= 0; i-- {
		if _, text, ok := strings.Cut(t.hooks[i], brief.Head(title)); ok {
			return text, true
		}
	}
	return "", false
}

// changed adds a section that was not told like this. Where something was told and there is nothing
// any more, none says so.
func changed(w *brief.Writer, t told, title, text, path string, most int, none string) {
	was, ok := t.section(title)
	if text == "" && ok {
		text = none
	}
	now := brief.NewWriter(context.Background(), w.Left())
	now.Section(title, text, path, most)
	if rest, same := strings.CutPrefix(was, strings.TrimPrefix(now.String(), brief.Head(title))); ok && same && sectionEnds(rest) {
		return
	}
	w.Add(now.String())
}

// sectionEnds reports whether what follows a section's text is none of it: a pin may have headings of its own.
func sectionEnds(rest string) bool {
	return rest == "" || slices.ContainsFunc(sectionTitles, func(title string) bool { return strings.HasPrefix(rest, brief.Head(title)) }) ||
		strings.HasPrefix(rest, "\n## "+pinTitle(""))
}

// resumed writes which notes of a session, and of its project, the conversation does not have yet. What was derived
// from the conversation is in it, as long as the session is of this one alone.
func resumed(w *brief.Writer, dir string, t told) {
	own := brief.NewWriter(context.Background(), w.Left()-len(changedNotes))
	shared := os.Getenv(locate.SessionEnv) != ""
	pinned := map[string]bool{}
	for _, name := range pinsOf(dir) {
		pinned[pinTitle(name)] = true
		path := filepath.Join(dir, ctxabi.PinnedDir, name)
		changed(own, t, pinTitle(name), w.Read(path), path, 2*brief.Share, "")
	}
	for _, title := range t.pins() {
		if !pinned[title] {
			changed(own, t, title, "", dir, brief.Share, "It is pinned no longer.")
		}
	}
	for _, n := range []struct{ title, rel, field string }{
		{"Open", ctxabi.TodoFile, ""}, {"Decided", ctxabi.DecisionsFile, "decision"}, {"Known", ctxabi.FactsFile, "text"},
	} {
		path := filepath.Join(dir, n.rel)
		if !shared && mounts.Attr(path, "user.ctx.origin") == ctxabi.OriginDerived {
			continue
		}
		switch text := w.Read(path); n.field {
		case "":
			changed(own, t, n.title, text, path, brief.Share, "Nothing is open.")
		default:
			own.Section(n.title, t.without(rows(text, n.field)), path, brief.Share)
		}
	}
	if own.String() != "" {
		w.Add(changedNotes + own.String())
	}
	t.project(w, dir)
}

// project writes what sessions of the same project, and people, have added to its memory.
func (t told) project(w *brief.Writer, dir string) {
	project := brief.ProjectOf(dir)
	begun := false
	for _, p := range project.Read(w, ownName(dir)) {
		if p.Title != brief.NotesTitle {
			p.Text = t.newer(p)
		}
		now := brief.NewWriter(context.Background(), w.Left())
		now.Section(p.Title, p.Text, p.Path, shareOf(p.Title))
		if p.Text == "" || strings.Contains(t.all, oneLine(now.String())) {
			continue
		}
		if !begun {
			w.Add(fmt.Sprintf(earlierWork+"%s that is new\n", w.Read(filepath.Join(dir, ctxabi.CwdFile))))
			begun = true
		}
		w.Add(now.String())
	}
}

// newer returns the entries of a section of a project's memory, of which the newest is the first, that are newer than what the conversation has.
// An answer of another session is none that this one waits for.
func (t told) newer(p brief.Part) string {
	if p.Title == "Last answer" {
		return ""
	}
	var left []string
	for _, entry := range p.Entries() {
		if strings.Contains(t.all, bare(entry)) {
			break
		}
		left = append(left, entry)
	}
	return strings.TrimSpace(strings.Join(left, "\n"))
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
		if !strings.Contains(t.all, bare(line)) {
			left = append(left, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(left, "\n")
}

// bare returns what an entry says in one line, without its source.
func bare(entry string) string {
	said := oneLine(strings.TrimPrefix(entry, "- "))
	if i := strings.LastIndex(said, " ("); i > 0 && strings.HasSuffix(said, ")") {
		return said[:i]
	}
	return said
}

// sectionTitles lists the titles of all sections except pins.
var sectionTitles = []string{"Open", "Decided", "Known", "So far", "The last answer", omittedTitle}

func pinTitle(name string) string { return "Pinned: " + name }

// pinsOf returns the names of a session's pins.
func pinsOf(dir string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, ctxabi.PinnedDir))
	for _, e := range entries {
		if e.Type().IsRegular() && ctxabi.IsPin(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// rows returns the rows of a note in lines, the newest rows where there are too many.
func rows(text, field string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		var row map[string]any
		if json.Unmarshal([]byte(line), &row) != nil {
			continue
		}
		if said, ok := row[field].(string); ok {
			if source, ok := row["source"].(string); ok {
				said += " (" + source + ")"
			}
			lines = append(lines, "- "+said)
		}
	}
	for n := 0; len(lines) > 1; lines = lines[1:] {
		if n = utf8.RuneCountInString(strings.Join(lines, "\n")); n <= brief.Share {
			break
		}
	}
	return strings.Join(lines, "\n")
}

// ownName is what the memory of a project calls a session: AGENT/SESSION.
func ownName(dir string) string {
	return filepath.Base(filepath.Dir(filepath.Dir(dir))) + "/" + filepath.Base(dir)
}

// shareOf is how many characters a section of a project's memory takes at most: what people wrote gets twice that of others.
func shareOf(title string) int {
	if title == brief.NotesTitle || title == "Pinned" {
		return 2 * brief.Share
	}
	return brief.Share
}
