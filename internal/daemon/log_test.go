package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestJournalGetsPrioritiesAndNoTimes(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(newJournalHandler(&out, slog.LevelDebug))
	log.Debug("d")
	log.Info("serving", "mountpoint", "/ctx", "level", "mine is kept below a group")
	log.With("session", "s1").WithGroup("g").Warn("two\nlines", "time", 3)
	log.Error("e")
	want := `<7>msg=d
<6>msg=serving mountpoint=/ctx
<4>msg="two\nlines" session=s1 g.time=3
<3>msg=e
`
	if out.String() != want {
		t.Errorf("the journal gets\n%swant\n%s", out.String(), want)
	}
	out.Reset()
	slog.New(newJournalHandler(&out, slog.LevelWarn)).Info("quiet")
	if out.Len() > 0 {
		t.Errorf("a record below the level is written: %s", out.String())
	}
}

// The helper logs to a file named by its first argument until three files were
// full, and then panics.
func init() {
	harness.Helper("log-much", func(args []string) int {
		var d Log
		log := slog.New(d.Handler(slog.LevelInfo))
		if err := d.ToFile(args[0], true); err != nil {
			fmt.Println(err)
			return 1
		}
		text := strings.Repeat("x", 1<<16)
		for i := range 3 * mostLog / len(text) {
			log.Info(text, "i", i)
		}
		panic("the last words")
	})
	// This one says where it believes to log.
	harness.Helper("log-journal", func(args []string) int {
		d := Log{Background: args[0] == "background"}
		slog.New(d.Handler(slog.LevelInfo)).Warn("hello")
		return 0
	})
}

func TestLogFileIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ctxfs.log")
	out, err := harness.HelperProcess("log-much", name).CombinedOutput()
	if err == nil {
		t.Errorf("the helper did not panic: %s", out)
	}
	last, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(olderLog(name))
	if err != nil {
		t.Fatal(err)
	}
	if len(last) > mostLog+1<<17 || len(older) > mostLog || len(older) < mostLog/2 {
		t.Errorf("the log has %d bytes and the one before it %d, at most %d are wanted", len(last), len(older), mostLog)
	}
	if !bytes.Contains(last, []byte("the last words")) || len(out) > 0 {
		t.Errorf("the panic is not in the log; printed: %s", out)
	}
	all, err := filepath.Glob(filepath.Join(filepath.Dir(name), "*"))
	if err != nil || len(all) != 2 {
		t.Errorf("there are %q", all)
	}
}

// A store that had another owner may have anything under the name of the log: root would have written into what a link there leads to.
func TestALogThatIsNotTheDaemonsOwnIsMovedAside(t *testing.T) {
	for what, plant := range map[string]func(name, other string) error{
		"a link":          func(name, other string) error { return os.Symlink(other, name) },
		"a second name":   func(name, other string) error { return os.Link(other, name) },
		"a dangling link": func(name, other string) error { return os.Symlink(other+"-is-not-there", name) },
		"a FIFO":          func(name, other string) error { return unix.Mkfifo(name, 0o600) },
		"a directory":     func(name, other string) error { return os.Mkdir(name, 0o700) },
	} {
		dir := t.TempDir()
		other, name := filepath.Join(dir, "passwd"), filepath.Join(dir, "ctxfs.log")
		if err := errors.Join(os.WriteFile(other, []byte("root"), 0o600), plant(name, other)); err != nil {
			t.Fatal(err)
		}
		file, err := openOwn(name)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		fmt.Fprint(file, "log")
		file.Close()
		if b, err := os.ReadFile(other); err != nil || string(b) != "root" {
			t.Errorf("%s: the other file holds %q, %v", what, b, err)
		}
		if fi, err := os.Lstat(name); err != nil || !fi.Mode().IsRegular() || fi.Size() != 3 {
			t.Errorf("%s: the log is %v, %v", what, fi, err)
		}
		if _, err := os.Lstat(other + "-is-not-there"); err == nil {
			t.Errorf("%s: what it led to was made", what)
		}
		if file, err = openOwn(name); err != nil {
			t.Errorf("%s: once more: %v", what, err)
		}
		file.Close()
	}
}

// JOURNAL_STREAM is inherited by who has standard error redirected, too.
func TestJournalIsKnownByItsStream(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(w.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	for i, ino := range []uint64{st.Ino, st.Ino + 1, st.Ino} {
		cmd := harness.HelperProcess("log-journal", []string{"foreground", "foreground", "background"}[i])
		cmd.Stderr = w
		cmd.Env = append(cmd.Env, fmt.Sprintf("JOURNAL_STREAM=%d:%d", st.Dev, ino))
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			w.Close()
		}
	}
	got, _ := io.ReadAll(r)
	lines := strings.Split(string(got), "\n")
	text := regexp.MustCompile(`^time=\S+ level=WARN msg=hello$`)
	if len(lines) != 4 || lines[0] != "<4>msg=hello" || !text.MatchString(lines[1]) || !text.MatchString(lines[2]) {
		t.Errorf("the journal, another stream and a daemon that is to log to a file get %q", lines)
	}
}
