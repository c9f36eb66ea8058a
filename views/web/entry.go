package web

import (
	"fmt"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
)

// enterPath takes the secret, the only thing that is ever posted.
const enterPath = "/enter"

// entryPage is a file of the user's own disk. It posts the secret, so that this stands in no command
// line and in no history. It needs no key to be read but the file's mode.
var entryPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>ctxfs</title>
<meta name="referrer" content="no-referrer">
<form method="post" action="http://{{.Host}}` + enterPath + `">
<input type="hidden" name="secret" value="{{.Secret}}"><input type="hidden" name="to" value="{{.To}}">
<button>Open ctxfs</button></form>
<script>document.forms[0].submit()</script></html>
`))

// enteredPage leads on. The request that it makes comes from this server's own page, so that the
// browser sends the cookie, which it does not where a file of the disk leads on.
var enteredPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>ctxfs</title><link rel="icon" href="/assets/icon.svg"><meta http-equiv="refresh" content="0;url={{.}}">
<body><a href="{{.}}">Go on to ctxfs</a></body></html>
`))

// writeEntry writes the file that opens the server's page at the path to. It returns its path, or the
// error that kept it from being written. The caller removes it.
func (g *guard) writeEntry(dir, to string) (name string, err error) {
	f, err := os.CreateTemp(dir, "ctxfs-ui-*.html") // 0600
	if err != nil {
		return "", fmt.Errorf("the file that opens the page: %w", err)
	}
	defer f.Close()
	if err := entryPage.Execute(f, map[string]string{"Host": g.host, "Secret": g.secret, "To": to}); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("the file that opens the page: %w", err)
	}
	return filepath.Abs(f.Name())
}

// enter redeems the secret for the cookie.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	if err := r.ParseForm(); err != nil || !s.guard.redeem(r.PostForm.Get("secret")) {
		s.refused(w, refuse("this link was used, or is older than a minute; start ctxfs ui again"))
		return
	}
	s.removeEntry()
	s.guard.setKey(w)
	to := r.PostForm.Get("to")
	if len(to) < 1 || to[0] != '/' || len(to) > 1 && (to[1] == '/' || to[1] == '\\') {
		to = "/"
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	enteredPage.Execute(w, to)
}

// Entry returns the path of the file that opens the page, for a minute and once.
func (s *Server) Entry() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entry
}

// removeEntry removes the file that opens the page.
func (s *Server) removeEntry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entry != "" {
		os.Remove(s.entry)
		s.entry = ""
	}
}
