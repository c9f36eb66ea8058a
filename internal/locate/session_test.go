package locate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/usage"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

func TestFindSession(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	s, err := session.Open(store, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ref := ctxabi.Ref{UID: uint32(os.Getuid()), Agent: "coder", Session: "s1"}
	x, err := s.Create(ref, disk.Owner{UID: ref.UID, GID: uint32(os.Getgid()), Mode: 0o700})
	if err != nil {
		t.Fatal(err)
	}
	dir := x.Dir()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{"coder/s1", ref.Path(), dir, dir + "/", dir + "/context/pinned", dir + "/messages.jsonl"} {
		at, err := Session(arg, store)
		if err != nil || at.Ref != ref || at.Store != store {
			t.Errorf("%q: got %v, %v", arg, at, err)
		}
	}
	if at, err := Session("shared/team/agent/a/session/b", store); err != nil || at.Ref.Space != "team" {
		t.Errorf("a space's session: got %v, %v", at, err)
	}
	t.Chdir(filepath.Join(dir, "context"))
	for _, arg := range []string{".", "..", "./pinned"} {
		if at, err := Session(arg, ""); err != nil || at.Ref != ref || at.Store != store {
			t.Errorf("%q from inside: got %v, %v", arg, at, err)
		}
	}
	for _, arg := range []string{"s1", "a/b/c", "home/x/agent/a/session/b", "/nowhere/at/all", store, ""} {
		if at, err := Session(arg, store); !errors.As(err, new(usage.Error)) {
			t.Errorf("%q: got %v, %v, want wrong usage", arg, at, err)
		}
	}
}
