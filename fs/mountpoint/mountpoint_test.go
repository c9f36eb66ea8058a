package mountpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
		_, err := Prepare(c.store, c.mnt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Prepare(%s, %s) = %v, want it to say %q", c.store, c.mnt, err, c.want)
		}
	}
	bare, err := Prepare(at("store"), at("empty"))
	if err != nil {
		t.Fatalf("an empty directory: %v", err)
	}
	bare.Close()
}

func TestUnmountErrorTellsWhatFusermountSaid(t *testing.T) {
	failed := errors.New("exit status 1")
	for text, want := range map[string]error{
		"fusermount3: failed to unmount /m: Device or resource busy":                syscall.EBUSY,
		"fusermount3: entry for /m not found in /etc/mtab":                          syscall.EINVAL,
		"fusermount3: failed to unmount /m: Invalid argument":                       syscall.EINVAL,
		"fusermount3: bad mount point /m: No such file or directory":                syscall.ENOENT,
		"/usr/bin/fusermount3: failed to open /etc/mtab: No such file or directory": failed,
		"fusermount3: something new":                                                failed,
	} {
		if err := unmountError(text, failed); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
