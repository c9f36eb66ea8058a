package fs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxfs/ctxfs/internal/beneath"
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("two users need a daemon that is root")
	}
}

func TestUsersDoNotSeeEachOther(t *testing.T) {
	needRoot(t)
	m := mountStore(t)
	m.sh(1234, `mkdir -p home/1234/agent/a/session/s; echo secret > home/1234/agent/a/notes; cat home/1234/agent/a/session/s/context/pack.md`)
	got := m.sh(2345, `
for p in home/1234 home/1234/agent home/1234/agent/a/notes home/1234/agent/a/session/s/messages.jsonl home/1234/agent/a/session/s/context/pack.md home/1234/agent/a/session/s/context/line/1; do
  cat $p 2>&1 | grep -o 'Permission denied'; done
mkdir -p home/1234/agent/b 2>&1 | grep -o 'Permission denied'
grep -v '^store' status | grep -cE '(^|[^0-9])1234([^0-9]|$)'; ls home`) // the store's place and its id have digits of their own
	m.expect(got, `Permission denied
Permission denied
Permission denied
Permission denied
Permission denied
Permission denied
Permission denied
0
1234`)
}

func TestSpaceBelongsToItsGroup(t *testing.T) {
	needRoot(t)
	m := mountStore(t)
	if _, err := m.store.CreateSpace("team", 1234); err != nil {
		t.Fatal(err)
	}
	got := m.sh(1234, `umask 022; mkdir -p shared/team/agent/a/session/s; cd shared/team/agent/a; echo x > note; mkdir d; echo y > d/f
stat -c '%a %u %g' note d d/f session/s session/s/messages.jsonl session/s/context/pack.md`)
	m.expect(got, `660 1234 1234
2770 1234 1234
660 1234 1234
2770 1234 1234
660 1234 1234
440 1234 1234`)
	m.expect(m.sh(2345, `ls shared/team 2>&1 | grep -o 'Permission denied'`), "Permission denied")
}

// The daemon is root and the names are the user's: a link he plants leads it nowhere.
func TestPlantedLinkIsNotFollowedByTheDaemon(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	root, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, open := range []func(int, string, int, uint32) (int, error){beneath.Open, beneath.Walk} {
		for _, p := range []string{"d/secret", "f", "../" + filepath.Base(dir) + "/f", ".."} {
			if fd, err := open(int(root.Fd()), p, os.O_RDONLY, 0); err == nil {
				os.NewFile(uintptr(fd), p).Close()
				t.Errorf("%s was opened", p)
			}
		}
	}
}
