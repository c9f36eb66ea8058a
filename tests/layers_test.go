package tests

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// layers maps each top-level folder to the folders that its packages may import. The table of
// packages in arrows_test.go is more exact; this one is the layout that CONTRIBUTING.md describes.
var layers = map[string][]string{
	// Contract and libraries.
	"ctxabi":   {},
	"internal": {"ctxabi", "session"}, // session: only for daemon and locate

	// Core.
	"session":  {"ctxabi", "internal"},
	"compress": {"ctxabi", "internal"},
	"search":   {"ctxabi", "internal", "session", "compress"},
	"pack":     {"ctxabi", "internal", "session", "compress", "search"},
	"run":      {"ctxabi", "internal", "session", "pack"},
	"gc":       {"ctxabi", "internal", "session", "pack", "search"},
	"fs":       {"ctxabi", "internal", "session", "compress", "search", "pack", "run", "gc"},

	// Around the core.
	"cluster": {"ctxabi", "internal", "session"},
	"agents":  {"ctxabi", "internal", "session", "compress", "search", "pack", "run", "gc"},
	"views":   {"ctxabi", "internal", "session", "compress", "search", "pack", "run", "gc"},
	"eval":    {"ctxabi", "internal", "session", "compress", "search", "pack", "run", "gc"},
}

// acrossLayers are the imports that the layout does not allow, each with its reason.
var acrossLayers = []string{
	"views/doctor fs/mountpoint", // doctor checks the directory below a mount
}

// wrongLayer reports whether a package must not import another one because of their folders. The
// packages named cli hold verbs. They may import all folders, but nothing except cmd and other
// packages named cli imports them. Nothing imports cmd.
func wrongLayer(from, to string) bool {
	above, _, _ := strings.Cut(from, "/")
	below, _, _ := strings.Cut(to, "/")
	verbs := above == "cmd" || path.Base(from) == "cli"
	switch {
	case path.Base(to) == "cli":
		return !verbs
	case above == below || above == "cmd":
		return false
	case verbs:
		return below == "cmd"
	}
	return !slices.Contains(layers[above], below) && !slices.Contains(acrossLayers, from+" "+to)
}

func TestImportsFollowTheLayers(t *testing.T) {
	used := map[string]bool{}
	for from, all := range arrows {
		if outside(from) || strings.HasPrefix(from, "examples/") {
			continue
		}
		for _, to := range all {
			if wrongLayer(from, to) {
				t.Errorf("tests/arrows_test.go: %s must not import %s: the folder is not below it", from, to)
			}
			used[from+" "+to] = true
		}

		if folder, _, _ := strings.Cut(path.Clean(from), "/"); folder != "cmd" && layers[folder] == nil {
			t.Errorf("tests/layers_test.go has no row for the folder %s", folder)
		}
	}

	for _, exception := range acrossLayers {
		if !used[exception] {
			t.Errorf("tests/layers_test.go: remove the exception %q; this import no longer exists", exception)
		}
	}
}

func TestWrongLayer(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"session/log", "pack"}:           true,
		{"pack", "session/log"}:           false,
		{"ctxabi", "internal/vfs"}:        true,
		{"agents/hook", "fs"}:             true,
		{"session", "cmd/ctxfs"}:          true,
		{"cmd/ctxfs", "pack/builder"}:     false,
		{"views/doctor", "fs/mountpoint"}: false,
		{"views/web", "fs/mountpoint"}:    true,
		{"unknown", "session"}:            true,
	} {
		if got := wrongLayer(pair[0], pair[1]); got != want {
			t.Errorf("%s imports %s: wrong is %v, want %v", pair[0], pair[1], got, want)
		}
	}
}
