package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
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
