package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

// testServer is one PostgreSQL server in a temporary directory, which only its socket reaches.
type testServer struct {
	t    *testing.T
	bin  string
	dir  string // has the socket, too
	cred *syscall.Credential
}

// binaries returns the directory with the programs of the newest PostgreSQL.
func binaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

func version(bin string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	return n
}

// newServer prepares a server that is not running. PostgreSQL refuses to run as root.
func newServer(t *testing.T) *testServer {
	t.Helper()
	s := &testServer{t: t, bin: binaries()}
	if s.bin == "" {
		t.Fatal("this test needs PostgreSQL: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("", "ctxfs-pg-") // short: the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s.dir = dir

	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		s.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *testServer) data() string { return filepath.Join(s.dir, "data") }

// command returns a command that runs as the user of the server.
func (s *testServer) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Setpgid: true}
	return cmd
}

func (s *testServer) run(name string, args ...string) {
	s.t.Helper()
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// start starts the server and waits until it answers.
func (s *testServer) start(settings ...string) {
	s.t.Helper()
	options := []string{
		"listen_addresses=", "unix_socket_directories=" + s.dir, "shared_buffers=16MB", "max_connections=40",
	}
	args := []string{"-D", s.data(), "-w", "-t", "60", "-l", filepath.Join(s.dir, "log"), "start", "-o"}
	var list strings.Builder
	for _, o := range append(options, settings...) {
		fmt.Fprintf(&list, "-c '%s' ", o)
	}
	s.run("pg_ctl", append(args, list.String())...)
}

// stop ends the server at once, as a crash does.
func (s *testServer) stop() {
	s.command("pg_ctl", "-D", s.data(), "-m", "immediate", "-w", "stop").Run()
}

// url returns the connection settings of a role.
func (s *testServer) url(role string) string {
	return fmt.Sprintf("host=%s user=%s dbname=ctx", s.dir, role)
}

// primary returns a running server with the schema, the host roles host_a and host_b for the owner
// u1, and the role host_c for the owner u2.
func primary(t *testing.T, settings ...string) *testServer {
	t.Helper()
	s := newServer(t)
	s.run("initdb", "-D", s.data(), "-A", "trust", "-U", "root", "-E", "UTF8", "--no-locale", "-N")
	s.start(settings...)
	t.Cleanup(s.stop)

	ctx := context.Background()
	root, err := pgx.Connect(ctx, fmt.Sprintf("host=%s user=root dbname=postgres", s.dir))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close(ctx)
	for _, statement := range []string{
		"create role admin login", "create role host_a login", "create role host_b login", "create role host_c login",
		"create database ctx owner admin",
	} {
		if _, err := root.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if had, err := Migrate(ctx, Options{URL: s.url("admin")}); err != nil || had != 0 {
		t.Fatalf("migrate: %d, %v", had, err)
	}
	for role, owner := range map[string]string{"host_a": "u1", "host_b": "u1", "host_c": "u2"} {
		if err := Grant(ctx, Options{URL: s.url("admin")}, role, owner); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// open returns the store of a host.
func (s *testServer) open(t *testing.T, role string) *Store {
	t.Helper()
	store, err := Connect(context.Background(), Options{URL: s.url(role), Host: role, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}
