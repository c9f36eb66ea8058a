package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// mount is a directory with these files below the calling user's home, as a mount shows them.
func mount(t *testing.T, files map[string]string) File {
	t.Helper()
	f := In(t.TempDir())
	for rel, text := range files {
		write(t, f, rel, text)
	}
	return f
}

func home(rel string) string {
	return filepath.Join("home", fmt.Sprint(os.Getuid()), "agent/coder", rel)
}

func write(t *testing.T, f File, rel, text string) {
	t.Helper()
	name := filepath.Join(f.Mount, home(rel))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, f File, want ...Row) {
	t.Helper()
	got, err := f.List()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("trusted are %q, %v; want %q", got, err, want)
	}
}

const (
	recipe = "packages/@acme/base/context.yaml"
	script = "packages/@acme/base/tools/map.sh"
	other  = "packages/@acme/more/context.yaml"
)

func TestTrustEndsWithAnEdit(t *testing.T) {
	f := mount(t, map[string]string{recipe: "a", script: "b"})
	expect(t, f)
	with := func(data []byte) ([]string, error) {
		if string(data) != "a" {
			t.Errorf("the content is %q", data)
		}
		return []string{home(script)}, nil
	}
	for _, want := range []bool{true, false} { // the second time nothing is new
		if added, err := f.Add(home(recipe), with); added != want || err != nil {
			t.Errorf("added %v, %v; want %v", added, err, want)
		}
	}
	expect(t, f, Row{home(recipe), "trusted"}, Row{home(script), "trusted"})
	write(t, f, recipe, "c")
	if err := os.Remove(filepath.Join(f.Mount, home(script))); err != nil {
		t.Fatal(err)
	}
	expect(t, f, Row{home(recipe), "changed"}, Row{home(script), "gone"})
	write(t, f, recipe, "a")
	expect(t, f, Row{home(recipe), "trusted"}, Row{home(script), "gone"})
}

func TestNothingIsTrustedThatWasNotSeen(t *testing.T) {
	f := mount(t, map[string]string{recipe: "a"})
	if added, err := f.Add(home(recipe), func([]byte) ([]string, error) {
		write(t, f, recipe, "another")
		return nil, nil
	}); added || !errors.Is(err, ErrChanged) {
		t.Errorf("a file that changed meanwhile: %v, %v", added, err)
	}
	refused := errors.New("mistakes")
	if added, err := f.Add(home(recipe), func([]byte) ([]string, error) { return nil, refused }); added || !errors.Is(err, refused) {
		t.Errorf("a recipe with mistakes: %v, %v", added, err)
	}
	if added, err := f.Add(home(other), func([]byte) ([]string, error) { return nil, nil }); added || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v, %v", added, err)
	}
	expect(t, f)
}

func TestTheTrustInAPackageIsRevokedWhole(t *testing.T) {
	f := mount(t, map[string]string{recipe: "a", script: "b", other: "c"})
	if _, err := f.Add(home(recipe), func([]byte) ([]string, error) { return []string{home(script)}, nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(home(other), func([]byte) ([]string, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if revoked, err := f.Revoke(home(recipe)); revoked != want || err != nil {
			t.Errorf("revoked %v, %v; want %v", revoked, err, want)
		}
		expect(t, f, Row{home(other), "trusted"})
	}
	if revoked, err := f.Revoke(home(other)); !revoked || err != nil {
		t.Errorf("the last row: %v, %v", revoked, err)
	}
	expect(t, f)
}
