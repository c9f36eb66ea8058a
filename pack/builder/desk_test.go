package builder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// desk is a session in a store of its own and a builder for it.
type desk struct {
	t     testing.TB
	dir   string
	store *session.Store
	x     *session.Session
	b     *Builder
	n     uint64
}

var deskRef = ctxabi.Ref{UID: uint32(os.Getuid()), Agent: "coder", Session: "s1"}

func newDesk(t testing.TB, c Config) *desk {
	t.Helper()
	d := &desk{t: t, dir: filepath.Join(t.TempDir(), "store")}
	d.open()
	x, err := d.store.Create(deskRef, disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	d.x = x
	d.builder(c)
	t.Cleanup(func() { d.store.Close() })
	return d
}

func (d *desk) open() {
	d.t.Helper()
	store, err := session.Open(d.dir, session.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	d.store = store
}

func (d *desk) builder(c Config) {
	d.t.Helper()
	b, err := NewBuilder(c)
	if err != nil {
		d.t.Fatal(err)
	}
	d.b = b
}

// restart closes the store and begins again with nothing in memory.
func (d *desk) restart(c Config) {
	d.t.Helper()
	if err := d.store.Close(); err != nil {
		d.t.Fatal(err)
	}
	d.open()
	x, err := d.store.Session(deskRef)
	if err != nil {
		d.t.Fatal(err)
	}
	d.x = x
	d.builder(c)
}

func (d *desk) append(records ...[]byte) {
	d.t.Helper()
	var data []byte
	for _, r := range records {
		data = append(append(data, r...), '\n')
	}
	d.n++
	_, err := d.x.Messages().Append(context.Background(), log.Batch{Data: data, Key: arrival.Key{Conn: 1, Unique: d.n}})
	if err != nil {
		d.t.Fatal(err)
	}
}

// event appends one event.
func (d *desk) event(raw []byte) {
	d.t.Helper()
	d.n++
	_, err := d.x.Events().Append(context.Background(), log.Batch{Data: append(raw, '\n'), Key: arrival.Key{Conn: 1, Unique: d.n}})
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) write(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.x.Dir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) pack() *pack.Build {
	d.t.Helper()
	build, err := d.b.Current(context.Background(), d.x)
	if err != nil {
		d.t.Fatal(err)
	}
	return build
}

// share goes on in a session of the shared space team, where others may write.
func (d *desk) share() {
	d.t.Helper()
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	if _, err := d.store.CreateSpace("team", gid); err != nil {
		d.t.Fatal(err)
	}
	x, err := d.store.Create(ctxabi.Ref{Space: "team", Agent: "coder", Session: "s1"}, disk.Owner{UID: uid, GID: gid, Mode: 0o2770})
	if err != nil {
		d.t.Fatal(err)
	}
	d.x = x
}

// chmod sets the mode of a file by its path from the session.
func (d *desk) chmod(name string, mode os.FileMode) {
	d.t.Helper()
	if err := os.Chmod(filepath.Join(d.x.Dir(), name), mode); err != nil {
		d.t.Fatal(err)
	}
}

// trust makes the owner trust files of the agent as they are now, and no others.
func (d *desk) trust(names ...string) {
	d.t.Helper()
	var rows []byte
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(d.x.Dir(), "../..", name))
		if err != nil {
			d.t.Fatal(err)
		}
		rows = fmt.Appendf(rows, `{"path":"%s/%s","sha256":"%s"}`+"\n", d.x.Ref().AgentHome(), name, strings.TrimPrefix(ctxabi.ContentID(data), "sha256-"))
	}
	if err := d.store.SetTrust(uint32(os.Getuid()), uint32(os.Getgid()), rows); err != nil {
		d.t.Fatal(err)
	}
}
