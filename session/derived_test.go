package session_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestDerivedContentIsKept(t *testing.T) {
	dir := t.TempDir()
	s, x := sessiontest.Session(t, dir, session.Options{})
	for _, data := range []string{"", "one", "two\n", "{}"} {
		for _, name := range []string{"recipe.json", "outputs/a", "outputs/b"} {
			if err := x.SetDerived(name, []byte(data)); err != nil {
				t.Fatal(err)
			}
			if got, err := x.Derived(name); err != nil || string(got) != data {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
	if names := x.DerivedNames("outputs"); !slices.Equal(names, []string{"outputs/a", "outputs/b"}) {
		t.Errorf("names %q", names)
	}
	if fi, err := os.Stat(filepath.Join(x.Dir(), ".ctxfs/outputs/a")); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
	s.Close()
	_, x = sessiontest.Session(t, dir, session.Options{ReadOnly: true})
	if got, err := x.Derived("recipe.json"); err != nil || string(got) != "{}" {
		t.Errorf("after a restart: %q, %v", got, err)
	}
	if err := errors.Join(x.SetDerived("recipe.json", nil), x.RemoveDerived("recipe.json")); !errors.Is(err, ctxabi.ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
}

func TestDerivedContentThatIsRemovedOrDamagedIsAbsent(t *testing.T) {
	_, x := sessiontest.Session(t, t.TempDir(), session.Options{})
	absent := func(why string) {
		t.Helper()
		if got, err := x.Derived("recipe.json"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", why, got, err)
		}
	}
	absent("never there")
	if err := x.RemoveDerived("recipe.json"); err != nil {
		t.Errorf("nothing to remove: %v", err)
	}
	if err := x.SetDerived("recipe.json", []byte("some content")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(x.Dir(), ".ctxfs/recipe.json")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		torn := append(bytes.Clone(whole[:n]), make([]byte, (len(whole)-n)*(n%2))...) // shorter, or ending in zeros
		if err := os.WriteFile(file, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		absent("torn")
	}
	if err := os.WriteFile(file, append(whole, 'x'), 0o600); err != nil {
		t.Fatal(err)
	}
	absent("longer")
	if err := x.RemoveDerived("recipe.json"); err != nil {
		t.Fatal(err)
	}
	absent("removed")
}

func TestDerivedNamesStayInTheInternalDirectory(t *testing.T) {
	_, x := sessiontest.Session(t, t.TempDir(), session.Options{})
	for _, name := range []string{"", ".", "..", "../messages.jsonl", "/etc/passwd", "a/../../b", "a/b/c", "a//b", "a/"} {
		_, read := x.Derived(name)
		for _, err := range []error{read, x.SetDerived(name, nil), x.RemoveDerived(name)} {
			if !errors.Is(err, ctxabi.ErrMalformed) {
				t.Errorf("%q: %v", name, err)
			}
		}
		if x.DerivedNames(name) != nil {
			t.Errorf("%q is listed", name)
		}
	}
}

// What a power cut leaves is the content before, the content after, or nothing.
func TestAPowerCutTearsNoDerivedContent(t *testing.T) {
	seen := map[string]bool{}
	for seed := range int64(200) {
		d := sessiontest.New()
		s, x := sessiontest.Session(t, "/store", session.Options{VFS: d})
		x.SetDerived("recipe.json", []byte("before, and much longer"))
		if seed%2 == 0 {
			s.Sync()
			d.SyncDir(x.Dir() + "/.ctxfs")
		}
		x.SetDerived("recipe.json", []byte("after"))
		d.Crash(seed)
		s.Close()
		_, x = sessiontest.Session(t, "/store", session.Options{VFS: d})
		got, err := x.Derived("recipe.json")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			seen["nothing"] = true
		case err != nil, string(got) != "after" && string(got) != "before, and much longer":
			t.Fatalf("seed %d: %q, %v", seed, got, err)
		default:
			seen[string(got)] = true
		}
	}
	if !seen["nothing"] {
		t.Error("no power cut lost anything")
	}
}

func TestAFullDiskKeepsTheDerivedContentThatWasThere(t *testing.T) {
	d := sessiontest.New()
	_, x := sessiontest.Session(t, "/store", session.Options{VFS: d})
	if err := x.SetDerived("recipe.json", []byte("before")); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		d.Fail(sessiontest.Fault{At: n, Kind: sessiontest.ENOSPC})
		err := x.SetDerived("recipe.json", []byte("after"))
		hit, _ := d.Hit()
		d.Heal()
		if hit == 0 {
			return
		}
		if err == nil {
			continue // what failed was not needed
		}
		if got, err := x.Derived("recipe.json"); err != nil || string(got) != "before" {
			t.Fatalf("operation %d: %q, %v", n, got, err)
		}
	}
}
