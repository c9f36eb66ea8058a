package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/mcp"
)

// maxContext is how many characters a hook puts into the context of Claude
// Code: above 10,000 it would show a preview and the name of a file.
const maxContext = 9_500

// contextFor returns what an agent needs to know when it begins, or begins anew:
// where its memory is, and what earlier work left. Of a session that is taken up
// again it is what the conversation does not have yet, which may be nothing.
func contextFor(dir string, h *input) string {
	if h.Source == "resume" {
		if t, ok := toldIn(h.Transcript, h.format, dir); ok {
			return resumed(dir, t)
		}
	}
	w := contextWriter{left: maxContext}
	w.add(mcp.Snippet(dir) + "Hooks record this conversation there: do not append its messages yourself.\n")
	from := dir
	if h.Source != "compact" && h.Source != "resume" && empty(filepath.Join(dir, ctxabi.MessagesFile)) {
		from = lastSession(dir, h.Cwd)
	}
	if from == "" || empty(filepath.Join(from, ctxabi.MessagesFile)) && from == dir {
		if from == dir {
			w.pins(dir)
		}
		return w.String()
	}
	if from == dir {
		w.add("\n# What this session keeps\n")
	} else {
		w.add(fmt.Sprintf(earlierWork+"%s\nOf the session %s; everything that was said is in its messages.jsonl.\n", h.Cwd, from))
	}
	w.pins(from)
	w.section("Open", from, ctxabi.TodoFile, "")
	w.section("Decided", from, ctxabi.DecisionsFile, "decision")
	w.section("Known", from, ctxabi.FactsFile, "text")
	w.section("So far", from, ctxabi.SummaryFile, "")
	w.section("The last answer", from, ctxabi.LatestFile, "")
	return w.String()
}

// contextWriter collects text up to a number of characters.
type contextWriter struct {
	b    strings.Builder
	left int
}

func (w *contextWriter) String() string { return w.b.String() }

func (w *contextWriter) add(s string) {
	if n := utf8.RuneCountInString(s); n <= w.left {
		w.b.WriteString(s)
		w.left -= n
	}
}

// sectionShare is how many characters a section may take at most: pins get twice that.
const sectionShare = 1_500

// section adds a file below a heading; of a JSONL file the field of each row, with its source.
func (w *contextWriter) section(title, dir, rel, field string) {
	b, err := os.ReadFile(filepath.Join(dir, rel))
	text := strings.TrimSpace(string(b))
	if err != nil || text == "" {
		return
	}
	if field != "" {
		text = rows(text, field)
	}
	w.text(title, text, filepath.Join(dir, rel), sectionShare)
}

// sectionTitles are those of all sections but pins.
var sectionTitles = []string{"Open", "Decided", "Known", "So far", "The last answer"}

func sectionHead(title string) string { return "\n## " + title + "\n" }

// text adds a text that is not empty, cut at the end of a line, with the path of the rest.
func (w *contextWriter) text(title, text, path string, most int) {
	if text == "" {
		return
	}
	head, foot := sectionHead(title), "\n"
	most = min(most, w.left-len(head)-len(foot)-len(path)-40)
	if most < 80 {
		return
	}
	if utf8.RuneCountInString(text) > most {
		short := string([]rune(text)[:most])
		if i := strings.LastIndexByte(short, '\n'); i > len(short)/2 {
			short = short[:i]
		}
		text = short + "\n… the rest: " + path
	}
	w.add(head + text + foot)
}

// pins adds what stands in every prompt, word for word.
func (w *contextWriter) pins(dir string) {
	for _, name := range pinsOf(dir) {
		path := filepath.Join(dir, ctxabi.PinnedDir, name)
		if b, err := os.ReadFile(path); err == nil {
			w.text(pinTitle(name), strings.TrimSpace(string(b)), path, 2*sectionShare)
		}
	}
}

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
		if n = utf8.RuneCountInString(strings.Join(lines, "\n")); n <= sectionShare {
			break
		}
	}
	return strings.Join(lines, "\n")
}

func empty(name string) bool {
	fi, err := os.Stat(name)
	return err != nil || fi.Size() == 0
}

// maxLooked bounds how many sessions are asked for their directory.
const maxLooked = 200

// lastSession finds the session of the same agent that was worked in last in a directory; "" where
// there is none.
func lastSession(dir, cwd string) string {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || cwd == "" {
		return ""
	}
	type candidate struct {
		dir string
		at  time.Time
	}
	var found []candidate
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(dir), e.Name())
		if fi, err := os.Stat(filepath.Join(other, ctxabi.MessagesFile)); err == nil && fi.Size() > 0 && other != dir {
			found = append(found, candidate{other, fi.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.dir, b.dir)) })
	for _, c := range found[:min(len(found), maxLooked)] {
		if b, err := os.ReadFile(filepath.Join(c.dir, ctxabi.CwdFile)); err == nil && strings.TrimSpace(string(b)) == cwd {
			return c.dir
		}
	}
	return ""
}
