package web

import (
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/process"
	"github.com/ctxfs/ctxfs/views/overview"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed assets/*
var assets embed.FS

// parseViews returns the templates of all pages and parts. They are part of the program, and parse.
func parseViews() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(templates, "templates/*.html"))
}

// viewList are the pages of a session, in the order of their keys.
var viewList = []struct{ Name, Title string }{
	{"session", "Session"}, {"pack", "Pack"}, {"time", "Time"}, {"notes", "Notes"}, {"tree", "Tree"},
}

// page is what every page has.
type page struct {
	Title, View string
	Root, Query string

	Ref, Agent, Name, Owner string
	Dir, State              string
	Messages, Events        int
	Budget                  string
	Record                  string // that is shown first
	Read                    bool   // a program has read a pack of the session
	Views                   []struct{ Name, Title string }
	Least, Most             int // budgets
	Error                   failed
}

// view returns the handler of a page of a session. It reads nothing but a few small files, so that the page stands at
// once; its parts come after.
func (s *Server) view(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ref := r.PathValue("ref")
		dir, err := s.dir(ref)
		if err != nil {
			s.page(w, failure(err), "missing", page{Title: shownError(err).Title, Error: shownError(err)})
			return
		}
		p := page{View: name, Ref: ref, Root: s.Root, Dir: dir, Name: path.Base(ref), State: process.State(dir), Views: viewList,
			Messages: overview.RecordsOf(dir, ctxabi.MessagesFile), Events: overview.RecordsOf(dir, ctxabi.EventsFile), Budget: grouped(overview.LineOf(dir, ctxabi.BudgetFile)),
			Record: linkTo(r.URL.Query().Get("r")), Read: overview.Read(dir), Least: leastBudget, Most: mostBudget}
		if x, err := ctxabi.ParseRef(ref); err == nil {
			p.Agent, p.Owner = x.Agent, x.Owner()
		}
		for _, v := range viewList {
			if v.Name == name {
				p.Title = p.Name + " · " + v.Title
			}
		}
		s.watch.Show(ref, overview.AsWhole)
		s.page(w, http.StatusOK, name, p)
	}
}

func (s *Server) page(w http.ResponseWriter, status int, view string, p page) {
	p.View = view
	s.write(w, status, "page", p)
}

// asset answers with a file that is part of the program.
func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, err := fs.ReadFile(assets, "assets/"+filepath.Base(name))
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	kind := types[path.Ext(name)]
	if err != nil || kind == "" || strings.Contains(name, "/") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Write(data)
}
