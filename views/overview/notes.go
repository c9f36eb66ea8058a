package overview

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

const (
	maxNotes    = 512 << 10 // bytes of a file of notes
	maxNoteRows = 500
)

// Note is a row of facts, decisions or refs.
type Note struct {
	Text, More string
	Source     string // "messages:57"
}

// Task is a line of todo.md.
type Task struct {
	Done bool
	Text string
}

// NoteFile is a file of notes.
type NoteFile struct {
	Title, Path, Empty string
	Derived            string // "derived", "mixed", "written"; "": not known
	Notes              []Note
	Tasks              []Task
	More               int    // rows that are not shown
	Err                string // why it cannot be read
}

// Notes returns what the session in dir knows: to-dos, decisions, facts and refs, in this order.
func Notes(dir string) (files []NoteFile) {
	for _, f := range []struct{ title, path, empty string }{
		{"To do", ctxabi.TodoFile, "Nothing is open."},
		{"Decisions", ctxabi.DecisionsFile, "No decision was found in the conversation."},
		{"Facts", ctxabi.FactsFile, "No fact was found in the conversation."},
		{"Files, outputs", ctxabi.RefsFile, "No file was read or changed."},
	} {
		files = append(files, notesOf(dir, f.title, f.path, f.empty))
	}
	return files
}

func notesOf(dir, title, path, empty string) NoteFile {
	f := NoteFile{Title: title, Path: filepath.Join(dir, path), Empty: empty, Derived: mounts.Attr(filepath.Join(dir, path), "user.ctx.origin")}
	c, err := ReadHead(f.Path, maxNotes)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			f.Err = Reason(err)
		}
		return f
	}
	if path == ctxabi.TodoFile {
		for line := range strings.Lines(c.Text) {
			line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*"))
			t := Task{Text: line}
			for _, mark := range []string{"[x]", "[X]", "[ ]"} {
				if rest, ok := strings.CutPrefix(line, mark); ok {
					t = Task{mark != "[ ]", strings.TrimSpace(rest)}
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
		n := Note{Text: row.Text + row.Decision + row.Path, More: row.Why, Source: row.Source}
		if row.Path != "" {
			n.More = strings.TrimSpace(strings.ReplaceAll(row.Kind, "_", " ") + " " + row.Summary)
		}
		f.Notes = append(f.Notes, n)
	}
	return f
}

// Refusal is a row of errors.jsonl, in words.
type Refusal struct {
	When         time.Time
	UID          uint32
	What, Path   string
	Reason, Kind string
	Count        int
}

// errnoWords are the refusals in a word or two.
var errnoWords = map[string]string{
	"EPERM": "append-only", "EINVAL": "not valid", "EMSGSIZE": "too large", "EFBIG": "does not fit the budget", "EACCES": "not allowed", "ENOSPC": "disk is full",
	"EDQUOT": "too much half-written", "EIO": "disk failed", "ENFILE": "too many open files", "ENOMEM": "not enough memory", "ENODATA": "something is missing", "ENODEV": "not possible",
}

// Refusals returns what was refused in the session in dir, the last one first. It returns the error of reading that.
func Refusals(dir string) (list []Refusal, err error) {
	lines, err := ReadTail(filepath.Join(dir, ctxabi.ErrorsFile), maxNotes)
	for _, line := range slices.Backward(lines) {
		var row struct {
			Time                    time.Time
			UID                     uint32
			Op, Path, Errno, Reason string
			Count                   int
		}
		if json.Unmarshal(line, &row) != nil || len(list) == maxNoteRows {
			continue
		}
		kind := row.Errno
		if words := errnoWords[row.Errno]; words != "" {
			kind = words
		}
		list = append(list, Refusal{row.Time, row.UID, row.Op, row.Path, row.Reason, kind, row.Count})
	}
	return list, err
}
