package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/inspect"
)

const (
	rowsOfPage = 50
	lastPacks  = 50
	maxPacks   = 256 << 10 // bytes of the end of packs.jsonl
	maxLast    = 140       // letters of the last words
	maxOwners  = 20        // whose sessions a search goes through
	maxName    = 255       // bytes of a query as the name of a file
)

// row is a session in the list of all.
type row struct {
	Ref, Agent, Name string
	Owner            string // of a shared session, or of another user's
	State            string
	Last, LastRole   string
	Messages         int
	Updated          time.Time
	Packs            packsOf
}

// packsOf is what the last packs were that programs read.
type packsOf struct {
	Any    bool
	Tokens int     // of the last one
	Share  float64 // of the tokens of all but the first that a provider's cache had
	Cached bool    // Share is known
	Spark  string  // points of a polyline, 100 wide and 20 high
	Count  int
	Peak   int // tokens
}

// rowsView is a page of the list.
type rowsView struct {
	Rows       []row
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
	type aged struct {
		ref string
		at  time.Time
	}
	refs := s.Sessions()
	if len(refs) == 0 {
		if err := s.gone(); err != nil {
			return "", nil, err
		}
	}
	filter := strings.ToLower(strings.TrimSpace(r.URL.Query().Get("name")))
	var all []aged
	for _, ref := range refs {
		if !strings.Contains(strings.ToLower(ref), filter) {
			continue
		}
		fi, err := os.Stat(filepath.Join(s.Root, ref, ctxabi.MessagesFile))
		if err != nil {
			continue // it was removed meanwhile
		}
		all = append(all, aged{ref, fi.ModTime()})
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.ref, b.ref)) })
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
		var shown []string
		for _, a := range all[from:v.To] {
			shown = append(shown, a.ref)
			v.Rows = append(v.Rows, s.row(a.ref, a.at))
		}
		s.watch.shown(shown...)
	}
	return "rows", v, nil
}

func (s *Server) row(ref string, at time.Time) row {
	dir := filepath.Join(s.Root, ref)
	x := row{Ref: ref, Name: path.Base(ref), Agent: path.Base(path.Dir(path.Dir(ref))), State: lineOf(dir, ctxabi.StateFile), Updated: at,
		Messages: records(dir, ctxabi.MessagesFile), Packs: lastPacksOf(dir)}
	if p, err := ctxabi.ParseRef(ref); err == nil {
		switch {
		case p.Space != "":
			x.Owner = "shared/" + p.Space
		case int(p.UID) != os.Geteuid():
			x.Owner = "user " + strconv.Itoa(int(p.UID))
		}
	} else {
		x.Agent = ""
	}
	if x.Messages > 0 {
		g := glimpseOf(dir, inspect.Address{N: x.Messages})
		x.Last, x.LastRole = oneLine(g.First, maxLast), g.Role
	}
	return x
}

// lastPacksOf reads the end of packs.jsonl.
func lastPacksOf(dir string) (p packsOf) {
	lines, err := readTail(filepath.Join(dir, ctxabi.PacksFile), maxPacks)
	if err != nil {
		return p
	}
	var rows []inspect.Served
	for _, line := range lines {
		var row inspect.Served
		if json.Unmarshal(line, &row) == nil && row.PackID != "" {
			rows = append(rows, row)
		}
	}
	rows = rows[max(0, len(rows)-lastPacks):]
	if len(rows) == 0 {
		return p
	}
	p.Any, p.Count, p.Tokens = true, len(rows), rows[len(rows)-1].Tokens
	kept, all := 0, 0
	var values []int
	for i, row := range rows {
		values = append(values, row.Tokens)
		p.Peak = max(p.Peak, row.Tokens)
		if i > 0 {
			kept, all = kept+row.KeptTokens, all+row.Tokens
		}
	}
	if all > 0 {
		p.Cached, p.Share = true, float64(kept)/float64(all)
	}
	p.Spark = spark(values, p.Peak, 100, 20)
	return p
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
		c, err := readHead(filepath.Join(dir, name), maxAnswer)
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
