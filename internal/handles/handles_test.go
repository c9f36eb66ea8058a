package handles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSharesLeaveDescriptorsToWorkWith(t *testing.T) {
	for _, c := range []struct{ limit, idle, keepable int }{
		{16, 32, 1}, {64, 32, 32}, {256, 128, 192}, {1024, 512, 768}, {20_000, 1024, 19_744}, {1 << 20, 1024, 1<<20 - 256},
	} {
		if idle, keepable := Shares(c.limit); idle != c.idle || keepable != c.keepable {
			t.Errorf("of %d descriptors %d are idle and %d kept, want %d and %d", c.limit, idle, keepable, c.idle, c.keepable)
		}
	}
}

func TestOpenMakesOthersGiveWay(t *testing.T) {
	taken := 3
	defer OnShortage(func() int {
		taken--
		return 1
	})()
	n, err := Open(func() (int, error) {
		if taken > 0 {
			return 0, &fs.PathError{Op: "open", Path: "x", Err: ErrShort}
		}
		return 7, nil
	})
	if n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

func TestOpenReturnsTheErrorWhenNothingIsGivenUp(t *testing.T) {
	calls := 0
	err := Do(func() error { calls++; return ErrShort })
	if !errors.Is(err, ErrShort) || calls != waits+1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	calls = 0
	if err := Do(func() error { calls++; return fs.ErrNotExist }); !errors.Is(err, fs.ErrNotExist) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestNobodyIsAskedAfterStop(t *testing.T) {
	stop := OnShortage(func() int { t.Error("asked"); return 0 })
	stop()
	if n := giveUp(); n != 0 {
		t.Errorf("%d were given up", n)
	}
}

func TestWhatIsShort(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	_, kernel := os.Open("/")
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	for err, want := range map[error]bool{
		nil: false, ErrShort: true, kernel: true, fs.ErrNotExist: false,
		errors.New("too many open files in system"):        true, // what the other of the two says
		fmt.Errorf("look: %w", kernel):                     true,
		fmt.Errorf("look: %w", errors.New("no such file")): false,
	} {
		if IsShort(err) != want {
			t.Errorf("IsShort(%v) is %v", err, !want)
		}
	}
}

func TestMoreThanClientsMayKeepIsRefusedUntilOneIsReleased(t *testing.T) {
	defer func(f func() int) { limit = f }(limit)
	limit = func() int { return 64 }
	var all []func()
	for i := range Keepable() {
		release, err := Keep(uint32(i))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, release)
	}
	if _, err := Keep(1000); !errors.Is(err, ErrShort) {
		t.Errorf("one more: %v", err)
	}
	all[0]()
	all[0]() // counts once
	release, err := Keep(1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Keep(1000); err == nil {
		t.Error("a release counted twice")
	}
	for _, release := range append(all[1:], release) {
		release()
	}
}

func TestOneUserLeavesHalf(t *testing.T) {
	defer func(f func() int, s bool) { limit, shared = f, s }(limit, shared)
	limit = func() int { return 64 }
	take := func(uid uint32) (n int) {
		for {
			release, err := Keep(uid)
			if err != nil {
				if !IsShort(err) {
					t.Error(err)
				}
				return n
			}
			t.Cleanup(release)
			n++
		}
	}
	shared = true
	var got []int
	for uid := range uint32(5) {
		got = append(got, take(uid))
	}
	if all := Keepable(); got[0] != all/2 || got[1] != all/4 || got[4] == 0 {
		t.Errorf("of %d descriptors, users one after another get %v", all, got)
	}
	shared = false
	if n := take(0); n != Keepable()-(got[0]+got[1]+got[2]+got[3]+got[4]) {
		t.Errorf("the only user of a mount gets %d more", n)
	}
}
