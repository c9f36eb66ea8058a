package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/session"
)

func TestMapsTranslateTheLongestPrefix(t *testing.T) {
	f, err := parseMaps([]string{"/work=/home/me/p", "/work/deps=/srv/deps/", "/=/root"})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"/work":           "/home/me/p",
		"/work/a":         "/home/me/p/a",
		"/work/deps/x":    "/srv/deps/x",
		"/work/depsolver": "/home/me/p/depsolver",
		"/workshop":       "/root/workshop",
	} {
		if got := f(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
	if f, err := parseMaps(nil); f != nil || err != nil {
		t.Error("no maps give a translation")
	}
	for _, bad := range []string{"/work", "work=/x", "/work=x", ""} {
		if _, err := parseMaps([]string{bad}); exitCode(failure{err}) != exitUsage {
			t.Errorf("%q: got %v, want wrong usage", bad, err)
		}
	}
}

func TestFindSession(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	s, err := session.Open(store, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ref := ctxabi.Ref{UID: uint32(os.Getuid()), Agent: "coder", Session: "s1"}
	x, err := s.Create(ref, session.Owner{UID: ref.UID, GID: uint32(os.Getgid()), Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	dir := x.Dir()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{"coder/s1", ref.Path(), dir, dir + "/", dir + "/context/pinned", dir + "/messages.jsonl"} {
		at, err := findSession(arg, store)
		if err != nil || at.ref != ref || at.store != store {
			t.Errorf("%q: got %v, %v", arg, at, err)
		}
	}
	if at, err := findSession("shared/team/agent/a/session/b", store); err != nil || at.ref.Space != "team" {
		t.Errorf("a space's session: got %v, %v", at, err)
	}
	t.Chdir(filepath.Join(dir, "context"))
	for _, arg := range []string{".", "..", "./pinned"} {
		if at, err := findSession(arg, ""); err != nil || at.ref != ref || at.store != store {
			t.Errorf("%q from inside: got %v, %v", arg, at, err)
		}
	}
	for _, arg := range []string{"s1", "a/b/c", "home/x/agent/a/session/b", "/nowhere/at/all", store, ""} {
		if at, err := findSession(arg, store); exitCode(failure{err}) != exitUsage {
			t.Errorf("%q: got %v, %v, want wrong usage", arg, at, err)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{errors.New("from cobra"), exitUsage},
		{failure{errors.New("x")}, exitFailed},
		{failure{usagef("x")}, exitUsage},
		{failure{fmt.Errorf("open: %w", ctxabi.ErrLocked)}, exitBusy},
		{failure{fmt.Errorf("x: %w", daemon.BusyError{Err: errors.New("y")})}, exitBusy},
		{failure{silent{exitBusy}}, exitBusy},
	} {
		if got := exitCode(tt.err); got != tt.want {
			t.Errorf("%v: got %d, want %d", tt.err, got, tt.want)
		}
	}
}

// The background daemon gets its flags through args; a flag that is missing there is lost.
func TestDaemonGetsEveryFlag(t *testing.T) {
	f := mountFlags{
		store: "/s", budget: 7, encoding: "cl100k_base", maps: []string{"/a=/b"}, log: "/l", logLevel: "debug",
		fuseDebug: true, deadline: 5, mountpoint: "/m",
	}
	c := mountCmd()
	if err := c.ParseFlags(f.args()[1:]); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"store": "/s", "budget": "7", "encoding": "cl100k_base", "map": "[/a=/b]", "log": "/l", "log-level": "debug",
		"debug-fuse": "true", "shutdown-timeout": "5ns", "foreground": "true",
	} {
		if got := c.Flags().Lookup(name).Value.String(); got != want {
			t.Errorf("--%s is %q, want %q", name, got, want)
		}
	}
	if got := c.Flags().Args(); !slices.Equal(got, []string{"/m"}) {
		t.Errorf("arguments are %q", got)
	}
}
