package web

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// entryTime is how long the secret of a start can be redeemed.
const entryTime = 60 * time.Second

// policy is the Content-Security-Policy of every answer.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard decides which requests are answered. It is safe for concurrent use.
type guard struct {
	host   string // "127.0.0.1:8123": the only Host, and after http:// the only Origin
	cookie string // name of the cookie; cookies of 127.0.0.1 go to all its ports, so it has the port's number
	key    string // value of the cookie; another one at each start
	uid    int    // whose connections are answered; -1: everybody's
	now    func() time.Time

	mu     sync.Mutex
	secret string    // guarded by mu; "": redeemed
	until  time.Time // guarded by mu
}

// newGuard returns a guard of the server at host, whose port is port.
func newGuard(host string, port, uid int) *guard {
	g := &guard{host: host, cookie: fmt.Sprintf("ctxfs_ui_%d", port), key: rand.Text() + rand.Text(), uid: uid, now: time.Now}
	g.secret, g.until = rand.Text()+rand.Text(), g.now().Add(entryTime)
	return g
}

// refusal is why a request is not answered; the zero value: it is.
type refusal struct {
	status int
	reason string
}

func refuse(reason string) refusal { return refusal{http.StatusForbidden, reason} }

// check returns why a request is not answered. peer is the uid of its connection; ok is false where that is not known.
func (g *guard) check(r *http.Request, peer int, ok bool) refusal {
	entering := r.URL.Path == enterPath
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Values("Origin")
	switch {
	case g.uid >= 0 && !ok:
		return refuse("the kernel does not say whose connection this is; --any-uid answers everybody's")
	case g.uid >= 0 && peer != g.uid:
		return refuse("this page is another user's")
	case r.Host != g.host:
		return refusal{http.StatusMisdirectedRequest, "this server is http://" + g.host + " and has no other name"}
	case entering && r.Method != http.MethodPost, !entering && r.Method != http.MethodGet:
		return refusal{http.StatusMethodNotAllowed, "pages are read with GET, and nothing else"}
	case len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+g.host && !(entering && origin[0] == "null"):
		return refuse("another page asks")
	case entering:
		return refusal{} // from a file, so from another site; the secret is what counts
	case site != "same-origin" && site != "none":
		return refuse("another site asks, or a program that does not say where it asks from")
	case r.Header.Get("Sec-Fetch-Dest") == "iframe" || r.Header.Get("Sec-Fetch-Dest") == "frame":
		return refuse("this page is not shown in a frame")
	case !g.known(r):
		return refusal{http.StatusUnauthorized, "this browser has no key; start ctxfs ui again and open the file that it names"}
	}
	return refusal{}
}

// known reports whether a request carries the cookie of this start.
func (g *guard) known(r *http.Request) bool {
	for _, c := range r.CookiesNamed(g.cookie) {
		if same(c.Value, g.key) {
			return true
		}
	}
	return false
}

// redeem reports whether secret is the one of this start, in time and for the first time.
func (g *guard) redeem(secret string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.secret == "" || !g.now().Before(g.until) || !same(secret, g.secret) {
		return false
	}
	g.secret = ""
	return true
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// headers sets what every answer says, the refused ones among them.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// setKey answers with the cookie of this start.
func (g *guard) setKey(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.key, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
}
