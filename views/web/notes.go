package web

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

// notesView is what a session knows, and what was refused.
type notesView struct {
	Ref     string
	Files   []overview.NoteFile
	Refused []overview.Refusal
	Path    string // of errors.jsonl
	Err     string
}

// notes shows facts, decisions, to-dos and refs with their records, and what was refused.
func (s *Server) notes(_ context.Context, dir string, r *http.Request) (_ string, _ any, err error) {
	v := notesView{Ref: r.PathValue("ref"), Path: filepath.Join(dir, ctxabi.ErrorsFile), Files: overview.Notes(dir)}
	if v.Refused, err = overview.Refusals(dir); err != nil {
		v.Err = reason(err)
	}
	return "notes-part", v, nil
}

// linkTo returns the record that a source names, as a page is asked for it; "" where it is none.
func linkTo(source string) string {
	event, span, ok, err := inspect.ParseRecords(source)
	if err != nil || !ok || span.From < 1 {
		return ""
	}
	return inspect.Address{Event: event, N: span.From}.String()
}
