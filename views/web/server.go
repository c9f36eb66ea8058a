package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

// Config is what a server is made of.
type Config struct {
	Root string   // of a mount's tree; sessions are below it
	Only []string // the paths of the sessions below Root, where that is not a whole tree; nil: all
	// Sessions returns the paths below Root of the sessions that the caller sees.
	Sessions func() []string
	Port     int // 0: any that is free
	// AnyUID answers every user's connections.
	AnyUID bool
	// First is the path below Root of the session that is opened first; "": the list of all.
	First string
	// EntryDir is where the file is written that opens the page; "": [os.TempDir].
	EntryDir string
	Version  string // of the program

	// Look opens the session in dir to look at its packs, with budget tokens in place of its own; 0: as
	// the session is. Nothing of the session is changed by that, and no command of its recipe runs.
	Look func(ctx context.Context, dir string, budget int) (*Look, error)
	// Plan returns what the collector would do with the session in dir. Nothing is changed by that.
	Plan func(ctx context.Context, dir string) (*gc.Report, error)
}

// Look is a session that is looked at. It is not safe for concurrent use.
type Look struct {
	*inspect.History
	// Native returns the pack of the first n messages as the body of a request.
	Native func(ctx context.Context, n int, f native.Format) ([]byte, error)
	Close  func() error
	// Budgets reports whether other budgets can be asked for.
	Budgets bool
}

// Limits of a server.
const (
	maxConnections = 128
	maxAnswer      = 2 << 20 // bytes of a text on a page
	previewTime    = 2 * time.Minute
	lastWords      = 5 * time.Second // at the end, for what goes on
)

// Server shows sessions to one user's browser.
type Server struct {
	Config
	guard  *guard
	listen net.Listener
	http   *http.Server
	views  *template.Template
	looks  looks
	source *overview.Source
	watch  *overview.Watcher

	mu    sync.Mutex
	entry string // path of the file that opens the page; guarded by mu; "": it is gone
}

type peerKey struct{}

// peer is whose connection a request came on.
type peer struct {
	uid int
	ok  bool
}

// Listen makes a server, which listens on 127.0.0.1 and serves when [Server.Serve] is called. It
// returns the error of the port or of the file that opens the page.
func Listen(c Config) (*Server, error) {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", c.Port))
	if err != nil {
		return nil, err
	}
	uid := os.Geteuid()
	if c.AnyUID {
		uid = -1
	}
	s := &Server{Config: c, listen: netutil.LimitListener(l, maxConnections),
		guard: newGuard(l.Addr().String(), l.Addr().(*net.TCPAddr).Port, uid), views: parseViews()}
	s.looks.open = c.Look
	s.source = &overview.Source{Root: s.Root, Sessions: s.Sessions}
	s.watch = s.source.Watcher()
	to := "/"
	if c.First != "" {
		to = "/session/" + c.First
	}
	if s.entry, err = s.guard.writeEntry(c.EntryDir, to); err != nil {
		l.Close()
		return nil, err
	}
	s.http = &http.Server{
		Handler: s.answered(s.routes()), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			uid, ok := peerUID(conn)
			return context.WithValue(ctx, peerKey{}, peer{uid, ok})
		},
	}
	return s, nil
}

// Origin returns the address of the page, of which a browser without a key is sent away.
func (s *Server) Origin() string { return "http://" + s.guard.host }

// Serve answers until ctx ends. It returns the error that kept it from listening on; nil where ctx ended.
func (s *Server) Serve(ctx context.Context) error {
	expired := time.AfterFunc(entryTime, s.removeEntry)
	watching, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.watch.Run(watching)
	}()
	s.http.BaseContext = func(net.Listener) context.Context { return watching }
	ended := context.AfterFunc(ctx, func() { s.http.Close() })
	err := s.http.Serve(s.listen)
	ended()
	stop()
	expired.Stop()
	s.removeEntry()
	closed := make(chan error, 1)
	go func() {
		<-done
		closed <- s.looks.close()
	}()
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	select {
	case err = <-closed:
		return err
	case <-time.After(lastWords): // a mount that does not answer holds up nobody who wants to end
		return nil
	}
}

// answered wraps what answers with the guard.
func (s *Server) answered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		p, _ := r.Context().Value(peerKey{}).(peer)
		if no := s.guard.check(r, p.uid, p.ok); no != (refusal{}) {
			s.refused(w, no)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+enterPath, s.enter)
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /part/sessions", s.part(s.sessionRows))
	mux.HandleFunc("GET /part/search", s.part(s.search))
	for _, v := range viewList {
		mux.HandleFunc("GET /"+v.Name+"/{ref...}", s.view(v.Name))
	}
	for name, part := range map[string]partFunc{
		"overview": s.overview, "record": s.record, "life": s.life, "pack": s.pack, "calls": s.calls, "moment": s.moment, "diff": s.diff,
		"notes": s.notes, "family": s.family, "plan": s.plan,
	} {
		mux.HandleFunc("GET /part/"+name+"/{ref...}", s.part(s.of(part)))
	}
	mux.HandleFunc("GET /data/ribbon/{ref...}", s.ribbon)
	mux.HandleFunc("GET /data/places/{ref...}", s.places)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.page(w, http.StatusNotFound, "missing", page{Title: "Not found"})
	})
	return mux
}
