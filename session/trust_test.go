package session_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

func TestTrustIsChecked(t *testing.T) {
	dir := t.TempDir() + "/store"
	store, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	row := `{"path":"home/1/agent/a/context.yaml","sha256":"` + strings.Repeat("0", 64) + `"}` + "\n"
	if err := store.SetTrust(uid, gid, []byte(row)); err != nil {
		t.Fatal(err)
	}
	if err := store.SetTrust(uid, gid, []byte("no\n")); !errors.Is(err, ctxabi.ErrMalformed) {
		t.Errorf("a bad row: %v", err)
	}
	if got, err := store.Trust(uid); err != nil || string(got) != row {
		t.Errorf("%q %v", got, err)
	}
	if fi, err := store.TrustInfo(uid); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", fi, err)
	}
	if err := store.SetTrust(uid, gid, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Trust(uid); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
