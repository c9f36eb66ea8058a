package harness

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/suite"
)

// Main runs the tests of a package, or a helper of it (see [Helper]) when the
// process was started by [Command], as [suite.Main] does, and removes what the
// harness made.
func Main(m *testing.M) {
	if name := os.Getenv(helperEnv); name != "" {
		run, ok := helpers[name]
		if !ok {
			fmt.Fprintf(os.Stderr, "harness: no helper %q\n", name)
			os.Exit(2)
		}
		os.Exit(run(os.Args[1:]))
	}
	// Other users run the programs and enter the directories that tests make, whatever the umask of the tester.
	syscall.Umask(0o022)
	flag.Parse()
	stop := watchdog()
	code := suite.Wrap(m).Run()
	stop()
	for _, f := range atEnd {
		f()
	}
	if public.dir != "" {
		os.RemoveAll(public.dir)
	}
	os.Exit(code)
}

var atEnd []func()

// AtEnd has f called when all tests of the package have ended. It belongs in an init function.
func AtEnd(f func()) { atEnd = append(atEnd, f) }

// watchdog ends every daemon shortly before the test binary's own timeout
// would leave mounts behind, with the goroutines of the daemon in its log.
func watchdog() (stop func()) {
	f := flag.Lookup("test.timeout")
	if f == nil {
		return func() {}
	}
	d, err := time.ParseDuration(f.Value.String())
	if err != nil || d <= 30*time.Second {
		return func() {}
	}
	t := time.AfterFunc(d-20*time.Second, func() {
		fmt.Fprintln(os.Stderr, "harness: the tests are about to time out; ending all daemons")
		live.Range(func(k, _ any) bool { k.(*Mount).abort("the tests timed out"); return true })
	})
	return func() { t.Stop() }
}

// live holds every *Mount whose daemon may run.
var live sync.Map

// public is a directory that every user may enter, for binaries.
var public struct {
	once sync.Once
	dir  string
	err  error
}

func publicDir() (string, error) {
	public.once.Do(func() {
		if public.dir, public.err = os.MkdirTemp("", "ctxfs-test-bin-"); public.err == nil {
			public.err = os.Chmod(public.dir, 0o755)
		}
	})
	return public.dir, public.err
}

var build struct {
	once sync.Once
	bin  string
	err  error
}

// Binary is the path of the ctxfs binary under test, built at the first call.
// It has the race detector when the test has it.
func Binary(tb testing.TB) string {
	tb.Helper()
	build.once.Do(func() {
		if b := os.Getenv("CTXFS_BIN"); b != "" {
			build.bin, build.err = filepath.Abs(b)
			return
		}
		dir, err := publicDir()
		if err != nil {
			build.err = err
			return
		}
		build.bin = filepath.Join(dir, "ctxfs")
		args := []string{"build", "-o", build.bin}
		if raceEnabled {
			args = append(args, "-race")
		}
		cmd := exec.Command("go", append(args, "./cmd/ctxfs")...)
		cmd.Dir = Root()
		if out, err := cmd.CombinedOutput(); err != nil {
			build.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if build.err != nil {
		tb.Fatalf("no ctxfs binary: %v", build.err)
	}
	return build.bin
}

// Root is the root directory of the repository.
func Root() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			panic("harness: no go.mod above the test's directory")
		}
		dir = up
	}
}

// TestData returns the directory of real sessions: CTXFS_TESTDATA, or
// ../shared/data beside the repository. Without it the test is skipped.
func TestData(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("CTXFS_TESTDATA")
	if dir == "" {
		dir = filepath.Join(Root(), "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "sessions")); err != nil {
		tb.Skipf("no real sessions (set CTXFS_TESTDATA): %v", err)
	}
	return dir
}

// NeedRoot skips a test that must act as several users.
func NeedRoot(tb testing.TB) {
	tb.Helper()
	if os.Getuid() != 0 {
		tb.Skip("needs root: acts as several users")
	}
}

// large are programs that come with more than small packages: make test-matrix installs them.
var large = []string{"node", "npm"}

// Need skips a test whose client program is not installed, except where
// CTXFS_ALL_CLIENTS is set: there a missing program fails the test. A test that
// needs a program of large packages is one for the matrix (see [suite.Matrix]).
func Need(tb testing.TB, program string) {
	tb.Helper()
	if slices.Contains(large, program) {
		suite.Matrix(tb, "it needs "+program)
	}
	if lookPath(program) != "" {
		return
	}
	skip(tb, "%s is not installed", program)
}

// NeedFusermount skips a test of a user's own mount like [Need] where no user can mount.
func NeedFusermount(tb testing.TB) {
	tb.Helper()
	Need(tb, "fusermount3")
	name := lookPath("fusermount3")
	if st, err := os.Stat(name); err != nil || st.Mode()&os.ModeSetuid == 0 {
		skip(tb, "%s is not setuid root (%v)", name, err)
	}
}

// KnownUser is the first of some users, by name, whom the system knows: fusermount3 serves no others. A new machine may
// have none but those that every system has, such as nobody.
func KnownUser(tb testing.TB, names ...string) uint32 {
	tb.Helper()
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			tb.Fatal(err)
		}
		return uint32(uid)
	}
	tb.Fatalf("the system knows none of the users %q", names)
	return 0
}

// skip skips a test for what the machine lacks, or fails it where CTXFS_ALL_CLIENTS is set.
func skip(tb testing.TB, format string, args ...any) {
	tb.Helper()
	if os.Getenv("CTXFS_ALL_CLIENTS") != "" {
		tb.Fatalf(format, args...)
	}
	tb.Skipf(format, args...)
}

// lookPath finds a program as a client sees it, not as the tester's own PATH does.
func lookPath(program string) string {
	for _, dir := range strings.Split(clientPath, ":") {
		p := filepath.Join(dir, program)
		if fi, err := os.Stat(p); err == nil && fi.Mode()&0o111 != 0 && !fi.IsDir() {
			return p
		}
	}
	return ""
}
