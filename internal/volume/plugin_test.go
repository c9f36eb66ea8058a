package volume

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite.Wrap(m)) }

// fakeTree is a mount whose directories are the keys, with their owners.
type fakeTree struct {
	mu   sync.Mutex
	dirs map[string]uint32 // guarded by mu
}

func (f *fakeTree) MakePlace(ref ctxabi.Ref, owner uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ref.Space == "closed" {
		return ctxabi.E("mkdir", "", ctxabi.ErrNotFound, "there is no shared space %q; make it with ctxfs space new", ref.Space)
	}
	p := Place{Ref: ref}.Path()
	if _, ok := f.dirs[p]; !ok {
		f.dirs[p] = owner
	}
	return nil
}

func (f *fakeTree) HasPlace(ref ctxabi.Ref) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.dirs[Place{Ref: ref}.Path()]; !ok {
		return ctxabi.E("lookup", "", ctxabi.ErrNotFound, "it is not there")
	}
	return nil
}

// daemon is a plugin on a real socket, as Docker meets it.
type daemon struct {
	tree   *fakeTree
	dir    string
	socket string
	client *http.Client
	plugin *Plugin
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctxfs-vol-") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{tree: &fakeTree{dirs: map[string]uint32{}}, dir: dir, socket: filepath.Join(dir, "plugins", "ctxfs.sock")}
	d.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", d.socket)
	}}}
	d.start(t)
	t.Cleanup(func() {
		d.client.CloseIdleConnections()
		d.plugin.Close()
		os.RemoveAll(dir)
	})
	return d
}

func (d *daemon) start(t *testing.T) {
	t.Helper()
	l, err := Listen(d.socket)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Open(filepath.Join(d.dir, "ctxfs.volumes"), "/ctx", d.tree)
	if err != nil {
		t.Fatal(err)
	}
	d.plugin = Serve(l, v, slog.New(slog.DiscardHandler))
}

// call makes a call and gives the status and the answer as it stands.
func (d *daemon) call(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, "http://plugin"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := d.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Header.Get("Content-Type"); got != contentType {
		t.Errorf("%s has content type %q", path, got)
	}
	return res.StatusCode, strings.TrimSpace(string(b))
}

