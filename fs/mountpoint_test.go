package fs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrepareSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	at := func(p ...string) string { return filepath.Join(append([]string{dir}, p...)...) }
	for _, d := range []string{"store/mnt", "empty", "full/x", "outer/store"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("store", "mnt"), at("link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ store, mnt, want string }{
		{at("store"), "relative", "not an absolute path"},
		{at("store"), at("missing"), "mkdir -p"},
		{at("store"), at("file"), "not a directory"},
		{at("store"), at("full"), "not empty"},
		{at("store"), at("store"), "same directory"},
		{at("store"), at("store", "mnt"), "inside the store"},
		{at("store"), at("link"), "inside the store"},
		{at("outer", "store"), at("outer"), "inside the mountpoint"},
		{at("store"), "/proc", "busy"},
	} {
		err := prepare(c.store, c.mnt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("prepare(%s, %s) = %v, want it to say %q", c.store, c.mnt, err, c.want)
		}
	}
	if err := prepare(at("store"), at("empty")); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
}
