package web

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// request is one that the guard lets pass, of a page of its own.
func request(g *guard, method, path string) *http.Request {
	r := httptest.NewRequest(method, path, nil)
	r.Host = g.host
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(&http.Cookie{Name: g.cookie, Value: g.key})
	return r
}

func TestTheGuard(t *testing.T) {
	g := newGuard("127.0.0.1:8123", 8123, 1000)
	for _, c := range []struct {
		what   string
		change func(r *http.Request)
		uid    int
		known  bool
		want   int
	}{
		{"its page", func(*http.Request) {}, 1000, true, 0},
		{"from the address bar", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 1000, true, 0},
		{"its own origin", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:8123") }, 1000, true, 0},
		{"another user", func(*http.Request) {}, 1001, true, 403},
		{"root", func(*http.Request) {}, 0, true, 403},
		{"nobody knows who", func(*http.Request) {}, 0, false, 403},
		{"another host", func(r *http.Request) { r.Host = "rebound.example:8123" }, 1000, true, 421},
		{"another port", func(r *http.Request) { r.Host = "127.0.0.1:80" }, 1000, true, 421},
		{"two origins", func(r *http.Request) { r.Header["Origin"] = []string{"http://127.0.0.1:8123", "null"} }, 1000, true, 403},
		{"another origin", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:80") }, 1000, true, 403},
		{"the same site", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 1000, true, 403},
		{"no site", func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }, 1000, true, 403},
		{"a frame", func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "frame") }, 1000, true, 403},
		{"no key", func(r *http.Request) { r.Header.Del("Cookie") }, 1000, true, 401},
		{"the key of another port", func(r *http.Request) { r.Header.Set("Cookie", "ctxfs_ui_8124="+g.key) }, 1000, true, 401},
		{"a change", func(r *http.Request) { r.Method = http.MethodPost }, 1000, true, 405},
	} {
		r := request(g, http.MethodGet, "/")
		c.change(r)
		if got := g.check(r, c.uid, c.known); got.status != c.want || (got.reason == "") != (c.want == 0) {
			t.Errorf("%s: %d %q, want %d", c.what, got.status, got.reason, c.want)
		}
	}
	enter := httptest.NewRequest(http.MethodPost, enterPath, nil)
	enter.Host = g.host
	enter.Header.Set("Origin", "null")
	enter.Header.Set("Sec-Fetch-Site", "cross-site")
	if got := g.check(enter, 1000, true); got != (refusal{}) {
		t.Errorf("a file of the disk is refused: %q", got.reason)
	}
	if got := g.check(enter, 1001, true); got.status != 403 {
		t.Errorf("another user may enter: %d", got.status)
	}
	enter.Header.Set("Origin", "http://evil.example")
	if got := g.check(enter, 1000, true); got.status != 403 {
		t.Errorf("a foreign page may enter: %d", got.status)
	}
	if all := newGuard("127.0.0.1:1", 1, -1); all.check(request(all, http.MethodGet, "/"), 77, false) != (refusal{}) {
		t.Error("with --any-uid somebody with the key is refused")
	}
}

func TestTheSecretWorksOnceAndForAMinute(t *testing.T) {
	g := newGuard("127.0.0.1:8123", 8123, 1000)
	secret := g.secret
	for _, wrong := range []string{"", "x", secret[1:], secret + "x"} {
		if g.redeem(wrong) {
			t.Errorf("%q was redeemed", wrong)
		}
	}
	if !g.redeem(secret) {
		t.Error("the secret was not redeemed")
	}
	if g.redeem(secret) || g.redeem("") {
		t.Error("it was redeemed twice")
	}
	late := newGuard("127.0.0.1:8123", 8123, 1000)
	made := late.until.Add(-entryTime)
	late.now = func() time.Time { return made.Add(entryTime) }
	if late.redeem(late.secret) {
		t.Error("it was redeemed after a minute")
	}
	if late.secret == secret || late.key == g.key || len(g.key) < 40 {
		t.Error("secrets of two starts are alike, or short")
	}
}

func TestTheFileThatOpensThePage(t *testing.T) {
	g := newGuard("127.0.0.1:8123", 8123, 1000)
	dir := t.TempDir()
	name, err := g.writeEntry(dir, `/session/"><script>`)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(b), g.secret) || strings.Count(string(b), "<script>") != 1 {
		t.Errorf("%v\n%s", err, b)
	}
	if fi, err := os.Stat(name); err != nil || fi.Mode().Perm() != 0o600 || filepath.Dir(name) != dir {
		t.Errorf("%v, %v", fi, err)
	}
	if _, err := g.writeEntry(filepath.Join(dir, "none"), "/"); err == nil {
		t.Error("a directory that is not there is no error")
	}
}

// table is what the kernel of a little-endian machine writes.
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1FBB 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0000000000000000 100 0 0 10 0
   1: 0100007F:C350 0100007F:1FBB 01 00000000:00000000 00:00000000 00000000  1001        0 222 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:1FBB 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 333 1 0000000000000000 20 4 30 10 -1
   3: 0100007F:C351 0100007F:1FBB 06 00000000:00000000 03:00001763 00000000     0        0 0 3 0000000000000000
   4: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:1FBB 01 00000000:00000000 00:00000000 00000000  1002        0 444 1 0000000000000000 20 4 30 10 -1
   5: broken
`

func TestWhoseConnectionItIs(t *testing.T) {
	ours := netip.MustParseAddrPort("127.0.0.1:8123")
	if got, ok := tableAddr("0100007F:1FBB"); !ok || got != ours {
		t.Skipf("the kernel of this machine writes addresses in another order: %v", got)
	}
	for theirs, want := range map[string]int{"127.0.0.1:50000": 1001, "127.0.0.1:50002": 1002, "127.0.0.1:50001": -1, "127.0.0.1:50003": -1, "127.0.0.1:8123": -1} {
		uid, ok := uidIn([]byte(table), netip.MustParseAddrPort(theirs), ours)
		if ok != (want >= 0) || ok && uid != want {
			t.Errorf("%s: %d, %v, want %d", theirs, uid, ok, want)
		}
	}
	for _, bad := range []string{"", ":", "0100007F", "0100007:1FBB", "0100007F:1FBBB", "xx00007F:1FBB", "01:1FBB"} {
		if got, ok := tableAddr(bad); ok {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestThePeerOfARealConnection(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, network := range []string{"tcp4", "tcp6"} {
		addr := l.Addr().String()
		if network == "tcp6" {
			addr = "[::ffff:127.0.0.1]:" + addr[strings.LastIndex(addr, ":")+1:]
		}
		client, err := net.Dial(strings.TrimSuffix(network, "6"), addr)
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if uid, ok := peerUID(server); !ok || uid != os.Geteuid() {
			t.Errorf("%s: the peer is %d, %v", network, uid, ok)
		}
		client.Close()
		if uid, ok := peerUID(server); ok {
			t.Errorf("%s: who has gone is %d", network, uid)
		}
		server.Close()
	}
}
