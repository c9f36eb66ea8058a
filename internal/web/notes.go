package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/inspect"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

const (
	maxNotes    = 512 << 10 // bytes of a file of notes on a page
	maxNoteRows = 500
)

// note is a row of facts, decisions or refs.
type note struct {
	Text, More string
	Source     string // "messages:57"
	Link       string // the same, where it is one record
}

// noteFile is a file of notes.
type noteFile struct {
	Title, Path, Empty string
	Derived            string // "derived", "mixed", "written"; "": not known
	Notes              []note
	Tasks              []task
	More               int // rows that are not shown
	Err                string
}

// task is a line of todo.md.
type task struct {
	Done bool
	Text string
}

// refused is a row of errors.jsonl, in words.
type refused struct {
	When         time.Time
	UID          uint32
	What, Path   string
	Reason, Kind string
	Count        int
}

// notesView is what a session knows, and what was refused.
type notesView struct {
	Ref     string
	Files   []noteFile
	Refused []refused
	Path    string // of errors.jsonl
	Err     string
}

// errnoWords are the refusals in a word or two.
var errnoWords = map[string]string{
	"EPERM": "append-only", "EINVAL": "not valid", "EMSGSIZE": "too large", "EFBIG": "does not fit the budget", "EACCES": "not allowed", "ENOSPC": "disk is full",
	"EDQUOT": "too much half-written", "EIO": "disk failed", "ENFILE": "too many open files", "ENOMEM": "not enough memory", "ENODATA": "something is missing", "ENODEV": "not possible",
}

// notes shows facts, decisions, to-dos and refs with their records, and what was refused.
func (s *Server) notes(_ context.Context, dir string, r *http.Request) (string, any, error) {
	ref := r.PathValue("ref")
	v := notesView{Ref: ref, Path: filepath.Join(dir, ctxabi.ErrorsFile)}
	for _, f := range []struct{ title, path, empty string }{
		{"To do", ctxabi.TodoFile, "Nothing is open."},
		{"Decisions", ctxabi.DecisionsFile, "No decision was found in the conversation."},
		{"Facts", ctxabi.FactsFile, "No fact was found in the conversation."},
		{"Files, outputs", ctxabi.RefsFile, "No file was read or changed."},
	} {
		v.Files = append(v.Files, notesOf(dir, f.title, f.path, f.empty))
	}
	lines, err := readTail(v.Path, maxNotes)
	if err != nil {
		v.Err = reason(err)
	}
	for _, line := range slices.Backward(lines) {
		var row struct {
			Time                    time.Time
			UID                     uint32
			Op, Path, Errno, Reason string
			Count                   int
		}
		if json.Unmarshal(line, &row) != nil || len(v.Refused) == maxNoteRows {
			continue
		}
		kind := row.Errno
		if words := errnoWords[row.Errno]; words != "" {
			kind = words
		}
		v.Refused = append(v.Refused, refused{row.Time, row.UID, row.Op, row.Path, row.Reason, kind, row.Count})
	}
	return "notes-part", v, nil
}

func notesOf(dir, title, path, empty string) noteFile {
	f := noteFile{Title: title, Path: filepath.Join(dir, path), Empty: empty, Derived: mounts.Attr(filepath.Join(dir, path), "user.ctx.origin")}
	c, err := readHead(f.Path, maxNotes)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			f.Err = reason(err)
		}
		return f
	}
	if path == ctxabi.TodoFile {
		for line := range strings.Lines(c.Text) {
			line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*"))
			t := task{Text: line}
			for _, mark := range []string{"[x]", "[X]", "[ ]"} {
				if rest, ok := strings.CutPrefix(line, mark); ok {
					t = task{mark != "[ ]", strings.TrimSpace(rest)}
				}
			}
			if t.Text != "" && len(f.Tasks) < maxNoteRows {
				f.Tasks = append(f.Tasks, t)
			}
		}
		return f
	}
	for line := range bytes.Lines([]byte(c.Text)) {
		var row struct{ Text, Decision, Why, Path, Kind, Summary, Source string }
		if json.Unmarshal(line, &row) != nil {
			continue
		}
		if len(f.Notes) == maxNoteRows {
			f.More++
			continue
		}
		n := note{Text: row.Text + row.Decision + row.Path, More: row.Why, Source: row.Source}
		if row.Path != "" {
			n.More = strings.TrimSpace(strings.ReplaceAll(row.Kind, "_", " ") + " " + row.Summary)
		}
		n.Link = linkTo(row.Source)
		f.Notes = append(f.Notes, n)
	}
	return f
}

// linkTo returns the record that a source names, as a page is asked for it; "" where it is none.
func linkTo(source string) string {
	event, span, ok, err := inspect.ParseRecords(source)
	if err != nil || !ok || span.From < 1 {
		return ""
	}
	return inspect.Address{Event: event, N: span.From}.String()
}
