package sessiontest_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// left plays a script on many disks, cuts their power and says what was left of /d/a, or "-".
func left(t *testing.T, script func(d *sessiontest.Disk)) map[string]int {
	t.Helper()
	found := map[string]int{}
	for seed := range int64(200) {
		d := sessiontest.New()
		d.Mkdir("/d", 0o755)
		d.SyncDir("/")
		script(d)
		d.Crash(seed)
		found[read(d, "/d/a")]++
	}
	return found
}

func read(d *sessiontest.Disk, name string) string {
	f, err := d.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "-"
	}
	b := make([]byte, 100)
	n, _ := f.ReadAt(b, 0)
	return string(b[:n])
}

func write(d *sessiontest.Disk, name, data string, sync bool) {
	f, _ := d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	f.Write([]byte(data))
	if sync {
		f.Sync()
	}
}

func TestWhatIsSyncedSurvivesAPowerCut(t *testing.T) {
	found := left(t, func(d *sessiontest.Disk) {
		write(d, "/d/a", "safe", true)
		d.SyncDir("/d")
	})
	if found["safe"] != 200 {
		t.Errorf("left: %v", found)
	}
}

func TestWhatIsNotSyncedMayBeLost(t *testing.T) {
	found := left(t, func(d *sessiontest.Disk) {
		write(d, "/d/a", "safe", true)
		d.SyncDir("/d")
		write(d, "/d/a", "more", false)
	})
	half, zeros := 0, 0
	for content, n := range found {
		if !strings.HasPrefix(content, "safe") {
			t.Errorf("%d times %q", n, content)
		}
		if strings.Contains(content, "\x00") {
			zeros += n
		} else if len(content) > 4 && len(content) < 8 {
			half += n
		}
	}
	if found["safe"] == 0 || found["safemore"] == 0 || half == 0 || zeros == 0 {
		t.Errorf("some outcomes never happen: %v", found)
	}
}

func TestANameThatIsNotSyncedMayBeLost(t *testing.T) {
	found := left(t, func(d *sessiontest.Disk) { write(d, "/d/a", "data", true) })
	if found["-"] == 0 || found["data"] == 0 || len(found) != 2 {
		t.Errorf("left: %v", found)
	}
}

func TestARenameIsWhole(t *testing.T) {
	found := left(t, func(d *sessiontest.Disk) {
		write(d, "/d/a", "old", true)
		d.Mkdir("/tmp", 0o755)
		write(d, "/tmp/b", "new", true)
		for _, dir := range []string{"/d", "/", "/tmp"} {
			d.SyncDir(dir)
		}
		d.Rename("/tmp/b", "/d/a")
	})
	if found["old"] == 0 || found["new"] == 0 || len(found) != 2 {
		t.Errorf("left: %v", found)
	}
}

func TestAKilledProcessLosesNothingButItsHandles(t *testing.T) {
	d := sessiontest.New()
	f, _ := d.OpenFile("/a", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	f.Write([]byte("x"))
	if _, err := d.Lock("/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock("/a"); !errors.Is(err, ctxabi.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	d.Kill()
	if _, err := f.Write([]byte("y")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a dead process writes: %v", err)
	}
	if read(d, "/a") != "x" {
		t.Errorf("left: %q", read(d, "/a"))
	}
	if _, err := d.Lock("/a"); err != nil {
		t.Errorf("the lock of a dead process: %v", err)
	}
}

func TestFaultsHitWhereTheyAreTold(t *testing.T) {
	for _, c := range []struct {
		kind sessiontest.Kind
		want error
		left string
	}{
		{sessiontest.EIO, sessiontest.ErrDisk, "112"},
		{sessiontest.ENOSPC, ctxabi.ErrNoSpace, "112"},
		{sessiontest.Short, ctxabi.ErrNoSpace, "1122"},
		{sessiontest.Stopped, sessiontest.ErrDisk, "11"},
	} {
		d := sessiontest.New()
		f, _ := d.OpenFile("/a", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		d.Fail(sessiontest.Fault{Kind: c.kind, At: 2, Changes: true})
		_, first := f.Write([]byte("11"))
		n, err := f.Write([]byte("2222"))
		f.Write([]byte("2"))
		d.Heal()
		if first != nil || !errors.Is(err, c.want) || read(d, "/a") != c.left {
			t.Errorf("kind %d: %v, then %d, %v; left %q, want %q", c.kind, first, n, err, read(d, "/a"), c.left)
		}
	}
}
