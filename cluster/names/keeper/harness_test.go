package keeper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

func TestMain(m *testing.M) { suite.Main(m) }

var (
	user    = ctxabi.Ref{UID: uint32(os.Getuid())}
	asOwner = disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
)

// tester is a test, or a case of a random one.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// host is a host with a store and a keeper, which may be killed.
type host struct {
	name   string
	dir    string
	engine *fake.Host
	store  *session.Store
	k      *Keeper
	open   map[string]bool // files that somebody has changed and not closed
}

// committer has names committed by a keeper, and all else as a store does that is alone.
type committer struct {
	log.Committer
	k *Keeper
}

func (c committer) CommitChange(_ context.Context, x *session.Session, n session.Change) error {
	return x.Apply(n)
}

func (c committer) CommitName(ctx context.Context, s *session.Store, n session.NameChange) error {
	return c.k.CommitName(ctx, s, n)
}

// storesDir returns a directory for stores, in memory if there is such a disk.
func storesDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "ctxfs-keeper-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newHost(t tester, servers *fake.Servers, dir, name string) *host {
	h := &host{name: name, dir: filepath.Join(dir, name), engine: servers.Host(name), open: map[string]bool{}}
	h.start(t)
	return h
}

// start opens the store of a host, as a daemon does.
func (h *host) start(t tester) {
	t.Helper()
	h.k = New(Options{Engine: h.engine, Host: h.name, Timeout: time.Minute, Changing: func(name string) bool { return h.open[name] }})
	var err error
	if h.store, err = session.Open(h.dir, session.Options{Committer: committer{session.Local(), h.k}}); err != nil {
		t.Fatal(err)
	}
	if err := h.k.Attach(h.store); err != nil {
		t.Fatal(err)
	}
}

// kill ends the daemon without a word, and starts it again.
func (h *host) kill(t tester) {
	t.Helper()
	h.k.disk.close()
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	h.start(t)
}

func (h *host) enter(t tester) {
	t.Helper()
	if err := h.k.Enter(context.Background(), user); err != nil {
		t.Fatalf("host %s: %v", h.name, err)
	}
}

// file returns the path of an owner's file on the disk.
func (h *host) file(name string) string { return filepath.Join(h.dir, user.Owner(), name) }

// put writes a file past the keeper, as a user does who has not closed it.
func (h *host) put(t tester, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.file(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o640)
	if name == ctxabi.TrustFile {
		mode = 0o600
	}
	if err := os.WriteFile(h.file(name), []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// close commits a file that was written here over content with a hash, and returns the path that it has then.
func (h *host) close(t tester, name, base string) (string, error) {
	f, data, ok, err := h.k.Read(user, name)
	if err != nil || !ok {
		t.Fatalf("%s is shared: %v, %v", name, ok, err)
	}
	f.Base = base
	return h.k.WriteFile(context.Background(), user, f, data)
}

// save writes a file and closes it.
func (h *host) save(t tester, name, content string) {
	t.Helper()
	var base string
	h.k.View(user, func(s *names.State) { n, _ := s.Node(name); base = n.Hash })
	h.put(t, name, content)
	if kept, err := h.close(t, name, base); err != nil || kept != name {
		t.Fatalf("%s is kept as %s: %v", name, kept, err)
	}
}

func (h *host) commit(t tester, op names.Op) {
	t.Helper()
	if _, err := h.k.Commit(context.Background(), user, op, nil); err != nil {
		t.Fatalf("%+v: %v", op, err)
	}
}

func (h *host) create(t tester, agent, name string) *session.Session {
	t.Helper()
	ref := user
	ref.Agent, ref.Session = agent, name
	x, err := h.store.Create(ref, asOwner)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// shown returns what a host has of the user on its disk: ids of sessions by their paths, and what is shared of
// files by theirs.
func (h *host) shown(t tester) map[string]string {
	t.Helper()
	all := map[string]string{}
	root := filepath.Join(h.dir, user.Owner())
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		parts := strings.Split(rel, "/")
		if len(parts) == 4 && parts[0] == ctxabi.AgentDir && parts[2] == ctxabi.SessionDir {
			id, err := os.ReadFile(filepath.Join(p, ".ctxfs/id"))
			all[rel] = "session " + strings.TrimSpace(string(id))
			if err != nil {
				return err
			}
			return fs.SkipDir
		}
		if len(parts) == 2 && parts[0] == ctxabi.AgentDir {
			all[rel] = "agent"
		}
		if strings.Contains(rel, ".ctxfs-new-") || strings.Contains(rel, movingMark) {
			all[rel] = "rubbish"
		}
		if names.Shared(names.SubjectOf(user), rel) {
			n, _, ok, err := h.k.disk.read(filepath.Join(user.Owner(), rel))
			if err != nil || !ok {
				return fmt.Errorf("%s: %v, %w", rel, ok, err)
			}
			all[rel] = describe(n)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// describe returns what counts of a node.
func describe(n names.Node) string {
	if n.Kind != names.Regular {
		n.MTime = 0
	}
	n.UID, n.GID = 0, 0
	return fmt.Sprintf("%+v", n)
}

// wanted returns what hosts are to show, as a host reads the journal that knows nothing else.
func wanted(t tester, servers *fake.Servers) map[string]string {
	t.Helper()
	all := map[string]string{}
	r := names.NewReplica(servers.Host("reader"), "reader", names.SubjectOf(user), names.Options{})
	if err := r.CatchUp(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.View(func(s *names.State) {
		for _, name := range s.Agents() {
			all[names.HomePath(name)] = "agent"
		}
		for _, x := range s.Sessions("") {
			all[names.HomePath(x.Ref.Agent, ctxabi.SessionDir, x.Ref.Session)] = "session " + x.ID
		}
		for _, name := range s.Paths() {
			n, _ := s.Node(name)
			all[name] = describe(n)
		}
	})
	return all
}

// same fails the test if a host does not show what is wanted, or shows more.
func same(t tester, servers *fake.Servers, hosts ...*host) {
	t.Helper()
	compare(t, wanted(t, servers), hosts, func(string) bool { return false })
}

// compare fails the test if a host does not show what is wanted, or shows more that may not be its own.
func compare(t tester, want map[string]string, hosts []*host, mayBe func(name string) bool) {
	t.Helper()
	for _, h := range hosts {
		got := h.shown(t)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got[name] != want[name] {
				t.Errorf("host %s shows %s as %q, want %q", h.name, name, got[name], want[name])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(got)) {
			if want[name] == "" && !mayBe(name) {
				t.Errorf("host %s shows %s: %q", h.name, name, got[name])
			}
		}
	}
}

func mkdir(name string) names.Op {
	return names.ChangeLink{Link: names.Link{Op: names.Mkdir, Path: name, Mode: 0o750, UID: asOwner.UID, GID: asOwner.GID, MTime: 1}}
}

func rename(agent, name, toAgent, toName string) names.Op {
	return names.RenameName{Agent: agent, Session: name, ToAgent: toAgent, ToSession: toName}
}
