package mock

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Request is one request of a model that a program sent.
type Request struct {
	API    string // anthropic, responses, chat or gemini
	Path   string
	Header http.Header
	Body   []byte
	Turns  []Turn
	Tools  []string // the names of the tools that it offers, in order
	Script string   // that it plays; "": none
	Step   int
	Status int
}

// Main reports whether a request is a turn of the agent: it offers tools. Programs also ask for titles and the like.
func (r *Request) Main() bool { return len(r.Tools) > 0 }

// Said returns the texts of a request's turns, of all roles, results of tools among them.
func (r *Request) Said() string {
	var b strings.Builder
	for _, t := range r.Turns {
		b.WriteString(t.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// Server is a provider on loopback.
type Server struct {
	URL string

	http    *httptest.Server
	scripts map[string]Script

	mu       sync.Mutex
	requests []*Request
	fails    map[string]int
	strays   []string // what nothing answers
	ids      int
}

// Start starts a server that plays scripts; the caller closes it.
func Start(scripts map[string]Script) *Server {
	s := &Server{scripts: scripts, fails: map[string]int{}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() { s.http.Close() }

// Requests returns the requests since the last call, oldest first.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}

// Strays returns the method and the path of each request that no API of the server is for.
func (s *Server) Strays() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.strays
}

// api is how a provider speaks.
type api struct {
	name  string
	read  func(body []byte, r *Request)                                                  // fills in turns and tools
	write func(w http.ResponseWriter, body []byte, id string, step Step, tools []string) // an answer, streamed where the body asks for it
	fail  func(status int) any
}

func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return
	}
	var by api
	switch path := strings.TrimSuffix(h.URL.Path, "/"); {
	case strings.HasSuffix(path, "/messages/count_tokens"), strings.HasSuffix(path, ":countTokens"):
		answer(w, http.StatusOK, map[string]any{"input_tokens": len(body) / 4, "totalTokens": len(body) / 4})
		return
	case strings.HasSuffix(path, "/messages"):
		by = anthropic
	case strings.HasSuffix(path, "/responses"):
		by = responses
	case strings.HasSuffix(path, "/chat/completions"):
		by = chat
	case strings.HasSuffix(path, ":generateContent"):
		by = gemini
	case strings.HasSuffix(path, ":streamGenerateContent"):
		by = geminiStream
	default:
		s.mu.Lock()
		s.strays = append(s.strays, h.Method+" "+h.URL.Path)
		s.mu.Unlock()
		answer(w, http.StatusNotFound, map[string]any{"error": map[string]any{"type": "not_found_error", "message": "there is no " + h.URL.Path}})
		return
	}
	r := &Request{API: by.name, Path: h.URL.Path, Header: h.Header, Body: body, Status: http.StatusOK}
	by.read(body, r)
	r.Script, r.Step = next(r.Turns)
	step := Step{}
	if script := s.scripts[r.Script]; r.Step < len(script) && r.Main() {
		step = script[r.Step]
	}
	s.mu.Lock()
	s.ids++
	id := fmt.Sprint(s.ids)
	key := fmt.Sprint(r.Script, r.Step)
	if n := s.fails[key]; n < len(step.Fail) {
		s.fails[key]++
		r.Status = step.Fail[n]
	}
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	if r.Status != http.StatusOK {
		answer(w, r.Status, by.fail(r.Status))
		return
	}
	if step.Text == "" && len(step.Calls) == 0 {
		step.Text = "Noted."
	}
	by.write(w, body, id, step, r.Tools)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// stream returns what sends an event of a stream: its name, which may be "", and its data.
func stream(w http.ResponseWriter) func(event string, data any) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return func(event string, data any) {
		if event != "" {
			fmt.Fprintf(w, "event: %s\n", event)
		}
		b, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
		w.(http.Flusher).Flush()
	}
}
