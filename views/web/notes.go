package web

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

// notesView contains the notes, the summary versions, and the refused operations of a session.
type notesView struct {
	Ref     string
	Files   []overview.NoteFile
	Refused []overview.Refusal
	Path    string // of errors.jsonl
	Err     string

	Summaries    []summaryView // newest first
	Older        int           // number of versions omitted from Summaries
	SummariesErr string
}

// summaryView is a version of the summary and its changes since version Base.
type summaryView struct {
	overview.SummaryVersion
	Lines []line // nil if version Base is not in the list
	Cut   bool   // Lines is truncated
}

// notes renders facts, decisions, to-dos, and refs with their records, the versions of the summary,
// and the refused operations of a session.
func (s *Server) notes(_ context.Context, dir string, r *http.Request) (_ string, _ any, err error) {
	v := notesView{Ref: r.PathValue("ref"), Path: filepath.Join(dir, ctxabi.ErrorsFile), Files: overview.Notes(dir)}
	if v.Refused, err = overview.Refusals(dir); err != nil {
		v.Err = reason(err)
	}
	versions, older, err := overview.Summaries(dir)
	if err != nil {
		v.SummariesErr = reason(err)
	}
	v.Summaries, v.Older = changesOf(versions), older
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

// changesOf adds to each version the lines that differ from version Base. Lines is nil if the list
// does not contain that version.
func changesOf(versions []overview.SummaryVersion) (list []summaryView) {
	texts := map[int]string{}
	for _, v := range versions {
		texts[v.N] = v.Text.Text
	}
	for _, v := range versions {
		view := summaryView{SummaryVersion: v}
		if before, ok := texts[v.Base]; ok {
			view.Lines, view.Cut = sideBySide(string(inspect.Lines([]byte(before), []byte(v.Text.Text), "a", "b")))
		}
		list = append(list, view)
	}
	return list
}
