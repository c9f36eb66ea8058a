package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// stillAlive is the time between two empty lines to a client that waits for changes.
const stillAlive = 15 * time.Second

// events is the stream that the tabs of a browser share.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	c := s.watch.Join()
	if c == nil {
		s.refused(w, refusal{http.StatusServiceUnavailable, "too many browsers watch"})
		return
	}
	defer s.watch.Leave(c)
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "retry: 1000\n\n: hello\n\n")
	out.Flush()
	alive := time.NewTicker(stillAlive)
	defer alive.Stop()
	for {
		select {
		case n, ok := <-c:
			if !ok {
				return
			}
			data, _ := json.Marshal(n) // strings and numbers
			fmt.Fprintf(w, "data: %s\n\n", data)
		case <-alive.C:
			fmt.Fprint(w, ": still here\n\n")
		case <-r.Context().Done():
			return
		}
		if out.Flush() != nil {
			return
		}
	}
}
