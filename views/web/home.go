package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/views/overview"
)

const (
	rowsOfPage = 50
	maxOwners  = 20  // whose sessions a search goes through
	maxName    = 255 // bytes of a query as the name of a file
)

// rowsView is a page of the list.
type rowsView struct {
	Rows       []overview.Row
	All        int
	From, To   int
	Prev, Next int // -1: none
	Filter     string
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	s.page(w, http.StatusOK, "home", page{Title: "Sessions", View: "home", Query: r.URL.Query().Get("q"), Root: s.Root})
}

// sessionRows is the list of sessions, those that changed last first.
func (s *Server) sessionRows(r *http.Request) (string, any, error) {
	filter := strings.ToLower(strings.TrimSpace(r.URL.Query().Get("name")))
	all := s.source.List(func(ref string) bool { return strings.Contains(strings.ToLower(ref), filter) })
	if len(all) == 0 {
		if err := s.gone(); err != nil {
			return "", nil, err
		}
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	from = max(0, min(from, len(all)-1))
	v := rowsView{All: len(all), From: from + 1, To: min(from+rowsOfPage, len(all)), Prev: -1, Next: -1, Filter: filter}
	if from > 0 {
		v.Prev = max(0, from-rowsOfPage)
	}
	if v.To < len(all) {
		v.Next = v.To
	}
	if len(all) > 0 {
		for _, e := range all[from:v.To] {
			s.watch.Show(e.Ref, overview.AsRow) // before it is read: what changes from then on is told
			v.Rows = append(v.Rows, s.source.Row(e))
		}
	}
	return "rows", v, nil
}

// found is what a search answers.
type found struct {
	Query, Nothing, Incomplete string
	Count, Sessions            int
	AtLeast                    bool
	Hits                       []hit
}

// hit is a record that was found.
type hit struct {
	Session, Source, Who, Path, Text string
	Score                            float64
	Link, Name                       string
}

// search looks for words in all sessions, as a file below each owner's home does.
func (s *Server) search(r *http.Request) (string, any, error) {
	if err := s.gone(); err != nil {
		return "", nil, err
	}
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if query == "" {
		return "found", found{}, nil
	}
	name := strings.NewReplacer("%", "%25", "?", "%3F", "/", "%2F").Replace(query) + "?n=30&tokens=8000&format=json"
	places := s.searched()
	f := found{Query: query}
	var failed error
	answered := false
	for _, dir := range places {
		c, err := overview.ReadHead(filepath.Join(dir, name), maxAnswer)
		if err != nil && len(name) > maxName {
			return "", nil, ctxabi.E("search", "", ctxabi.ErrMalformed, "%d letters are too many; ask for fewer words", len(query))
		}
		if err != nil {
			failed = err
			continue
		}
		failed, answered = nil, true
		var answer struct {
			Nothing, Incomplete string
			Count, Sessions     int
			AtLeast             bool `json:"at_least"`
			Hits                []hit
		}
		if err := json.Unmarshal([]byte(c.Text), &answer); err != nil {
			return "", nil, err
		}
		f.Nothing, f.Incomplete = answer.Nothing, answer.Incomplete
		f.Count += answer.Count
		f.Sessions += answer.Sessions
		f.AtLeast = f.AtLeast || answer.AtLeast
		for _, h := range answer.Hits {
			if s.Only != nil {
				h.Session = path.Base(s.Root)
			}
			if h.Name = h.Session; s.Only == nil {
				if p, err := ctxabi.ParseRef(h.Session); err == nil {
					h.Name = p.Agent + " / " + p.Session
				}
			}
			h.Link = (&url.URL{Path: "/session/" + h.Session, RawQuery: "r=" + url.QueryEscape(h.Source)}).String()
			f.Hits = append(f.Hits, h)
		}
	}
	if failed != nil && !answered {
		return "", nil, failed
	}
	slices.SortStableFunc(f.Hits, func(a, b hit) int { return cmp.Compare(b.Score, a.Score) })
	return "found", f, nil
}

// searched returns the directories in which a search has a file: of each owner of sessions, or of the only session.
func (s *Server) searched() (dirs []string) {
	for _, ref := range s.Sessions() {
		dir := filepath.Join(s.Root, ref, ctxabi.SearchDir)
		if p, err := ctxabi.ParseRef(ref); err == nil && s.Only == nil {
			dir = filepath.Join(s.Root, p.Owner(), ctxabi.HomeSearchDir)
		}
		if !slices.Contains(dirs, dir) && len(dirs) < maxOwners {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
