package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ctxfs/ctxfs/agents/brief"
	"github.com/ctxfs/ctxfs/agents/mcp"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/jobs"
)

// maxContext is how many characters a hook puts into the context of Claude
// Code: above 10,000 it would show a preview and the name of a file.
const maxContext = 9_500

// contextFor returns what an agent needs to know when it begins, or begins anew: where its memory is, and what earlier work left, with a
// line for each import that is not done. Of a session that is taken up again it is what the conversation does not have yet,
// which may be nothing, or all where the conversation cannot be read in time. What cannot be read before ctx ends is named instead.
func contextFor(ctx context.Context, dir string, h *input, undone []jobs.Job) string {
	w := brief.NewWriter(ctx, maxContext-len(ctxabi.Told("")))
	switch t := h.told(ctx, dir); {
	case t.here:
		resumed(w, dir, t)
	case t.late && h.Event == beforeAgent: // it would be said again in front of each turn
	default:
		whole(w, dir, h)
	}
	for _, j := range undone {
		w.Add(fmt.Sprintf("\nNot all that was said before is here yet: the import of %s goes on.\n", j.Transcript))
	}
	for _, name := range w.Late() {
		w.Add(fmt.Sprintf("\nIt took too long to read %s; read it yourself.\n", name))
	}
	if w.String() == "" {
		return ""
	}
	return ctxabi.Told(w.String())
}

// whole writes all that there is to say.
func whole(w *brief.Writer, dir string, h *input) {
	if h.program == gemini {
		w.Add(anglesSaid)
	}
	w.Add(mcp.Snippet(dir) + "Hooks record this conversation there: do not append its messages yourself.\n")
	if empty(filepath.Join(dir, ctxabi.MessagesFile)) {
		pins(w, dir)
	} else if v, ok := h.summary(dir); ok {
		kept := brief.NewWriter(context.Background(), w.Left()-len(keptNotes))
		pins(kept, dir)
		section(kept, "Open", dir, ctxabi.TodoFile, "")
		omissions(w, kept, dir, v)
		if kept.String() != "" {
			w.Add(keptNotes + kept.String())
		}
	} else {
		w.Add(keptNotes)
		keeps(w, dir)
	}
	project := brief.ProjectOf(dir)
	if parts := project.Read(w, ownName(dir)); len(parts) > 0 {
		w.Add(fmt.Sprintf(earlierWork+"%s\n%s\n", h.Cwd, project.Sources()))
		for _, p := range parts {
			w.Section(p.Title, p.Text, p.Path, shareOf(p.Title))
		}
	}
}

const keptNotes = "\n# What this session keeps\n"

// keeps writes the notes of a session.
func keeps(w *brief.Writer, dir string) {
	pins(w, dir)
	section(w, "Open", dir, ctxabi.TodoFile, "")
	section(w, "Decided", dir, ctxabi.DecisionsFile, "decision")
	section(w, "Known", dir, ctxabi.FactsFile, "text")
	section(w, "So far", dir, ctxabi.SummaryFile, "")
	section(w, "The last answer", dir, ctxabi.LatestFile, "")
}

// section adds a file below a heading; of a JSONL file the field of each row, with its source.
func section(w *brief.Writer, title, dir, rel, field string) {
	name := filepath.Join(dir, rel)
	text := w.Read(name)
	if field != "" {
		text = rows(text, field)
	}
	w.Section(title, text, name, brief.Share)
}

// pins adds what stands in every prompt, word for word.
func pins(w *brief.Writer, dir string) {
	for _, name := range pinsOf(dir) {
		path := filepath.Join(dir, ctxabi.PinnedDir, name)
		w.Section(pinTitle(name), w.Read(path), path, 2*brief.Share)
	}
}

func empty(name string) bool {
	fi, err := os.Stat(name)
	return err != nil || fi.Size() == 0
}
