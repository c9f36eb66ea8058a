package ui

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

var secretIn = regexp.MustCompile(`name="secret" value="([^"]+)"`)

// secret reads the key that the file of a server holds.
func (s *server) secret(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(s.Entry)
	if err != nil {
		t.Fatal(err)
	}
	return secretIn.FindStringSubmatch(string(b))[1]
}

// ask sends a request as a browser would and returns the status, the body and the cookie that is set.
func (s *server) ask(t *testing.T, method, path string, header map[string]string, body string) (status int, text, cookie string) {
	t.Helper()
	r, err := http.NewRequest(method, s.Origin+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		if r.Header.Set(k, v); k == "Host" {
			r.Host = v
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Content-Security-Policy", "Cross-Origin-Resource-Policy", "Referrer-Policy", "Cache-Control", "X-Content-Type-Options"} {
		if answer.Header.Get(want) == "" {
			t.Errorf("%s %s: an answer without %s", method, path, want)
		}
	}
	return answer.StatusCode, string(b), answer.Header.Get("Set-Cookie")
}

const form = "application/x-www-form-urlencoded"

// enter redeems the secret and returns the cookie.
func (s *server) enter(t *testing.T) string {
	t.Helper()
	status, _, cookie := s.ask(t, "POST", "/enter", map[string]string{"Content-Type": form, "Origin": "null"}, "secret="+s.secret(t)+"&to=/")
	if status != http.StatusOK || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Fatalf("the secret is answered with %d and the cookie %q", status, cookie)
	}
	key, _, _ := strings.Cut(cookie, ";")
	return key
}

// Who does not come from the page itself, as its user, and with its key, is refused.
func TestStrangersAreRefused(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Append("messages.jsonl", harness.Message("user", "hi"))
	x := serve(t, m)
	if fi, err := os.Stat(x.Entry); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the file that opens the page: %v, %v", fi.Mode(), err)
	}
	if status, _, _ := x.ask(t, "POST", "/enter", map[string]string{"Content-Type": form}, "secret=x"); status != http.StatusForbidden {
		t.Errorf("a wrong secret is answered with %d", status)
	}
	secret := x.secret(t)
	key := x.enter(t)
	if _, err := os.Stat(x.Entry); err == nil {
		t.Error("the file is there after it was used")
	}
	if status, _, cookie := x.ask(t, "POST", "/enter", map[string]string{"Content-Type": form}, "secret="+secret); status != http.StatusForbidden || cookie != "" {
		t.Errorf("the secret works twice: %d, %q", status, cookie)
	}
	own := func(more ...string) map[string]string {
		h := map[string]string{"Cookie": key, "Sec-Fetch-Site": "same-origin"}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	port := x.Origin[strings.LastIndex(x.Origin, ":"):]
	for _, c := range []struct {
		what, method, path string
		header             map[string]string
		want               int
	}{
		{"the page", "GET", "/", own(), 200},
		{"typed into the browser", "GET", "/", own("Sec-Fetch-Site", "none"), 200},
		{"its own origin", "GET", "/events/../", own("Origin", x.Origin), 307},
		{"no cookie", "GET", "/", map[string]string{"Sec-Fetch-Site": "same-origin"}, 401},
		{"another cookie", "GET", "/", own("Cookie", key[:len(key)-1]+"_"), 401},
		{"another port of this machine", "GET", "/", own("Sec-Fetch-Site", "same-site"), 403},
		{"another site", "GET", "/assets/app.js", own("Sec-Fetch-Site", "cross-site"), 403},
		{"no word of where from", "GET", "/", map[string]string{"Cookie": key}, 403},
		{"a foreign Origin", "GET", "/", own("Origin", "http://evil.example"), 403},
		{"an Origin of another port", "GET", "/", own("Origin", "http://127.0.0.1:1"), 403},
		{"Origin null", "GET", "/", own("Origin", "null"), 403},
		{"a name that leads here", "GET", "/", own("Host", "rebound.example"+port), 421},
		{"localhost", "GET", "/", own("Host", "localhost"+port), 421},
		{"no port", "GET", "/", own("Host", "127.0.0.1"), 421},
		{"in a frame", "GET", "/", own("Sec-Fetch-Dest", "iframe"), 403},
		{"POST", "POST", "/", own(), 405},
		{"PUT", "PUT", "/part/pack/" + s.Ref(), own(), 405},
		{"DELETE", "DELETE", "/session/" + s.Ref(), own(), 405},
		{"HEAD", "HEAD", "/", own(), 405},
		{"a secret that is read", "GET", "/enter", own(), 405},
		{"a secret from a foreign page", "POST", "/enter", map[string]string{"Content-Type": form, "Origin": "http://evil.example"}, 403},
	} {
		if got, text, _ := x.ask(t, c.method, c.path, c.header, ""); got != c.want {
			t.Errorf("%s: %d, want %d: %.200s", c.what, got, c.want, text)
		}
	}
	if addrs := listening(t, port); len(addrs) != 1 || addrs[0] != "127.0.0.1"+port {
		t.Errorf("it listens on %q", addrs)
	}
	y := serve(t, m)
	if other := y.enter(t); other == key {
		t.Error("two starts have the same key")
	}
	if got, _, _ := y.ask(t, "GET", "/", map[string]string{"Cookie": key, "Sec-Fetch-Site": "same-origin"}, ""); got != 401 {
		t.Errorf("the key of another start is answered with %d", got)
	}
}

