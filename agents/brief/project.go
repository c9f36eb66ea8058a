package brief

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// Project is the directory of what the sessions of one user in one workspace share; "" is none.
type Project string

// ProjectOf returns the project of the session in a directory of a mount that answers; it has none where the session shares none, and where
// the home of its user cannot be seen, as in a container.
func ProjectOf(session string) Project {
	home := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(session))))
	if filepath.Base(filepath.Dir(session)) != ctxabi.SessionDir || filepath.Base(filepath.Join(session, "../../..")) != ctxabi.AgentDir {
		return ""
	}
	slug := mounts.Attr(session, ctxabi.ProjectAttr)
	if slug == "" {
		return ""
	}
	return Project(filepath.Join(home, ctxabi.ProjectsDir, slug))
}

// ProjectAt returns the project of a workspace, which is an absolute path, in the home of a user.
func ProjectAt(home, workspace string) Project {
	slug, err := ctxabi.ProjectSlug(workspace)
	if err != nil {
		return ""
	}
	return Project(filepath.Join(home, ctxabi.ProjectsDir, slug))
}

// Sources returns a sentence that says where the sessions are that a project's memory names, and where people write.
func (p Project) Sources() string {
	return fmt.Sprintf("From all sessions there, (AGENT/SESSION messages:N) is line N of %s/agent/AGENT/session/SESSION/messages.jsonl. Notes for all of them: %s.",
		filepath.Dir(filepath.Dir(string(p))), filepath.Join(string(p), ctxabi.ProjectNotesFile))
}

// Part is a file or a section of a project's memory.
type Part struct {
	Title string
	Text  string
	Path  string // of the file that has it
}

// Entries returns the text of a part, entry by entry: a line that begins with "- ", and those that follow it.
func (p Part) Entries() []string { return entries(p.Text) }

// NotesTitle is the title of what people wrote beside a project's memory.
const NotesTitle = "Notes of this project"

// Read returns what a project keeps: first what people wrote, then the sections of what was derived, without the entries of the session own,
// which is AGENT/SESSION or "".
func (p Project) Read(w *Writer, own string) (parts []Part) {
	if p == "" {
		return nil
	}
	notes, memory := filepath.Join(string(p), ctxabi.ProjectNotesFile), filepath.Join(string(p), ctxabi.ProjectMemoryFile)
	if text := w.Read(notes); text != "" {
		parts = append(parts, Part{NotesTitle, text, notes})
	}
	_, rest, _ := strings.Cut("\n"+w.Read(memory), "\n## ")
	for _, section := range strings.Split(rest, "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		if text = without(text, own); text != "" {
			parts = append(parts, Part{strings.TrimSpace(title), text, memory})
		}
	}
	return parts
}

// without returns a section without the entries whose source is a session. An entry goes from its "- " to the next one.
func without(section, session string) string {
	section = strings.TrimSpace(section)
	if session == "" {
		return section
	}
	var left []string
	for _, entry := range entries(section) {
		if i := strings.LastIndex(entry, "("); i < 0 || !strings.HasPrefix(entry[i+1:], session+" ") {
			left = append(left, entry)
		}
	}
	return strings.TrimSpace(strings.Join(left, "\n"))
}

// entries splits a section where a line begins with "- "; without one it is one entry.
func entries(section string) (all []string) {
	for line := range strings.SplitSeq(section, "\n") {
		if len(all) == 0 || strings.HasPrefix(line, "- ") {
			all = append(all, line)
		} else {
			all[len(all)-1] += "\n" + line
		}
	}
	return all
}
