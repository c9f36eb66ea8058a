package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/views/overview"
)

// dir returns the directory of the session whose path below Root is ref. It returns ctxabi.ErrNotFound
// if ref is no session.
func (s *Server) dir(ref string) (string, error) {
	bad := ctxabi.E("read", "", ctxabi.ErrNotFound, "there is no session %q", ref)
	if s.Only != nil {
		for _, name := range s.Only {
			if name == ref {
				return filepath.Join(s.Root, name), nil
			}
		}
		return "", bad
	}
	if r, err := ctxabi.ParseRef(ref); err != nil || r.Path() != ref {
		return "", bad
	}
	dir := filepath.Join(s.Root, ref)
	if _, err := os.Stat(filepath.Join(dir, ctxabi.MessagesFile)); err != nil {
		if gone := s.gone(); gone != nil {
			return "", gone
		}
		if errors.Is(err, os.ErrNotExist) {
			return "", bad
		}
		return "", ctxabi.E("read", "", ctxabi.ErrNotFound, "there is no session %q: %s", ref, reason(err))
	}
	return dir, nil
}

// errGone means that the mount of the pages is not there.
var errGone = errors.New("nothing answers at the mount")

// gone returns errGone, with the mount's path and why, where the mount does not answer; else nil.
func (s *Server) gone() error {
	at := s.Root
	if s.Only == nil {
		at = filepath.Join(s.Root, ctxabi.HomeDir)
	}
	if err := overview.Answers(at); err != nil {
		return fmt.Errorf("%w, %s: %s", errGone, s.Root, reason(err))
	}
	return nil
}

// partFunc answers with a piece of a page: the name of its template and the data. Its errors are shown in words.
type partFunc func(ctx context.Context, dir string, r *http.Request) (view string, data any, err error)

// of returns a part of the session that the request names.
func (s *Server) of(f partFunc) func(r *http.Request) (string, any, error) {
	return func(r *http.Request) (string, any, error) {
		dir, err := s.dir(r.PathValue("ref"))
		if err != nil {
			return "", nil, err
		}
		return f(r.Context(), dir, r)
	}
}

// part answers with a piece of HTML that a page has asked for.
func (s *Server) part(f func(r *http.Request) (view string, data any, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		view, data, err := f(r)
		status := http.StatusOK
		if err != nil {
			if r.Context().Err() != nil {
				return // nobody waits any more
			}
			status, view, data = failure(err), "failed", shownError(err)
		}
		s.write(w, status, view, data)
	}
}

// write renders a template whole before any of it goes out.
func (s *Server) write(w http.ResponseWriter, status int, view string, data any) {
	var b bytes.Buffer
	if err := s.views.ExecuteTemplate(&b, view, data); err != nil {
		http.Error(w, "ctxfs: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

// failure returns the status of an error.
func failure(err error) int {
	switch {
	case errors.Is(err, ctxabi.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, ctxabi.ErrMalformed):
		return http.StatusBadRequest
	case errors.Is(err, errSuperseded):
		return http.StatusConflict
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// sendJSON answers with v.
func (s *Server) sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// refused answers with why a request is not answered.
func (s *Server) refused(w http.ResponseWriter, no refusal) {
	http.Error(w, "ctxfs: "+no.reason, no.status)
}