// listening returns on which addresses somebody listens on a port.
func listening(t *testing.T, port string) (addrs []string) {
	t.Helper()
	ifaces, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(ifaces, &net.IPNet{IP: net.ParseIP("127.0.0.2")}) {
		addr := net.JoinHostPort(a.(*net.IPNet).IP.String(), port[1:])
		if c, err := net.Dial("tcp", addr); err == nil {
			addrs = append(addrs, addr)
			c.Close()
		}
	}
	return addrs
}

// as runs curl as a user, with the headers of a page, and returns the status and what was answered.
func (s *server) as(t *testing.T, uid int, args ...string) (status, text string) {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), harness.Patience)
	defer end()
	cmd := exec.CommandContext(ctx, "setpriv", append([]string{fmt.Sprintf("--reuid=%d", uid), fmt.Sprintf("--regid=%d", uid), "--clear-groups", "curl", "-s", "-w", "\n%{http_code}", "-H", "Sec-Fetch-Site: same-origin"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	i := strings.LastIndexByte(string(out), '\n')
	return string(out[i+1:]), string(out[:i])
}

// A user of root's mount cannot read the store: the files of the mount say as much as they can, and the page says
// what they cannot.
func TestAUserOfRootsMount(t *testing.T) {
	harness.NeedRoot(t)
	harness.Need(t, "setpriv")
	harness.Need(t, "curl")
	const user = 1000
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, user, "coder", "s1")
	s.Append("messages.jsonl", bundled(t, "messages.jsonl"))
	s.Write("context/budget", "6000\n")
	m.Session(t, harness.Self(), "coder", "of-root")
	x := serveAs(t, m, user, s.Dir)
	_, page := x.as(t, user, "-i", "-d", "secret="+x.secret(t), "-H", "Origin: null", x.Origin+"/enter")
	_, key, _ := strings.Cut(page, "Set-Cookie: ")
	key, _, _ = strings.Cut(key, ";")
	for _, c := range []struct{ path, status, has string }{
		{"/part/sessions", "200", "1–1 of 1 session"},
		{"/part/overview/R", "200", "left out"},
		{"/part/pack/R", "200", `data-budgets="false"`},
		{"/part/pack/R?format=openai", "200", "tool_call_id"},
		{"/part/pack/R?budget=20000", "500", "other budgets are made from the store"},
		{"/part/life/R?r=messages:20", "200", "a compaction took it out"},
		{"/part/moment/R?n=100", "200", "at message 100"},
		{"/part/diff/R?a=100&b=200", "200", "Side by side"},
		{"/part/calls/R", "200", "read from the cache"},
		{"/part/plan/R", "200", "last run"},
		{"/session/home/0/agent/coder/session/of-root", "404", "Not found"},
	} {
		status, text := x.as(t, user, "-b", key, x.Origin+strings.ReplaceAll(c.path, "R", s.Ref()))
		if status != c.status || !strings.Contains(text, c.has) {
			t.Errorf("%s: %s, %.300s", c.path, status, text)
		}
	}
	if status, _ := x.as(t, 0, "-b", key, x.Origin+"/"); status != "403" {
		t.Errorf("root is answered with %s by a user's page", status)
	}
	if rows := s.Read("context/packs.jsonl"); rows != "" {
		t.Errorf("packs.jsonl has %s", rows)
	}
}

// Another user is refused, whatever he has stolen, unless all are let in.
func TestAnotherUserIsRefused(t *testing.T) {
	harness.NeedRoot(t)
	harness.Need(t, "setpriv")
	harness.Need(t, "curl")
	m := harness.Start(t, harness.Options{})
	m.Session(t, harness.Self(), "coder", "s1")
	x := serve(t, m)
	curl := func(uid int, args ...string) string {
		t.Helper()
		status, _ := x.as(t, uid, args...)
		return status
	}
	secret := "secret=" + url.QueryEscape(x.secret(t))
	if got := curl(65534, "-d", secret, x.Origin+"/enter"); got != "403" {
		t.Errorf("a stolen secret of another user is answered with %s", got)
	}
	key := x.enter(t) // which that has not used up
	if got := curl(65534, "-b", key, x.Origin+"/"); got != "403" {
		t.Errorf("a stolen cookie of another user is answered with %s", got)
	}
	if got := curl(65534, "-b", key, "http://[::ffff:127.0.0.1]"+x.Origin[strings.LastIndex(x.Origin, ":"):]+"/", "-H", "Host: "+strings.TrimPrefix(x.Origin, "http://")); got != "403" {
		t.Errorf("the same through a socket of IPv6: %s", got)
	}
	if got := curl(0, "-b", key, x.Origin+"/"); got != "200" {
		t.Errorf("the user himself is answered with %s", got)
	}
	y := serve(t, m, "--any-uid")
	if got := curl(65534, "-b", y.enter(t), y.Origin+"/"); got != "200" {
		t.Errorf("with --any-uid another user with the key is answered with %s", got)
	}
	if got := curl(65534, y.Origin+"/"); got != "401" {
		t.Errorf("with --any-uid another user without it is answered with %s", got)
	}
}

// The browser gets a file, and no key; where there is none, the output says what to do.
func TestHowTheBrowserIsOpened(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	m.Session(t, harness.Self(), "coder", "s1")
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	if err := os.WriteFile(filepath.Join(dir, "browser"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$OPENED\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		env  []string
		said string
	}{
		{"with a browser", []string{"BROWSER=none:" + filepath.Join(dir, "browser") + " %s", "OPENED=" + opened}, "opened with "},
		{"without one", nil, "There is no browser here"},
	} {
		cmd := m.Command(t.Context(), harness.Client{UID: harness.Self(), Argv: []string{harness.Binary(t), "ui", "--mount", m.Dir}, Env: append(c.env, "TMPDIR="+dir)})
		x := &server{harness.StartUI(t, cmd)}
		if !strings.Contains(x.Printed, c.said) || strings.Contains(x.Printed, x.secret(t)) {
			t.Errorf("%s: it says %q", c.what, x.Printed)
		}
		if c.env == nil {
			continue
		}
		harness.Eventually(t, "the browser starts", func() bool { b, err := os.ReadFile(opened); return err == nil && len(b) > 0 })
		if b, err := os.ReadFile(opened); err != nil || string(b) != x.Entry+"\n" {
			t.Errorf("the browser is started with %q, %v", b, err)
		}
	}
}

// The daemon serves no HTTP: it listens on no port.
func TestTheDaemonListensOnNoPort(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	m.Session(t, harness.Self(), "coder", "s1")
	for _, target := range m.OpenFiles() {
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
				b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", m.PID(), table))
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(b), " "+strings.TrimSuffix(inode, "]")+" ") {
					t.Errorf("the daemon has a socket in %s", table)
				}
			}
		}
	}
	if unix.Kill(m.PID(), 0) != nil {
		t.Error("there is no daemon")
	}
}

