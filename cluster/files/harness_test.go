package files_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/names/keeper"
	"github.com/ctxfs/ctxfs/cluster/node"
	"github.com/ctxfs/ctxfs/ctxabi"
	ctxfs "github.com/ctxfs/ctxfs/fs"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
)

func TestMain(m *testing.M) {
	if os.Getenv("CTXFS_FILES_CLIENT") != "" {
		client()
		return
	}
	suite.Main(m)
}

var user = ctxabi.Ref{UID: uint32(os.Getuid())}

// patience is how long the commands of a test may take, which is a matter of the machine.
const patience = 5 * time.Minute

// host is a mount of a cluster that the test process serves. The process never touches it itself: commands do.
type host struct {
	t      testing.TB
	name   string
	dir    string // the mountpoint
	store  *session.Store
	engine *fake.Host
	node   *node.Node
}

// newCluster returns hosts on one fake cluster; each has the agent coder and its memory in sight.
func newCluster(t testing.TB, names ...string) (servers *fake.Servers, hosts []*host) {
	t.Helper()
	servers = fake.New()
	for _, name := range names {
		hosts = append(hosts, newHost(t, servers, name))
	}
	hosts[0].ok("mkdir -p $HOME_OF/agent/coder/memory")
	for _, h := range hosts[1:] {
		h.ok("mkdir -p $HOME_OF/agent/coder; ls -d $HOME_OF/agent/coder/memory")
	}
	return servers, hosts
}

func newHost(t testing.TB, servers *fake.Servers, name string) *host {
	t.Helper()
	dir := storesDir(t)
	h := &host{t: t, name: name, dir: filepath.Join(dir, "mnt"), engine: servers.Host(name)}
	h.node = node.New(node.Setup{Name: name, Cluster: "test", Engine: h.engine, Timeout: patience, Freshness: time.Second})
	var err error
	if h.store, err = session.Open(filepath.Join(dir, "store"), session.Options{Committer: h.node}); err != nil {
		t.Fatal(err)
	}
	if err := h.node.Attach(h.store); err != nil {
		t.Fatal(err)
	}
	packs, err := builder.NewBuilder(builder.Config{Budget: 32000})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	srv, err := ctxfs.Mount(context.Background(), ctxfs.Options{Store: h.store, Builder: packs, Mountpoint: h.dir, Cluster: h.node, Files: h.node.Files()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Shutdown(patience); err != nil {
			t.Error(err)
		}
		packs.Close()
		if err := h.node.Close(); err != nil {
			t.Error(err)
		}
		if err := h.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// storesDir returns a directory for a store and a mountpoint, in memory if there is such a disk.
func storesDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "ctxfs-files-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// sh runs a script in the mount and returns what it printed, and whether it succeeded.
func (h *host) sh(script string) (string, bool) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME_OF="+filepath.Join(h.dir, user.Owner()), "M="+filepath.Join(h.dir, user.Owner(), "agent/coder/memory"), "HOME=/nonexistent")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		h.t.Fatalf("host %s: the script hangs:\n%s\n%s", h.name, script, out.String())
	}
	return strings.TrimSpace(out.String()), err == nil
}

// ok runs a script that has to succeed.
func (h *host) ok(script string) string {
	h.t.Helper()
	out, ok := h.sh(script)
	if !ok {
		h.t.Fatalf("host %s: %s\nfailed:\n%s", h.name, script, out)
	}
	return out
}

// expect runs a script that has to print something.
func (h *host) expect(script, want string) {
	h.t.Helper()
	if got, _ := h.sh(script); got != strings.TrimSpace(want) {
		h.t.Errorf("host %s: %s\nprinted:\n%s\nwant:\n%s", h.name, script, got, want)
	}
}

// tree returns what hosts share as it is on the disk of a host, once it is up to date, below a directory of the
// memory, or all if that is "".
func (h *host) tree(t interface{ Fatal(args ...any) }, dir string) map[string]string {
	for range 2 { // what the first look has set aside, the second one commits
		if err := h.node.Keeper().Fresh(user, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]string{}
	root := filepath.Join(h.store.Dir(), user.Owner())
	from := root
	if dir != "" {
		from = filepath.Join(root, "agent/coder/memory", dir)
	}
	err := filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, file)
		if err != nil || !h.node.Files().Shared(user.Owner()+"/"+rel) {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprint(fi.Mode())
		switch {
		case fi.Mode().IsRegular() && fi.Size() > 256<<10:
			return nil
		case fi.Mode().IsRegular():
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text += fmt.Sprint(" ", fi.ModTime().UnixNano(), " ", keeper.Hash(data))
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			text = "-> " + target
		case !fi.IsDir():
			return nil
		}
		all[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same compares what hosts show below a directory of the memory, all if it is "". It fails the test if hosts show other files, or files of another kind or content.
func same(t interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
}, dir string, hosts ...*host) {
	t.Helper()
	for range 2 { // what one host has set aside, the others see
		for _, h := range hosts {
			h.tree(t, dir)
		}
	}
	want := hosts[0].tree(t, dir)
	for _, h := range hosts[1:] {
		got := h.tree(t, dir)
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s is %q on host %s, and %q on host %s", name, text, hosts[0].name, got[name], h.name)
			}
		}
		for name, text := range got {
			if want[name] == "" {
				t.Errorf("%s is %q on host %s, and not on host %s", name, text, h.name, hosts[0].name)
			}
		}
	}
}

// path returns the path of a file in the memory of the agent, in the mount.
func (h *host) path(name string) string {
	return filepath.Join(h.dir, user.Owner(), "agent/coder/memory", name)
}
