package daemon

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// The helper holds the lock of a store until its input ends.
func init() {
	harness.Helper("hold-store", func(args []string) int {
		s, err := session.Open(args[0], session.Options{})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer s.Close()
		fmt.Println("held")
		io.Copy(io.Discard, os.Stdin)
		return 0
	})
}

// umount --stop and --force would have ended the daemon of another store, the first file of whose disk has the same number.
func TestTheHolderOfAnotherDisksStoreIsNotTaken(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	type store struct {
		dir string
		pid int
		end func()
	}
	var stores []store
	inodes := map[uint64]bool{}
	for range 2 {
		disk := t.TempDir()
		if err := unix.Mount("disk", disk, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
		dir := filepath.Join(disk, "store")
		cmd := harness.HelperProcess("hold-store", dir)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := sync.OnceFunc(func() {
			in.Close()
			cmd.Wait()
		})
		t.Cleanup(end)
		if said, err := bufio.NewReader(out).ReadString('\n'); said != "held\n" {
			t.Fatalf("the helper says %q, %v", said, err)
		}
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(dir, session.StoreFile), &st); err != nil {
			t.Fatal(err)
		}
		inodes[st.Ino] = true
		stores = append(stores, store{dir, cmd.Process.Pid, end})
	}
	if len(inodes) != 1 {
		t.Skipf("this kernel numbers the files of all tmpfs together: %v", inodes)
	}
	for _, s := range stores {
		if pid, held := LockHolder(s.dir); !held || pid != s.pid {
			t.Errorf("the lock of %s is held by %d, %t; want %d", s.dir, pid, held, s.pid)
		}
	}
	stores[0].end()
	if pid, held := LockHolder(stores[0].dir); held {
		t.Errorf("the lock that nobody has is held by %d", pid)
	}
	if pid, held := LockHolder(stores[1].dir); !held || pid != stores[1].pid {
		t.Errorf("the other lock is held by %d, %t", pid, held)
	}
}

// Where a machine has more locks than fit into a page of /proc/locks, a daemon was now and then not found: umount did not wait
// for it, and pack did not know its settings.
func TestADaemonIsFoundAmongManyLocksThatComeAndGo(t *testing.T) {
	dir := t.TempDir()
	s, err := session.Open(filepath.Join(dir, "store"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := (Info{PID: os.Getpid(), Store: filepath.Join(dir, "store")}).Write(); err != nil {
		t.Fatal(err)
	}
	var others []*os.File
	for i := range 150 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		others = append(others, f)
	}
	quit := make(chan struct{})
	var wg sync.WaitGroup
	for n := range runtime.NumCPU() { // each processor has a list of its own, and the table is all of them
		wg.Go(func() {
			for how := unix.LOCK_UN; ; how ^= unix.LOCK_UN ^ unix.LOCK_EX {
				select {
				case <-quit:
					return
				default:
				}
				for i := n; i < len(others); i += runtime.NumCPU() {
					unix.Flock(int(others[i].Fd()), how)
				}
			}
		})
	}
	look := func(how string) {
		t.Helper()
		if pid, held := LockHolder(filepath.Join(dir, "store")); !held || pid != os.Getpid() {
			t.Errorf("%s: the lock is held by %d, %t", how, pid, held)
		}
	}
	for range 40 {
		look("by its note, while others come and go")
	}
	close(quit)
	wg.Wait()
	if err := os.Remove(filepath.Join(dir, "store", session.DaemonFile)); err != nil {
		t.Fatal(err)
	}
	look("without a note")
}

func TestParseLock(t *testing.T) {
	for _, tt := range []struct {
		line  string
		pid   int
		inode uint64
		ok    bool
	}{
		{"1: FLOCK  ADVISORY  WRITE 633 08:01:393305 0 EOF", 633, 393305, true},
		{"12: FLOCK  ADVISORY  WRITE -1 fe:00:7 0 EOF", 0, 7, true},
		{"1: -> FLOCK  ADVISORY  WRITE 634 08:01:393305 0 EOF", 0, 0, false}, // waits only
		{"2: POSIX  ADVISORY  WRITE 633 08:01:393305 0 EOF", 0, 0, false},
		{"3: FLOCK  ADVISORY  READ 633 08:01:393305 0 EOF", 0, 0, false},
		{"", 0, 0, false},
	} {
		pid, inode, ok := parseLock(tt.line)
		if ok != tt.ok || ok && (pid != tt.pid || inode != tt.inode) {
			t.Errorf("%q: got %d %d %v", tt.line, pid, inode, ok)
		}
	}
}

func TestLockHolderFindsThisProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if _, held := LockHolder(dir); held {
		t.Error("a store that does not exist is held")
	}
	s, err := session.Open(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if pid, held := LockHolder(dir); !held || pid != os.Getpid() {
		t.Errorf("got pid %d, held %v, want %d", pid, held, os.Getpid())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, held := LockHolder(dir); held {
		t.Error("the lock is held after Close")
	}
}