// A page of another site shows nothing of this one, though the browser has the key: no frame, no script, no picture.
func TestFramesAndOtherSites(t *testing.T) {
	suite.Matrix(t, needsBrowser)
	m := harness.Start(t, harness.Options{})
	example(t, m, "s1")
	x := serve(t, m)
	b := browse(t, x)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>evil</title><iframe id=f src='%s/'></iframe><script>window.done = {};
			for (const [name, tag, at] of [["script", "script", "/assets/app.js"], ["picture", "img", "/assets/icon.svg"]]) {
				const x = document.createElement(tag); x.onload = () => done[name] = "loaded"; x.onerror = () => done[name] = "refused"; x.src = %q + at; document.documentElement.append(x); }
			fetch(%q, {credentials: "include"}).then(r => r.text()).then(() => done.fetch = "loaded", () => done.fetch = "refused");
			fetch(%q, {credentials: "include", mode: "no-cors"}).then(() => done.blind = "loaded", () => done.blind = "refused");
			document.querySelector("#f").onload = () => { let seen = "refused"; try { if (f.contentDocument && f.contentDocument.querySelector("main")) seen = "loaded"; } catch { /* of another origin, as an error page is */ } done.frame = seen; };
			</script>`, x.Origin, x.Origin, x.Origin, x.Origin+"/part/sessions")
	}))
	defer evil.Close()
	b.do(navigate(evil.URL)) // of the same site, which has no ports, and of another origin
	b.await(`Object.keys(done).length === 5`)
	if got := eval[string](b, `JSON.stringify(Object.entries(done).filter(([, v]) => v !== "refused"))`); got != "[]" {
		t.Errorf("a foreign page got %s", got)
	}
	for _, why := range []string{
		"Framing '" + x.Origin + "/' violates the following Content Security Policy directive: \"frame-ancestors 'none'\"",
		"NotSameOrigin " + x.Origin + "/assets/app.js", "NotSameOrigin " + x.Origin + "/assets/icon.svg", "NotSameOrigin " + x.Origin + "/part/sessions",
	} {
		harness.Eventually(t, why, func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.ContainsFunc(b.said, func(text string) bool { return strings.Contains(text, why) })
		})
	}
}