// The protocol, call by call, on one daemon: what Docker sends and what it gets.
func TestProtocol(t *testing.T) {
	d := newDaemon(t)
	const restart, remove = "(restart)", "(remove a session)"
	const s1 = "/ctx/home/1234/agent/coder/session/s1"
	for i, c := range []struct{ call, body, want string }{
		{"Plugin.Activate", ``, `{"Implements":["VolumeDriver"]}`},
		{"VolumeDriver.Capabilities", `{}`, `{"Capabilities":{"Scope":"local"},"Err":""}`},
		{"VolumeDriver.List", `{}`, `{"Volumes":[],"Err":""}`},
		{"VolumeDriver.Get", `{"Name":"memory"}`, `{"Err":"there is no volume memory"}`},
		{"VolumeDriver.Mount", `{"Name":"memory","ID":"1"}`, `{"Err":"there is no volume memory"}`},
		{"VolumeDriver.Unmount", `{"Name":"memory","ID":"1"}`, `{"Err":"there is no volume memory"}`},
		{"VolumeDriver.Path", `{"Name":"memory"}`, `{"Err":"there is no volume memory"}`},
		{"VolumeDriver.Remove", `{"Name":"memory"}`, `{"Err":"there is no volume memory"}`},

		{"VolumeDriver.Create", `{"Name":"memory","Opts":{"session":"coder/s1","uid":"1234"}}`, `{"Err":""}`},
		{"VolumeDriver.Create", `{"Name":"memory","Opts":{"session":"home/1234/agent/coder/session/s1"}}`, `{"Err":""}`}, // the same
		{"VolumeDriver.Create", `{"Name":"memory","Opts":{"session":"coder/s2","uid":"1234"}}`,
			`{"Err":"the volume memory is home/1234/agent/coder/session/s1; docker volume rm memory removes it, or choose another name"}`},
		{"VolumeDriver.Path", `{"Name":"memory"}`, `{"Mountpoint":"` + s1 + `","Err":""}`},
		{"VolumeDriver.Mount", `{"Name":"memory","ID":"one"}`, `{"Mountpoint":"` + s1 + `","Err":""}`},
		{"VolumeDriver.Mount", `{"Name":"memory","ID":"one"}`, `{"Mountpoint":"` + s1 + `","Err":""}`}, // the answer got lost
		{"VolumeDriver.Mount", `{"Name":"memory","ID":"two"}`, `{"Mountpoint":"` + s1 + `","Err":""}`},
		{"VolumeDriver.Remove", `{"Name":"memory"}`, `{"Err":"the volume memory is in use, mounted by 2 containers; stop them first"}`},
		{"VolumeDriver.Unmount", `{"Name":"memory","ID":"one"}`, `{"Err":""}`},
		{"VolumeDriver.Unmount", `{"Name":"memory","ID":"one"}`, `{"Err":""}`},
		{"VolumeDriver.Unmount", `{"Name":"memory","ID":"never heard of"}`, `{"Err":""}`},
		{"VolumeDriver.Remove", `{"Name":"memory"}`, `{"Err":"the volume memory is in use, mounted by one container; stop them first"}`},

		// A daemon that starts anew knows the volumes and no mounts.
		{restart, "", ""},
		{"VolumeDriver.Path", `{"Name":"memory"}`, `{"Mountpoint":"` + s1 + `","Err":""}`},
		{"VolumeDriver.Unmount", `{"Name":"memory","ID":"two"}`, `{"Err":""}`},

		{"VolumeDriver.Create", `{"Name":"team","Opts":{"session":"shared/team/agent/coder/session/s1","uid":"7"}}`, `{"Err":""}`},
		{"VolumeDriver.Create", `{"Name":"none","Opts":{"session":"shared/closed/agent/coder/session/s1"}}`, `{"Err":"there is no shared space \"closed\"; make it with ctxfs space new"}`},
		{"VolumeDriver.Remove", `{"Name":"team"}`, `{"Err":""}`},
		{"VolumeDriver.Remove", `{"Name":"team"}`, `{"Err":"there is no volume team"}`},

		// A session that was removed is not made again behind its owner's back.
		{remove, "home/1234/agent/coder/session/s1", ""},
		{"VolumeDriver.Mount", `{"Name":"memory","ID":"three"}`, `{"Err":"home/1234/agent/coder/session/s1, the directory of the volume memory, was removed or renamed; docker volume rm memory, and create it again"}`},
		{"VolumeDriver.Remove", `{"Name":"memory"}`, `{"Err":""}`},
		{"VolumeDriver.List", ``, `{"Volumes":[],"Err":""}`},

		{"VolumeDriver.Create", `{"Name":"","Opts":{"home":"1"}}`, `{"Err":"\"\" is not the name of a volume"}`},
		{"VolumeDriver.Create", `{"Name":"../x","Opts":{"home":"1"}}`, `{"Err":"\"../x\" is not the name of a volume"}`},
		{"VolumeDriver.Create", `["no object"]`, `{"Err":"the request is not JSON of the volume protocol: json: cannot unmarshal array into Go value of type volume.request"}`},
		{"VolumeDriver.Create", `{"Name":`, `{"Err":"the request is not JSON of the volume protocol: unexpected EOF"}`},
	} {
		switch c.call {
		case restart:
			d.client.CloseIdleConnections()
			d.plugin.Close()
			d.start(t)
			continue
		case remove:
			delete(d.tree.dirs, c.body)
			continue
		}
		if status, got := d.call(t, "POST", "/"+c.call, c.body); status != 200 || got != c.want {
			t.Errorf("call %d, %s %s:\n got %d %s\nwant 200 %s", i, c.call, c.body, status, got, c.want)
		}
	}
	if owner, ok := d.tree.dirs["shared/team/agent/coder/session/s1"]; !ok || owner != 7 {
		t.Errorf("a session of a shared space was made for %d (%v), want 7; removing its volume must leave it", owner, ok)
	}
	for _, c := range []struct{ method, path string }{{"GET", "/VolumeDriver.List"}, {"POST", "/VolumeDriver.Format"}, {"POST", "/"}} {
		if status, got := d.call(t, c.method, c.path, "{}"); status != 404 || !strings.Contains(got, "no such call") {
			t.Errorf("%s %s: %d %s, want 404 and an Err", c.method, c.path, status, got)
		}
	}
	if status, got := d.call(t, "POST", "/VolumeDriver.Create", `{"Name":"`+strings.Repeat("x", maxRequest)+`"}`); status != 200 || !strings.Contains(got, "too large") {
		t.Errorf("a request without end: %d %.100s", status, got)
	}
}

func TestGetTellsOfAVolume(t *testing.T) {
	d := newDaemon(t)
	for i, opts := range []string{`{"home":"7"}`, `{"agent":"coder","uid":"7"}`} {
		if _, got := d.call(t, "POST", "/VolumeDriver.Create", fmt.Sprintf(`{"Name":"v%d","Opts":%s}`, i, opts)); got != `{"Err":""}` {
			t.Fatal(got)
		}
	}
	d.tree.dirs["home/7"] = 7
	d.call(t, "POST", "/VolumeDriver.Mount", `{"Name":"v0","ID":"x"}`)
	var one volumeAnswer
	_, got := d.call(t, "POST", "/VolumeDriver.Get", `{"Name":"v0"}`)
	if err := json.Unmarshal([]byte(got), &one); err != nil {
		t.Fatal(err)
	}
	v := one.Volume
	if v.Mountpoint != "/ctx/home/7" || v.CreatedAt == "" || v.Status["mounts"] != 1.0 || v.Status["path"] != "home/7" {
		t.Errorf("Get gives %s", got)
	}
	_, got = d.call(t, "POST", "/VolumeDriver.List", "")
	var list listAnswer
	if err := json.Unmarshal([]byte(got), &list); err != nil || len(list.Volumes) != 2 || list.Volumes[1].Mountpoint != "/ctx/home/7/agent/coder" {
		t.Errorf("List gives %s (%v)", got, err)
	}
}

// Ids are counted right when many containers come and go at once.
func TestMountsAtOnce(t *testing.T) {
	d := newDaemon(t)
	d.call(t, "POST", "/VolumeDriver.Create", `{"Name":"v","Opts":{"session":"a/s"}}`)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range 3 {
				d.call(t, "POST", "/VolumeDriver.Mount", fmt.Sprintf(`{"Name":"v","ID":"%d"}`, i))
			}
			if i%2 == 0 {
				d.call(t, "POST", "/VolumeDriver.Unmount", fmt.Sprintf(`{"Name":"v","ID":"%d"}`, i))
			}
		})
	}
	all.Wait()
	if _, got := d.call(t, "POST", "/VolumeDriver.Remove", `{"Name":"v"}`); !strings.Contains(got, "by 8 containers") {
		t.Errorf("after 16 mounts and 8 unmounts: %s", got)
	}
}

func TestListen(t *testing.T) {
	d := newDaemon(t)
	fi, err := os.Stat(d.socket)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v; want it for root alone", fi.Mode(), err)
	}
	if _, err := Listen(d.socket); !errors.Is(err, ctxabi.ErrLocked) {
		t.Errorf("a second daemon at the socket: %v", err)
	}
	d.client.CloseIdleConnections()
	d.plugin.Close()
	if _, err := os.Stat(d.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there after Close: %v", err)
	}
	// What a daemon that was killed leaves behind is replaced.
	l, err := net.Listen("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	d.start(t)
	if _, got := d.call(t, "POST", "/VolumeDriver.List", ""); got != `{"Volumes":[],"Err":""}` {
		t.Errorf("after a crash: %s", got)
	}
	plain := filepath.Join(d.dir, "plain")
	if err := os.WriteFile(plain, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(plain); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("a file that is no socket: %v", err)
	}
}
