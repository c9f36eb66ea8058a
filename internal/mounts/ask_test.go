package mounts

import (
	"context"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Longer than any test waits where an answer comes, so that none passes by the deadline.
const long = 3 * time.Minute

// device returns a number that no mount has, for a socket of this test.
func device(t *testing.T) string {
	return fmt.Sprintf("test:%d:%x", os.Getpid(), crc32.ChecksumIEEE([]byte(t.Name())))
}

func self() string { return fmt.Sprint(os.Getuid()) }

// child makes the command of a child that prints what it is told.
func child(script string) func(Info) *exec.Cmd {
	return func(Info) *exec.Cmd { return exec.Command("sh", "-c", script) }
}

func noChild(t *testing.T) func(Info) *exec.Cmd {
	return func(i Info) *exec.Cmd {
		t.Errorf("%s is touched", i.Point)
		return exec.Command("false")
	}
}

// daemon listens as the daemon of a mount does.
func daemon(t *testing.T, answer string) Info {
	t.Helper()
	l, err := net.Listen("unix", socketName(device(t), "/store"))
	if err != nil {
		t.Fatal(err)
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() { serve(l, quit, []byte(answer)); close(done) }()
	t.Cleanup(func() { close(quit); <-done })
	return Info{Point: "/m", Source: "/store", Device: device(t), User: self()}
}

func TestADaemonAnswersOnItsSocketAndTheMountIsNotTouched(t *testing.T) {
	i := daemon(t, `{"version":"1.2.3","store":"/store"}`+"\n")
	m := Asker{Within: long, Touch: noChild(t)}.Ask(t.Context(), i)
	if want := (Mount{i, Answers, os.Getpid(), "1.2.3", long}); m != want {
		t.Errorf("got %+v, want %+v", m, want)
	}
	m = Asker{Within: long, Touch: child("echo 0; echo gone"), Both: true}.Ask(t.Context(), i)
	if m.State != Gone || m.Version != "1.2.3" {
		t.Errorf("with a mount that does not answer: %+v", m)
	}
}

func TestTheSocketOfAnotherUserOrStoreIsNotBelieved(t *testing.T) {
	i := daemon(t, `{"version":"1.2.3","store":"/store"}`+"\n")
	other, stranger := i, i
	other.Source, stranger.User = "/other", "4711"
	for _, i := range []Info{other, stranger} {
		if m := (Asker{Within: long, Touch: child("echo 0; echo gone")}).Ask(t.Context(), i); m.State != Gone || m.Version != "" || m.PID != 0 {
			t.Errorf("%+v", m)
		}
	}
}

func TestADaemonThatNeverAnswersIsSilentAtTheDeadline(t *testing.T) {
	l, err := net.Listen("unix", socketName(device(t), "/store"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	i := Info{Point: "/m", Source: "/store", Device: device(t), User: self()}
	m := Asker{Within: time.Millisecond, Touch: noChild(t)}.Ask(t.Context(), i)
	if m.State != Silent || m.PID != os.Getpid() && m.PID != 0 {
		t.Errorf("by its socket: %+v", m)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m := (Asker{Within: long, Touch: child("exec sleep 1000")}).Ask(ctx, i); m.State != Silent {
		t.Errorf("when nobody waits any more: %+v", m)
	}
}

func TestATouchThatHangsEndsAtTheDeadline(t *testing.T) {
	i := Info{Point: "/m", Device: device(t), User: self()}
	for script, want := range map[string]State{
		"echo 0; exec sleep 1000": Silent,
		"exec sleep 1000":         Silent,
	} {
		if m := (Asker{Within: 50 * time.Millisecond, Touch: child(script)}).Ask(t.Context(), i); m.State != want {
			t.Errorf("%q: %+v", script, m)
		}
	}
	for script, want := range map[string]State{
		"echo 0; echo answers": Answers,
		"echo 0; echo gone":    Gone,
		"echo 0; echo perhaps": Silent,
		"exit 1":               Silent,
	} {
		if m := (Asker{Within: long, Touch: child(script)}).Ask(t.Context(), i); m.State != want {
			t.Errorf("%q: %+v", script, m)
		}
	}
	if m := (Asker{Within: long, Touch: func(Info) *exec.Cmd { return exec.Command("/none") }}).Ask(t.Context(), i); m.State != Silent {
		t.Errorf("without a child: %+v", m)
	}
}

// A stopped process and one that was ended are told from one that is slow, without a wait.
func TestAStoppedAndAnEndedDaemonAreToldAtOnce(t *testing.T) {
	for state, signal := range map[State]string{Stopped: "STOP", Zombie: "KILL"} {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		if out, err := exec.Command("kill", "-"+signal, fmt.Sprint(pid)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for late := time.Now().Add(long); unable(pid) != state; time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("it never is %s", state)
			}
		}
		i := Info{Point: "/m", Device: device(t), User: self()}
		m := Asker{Within: long, Touch: child(fmt.Sprintf("echo %d; exec sleep 1000", pid))}.Ask(t.Context(), i)
		if m.State != state || m.PID != pid || m.Trouble() == "" || m.Remedy() == "" {
			t.Errorf("%+v: %s; %s", m, m.Trouble(), m.Remedy())
		}
		if got := Ended(pid); got != (state == Zombie) {
			t.Errorf("%s: ended %t", state, got)
		}
	}
}

func TestAllAreAskedAtOnce(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	if out, err := exec.Command("mkfifo", gate).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// One opens the FIFO to read, the other to write: neither goes on alone.
	touch := func(i Info) *exec.Cmd {
		return exec.Command("sh", "-c", "echo 0; : "+i.Point+" "+gate+"; echo answers")
	}
	found := Asker{Within: long, Touch: touch}.All(t.Context(), []Info{{Point: "<", Device: device(t) + "a"}, {Point: ">", Device: device(t) + "b"}})
	for n, m := range found {
		if m.State != Answers || m.Point != "<>"[n:n+1] {
			t.Errorf("%+v", m)
		}
	}
}

func TestTheSocketOfADaemonThatEndsIsWaitedFor(t *testing.T) {
	failed := func(err error) { t.Error(err) }
	i := Info{Point: "/m", Source: "/store", Device: device(t), User: self()}
	version := func() string {
		return Asker{Within: long, Touch: child("echo 0; echo gone")}.Ask(t.Context(), i).Version
	}
	stop := listen(socketName(i.Device, i.Source), []byte(`{"version":"old","store":"/store"}`), failed)
	if got := version(); got != "old" {
		t.Fatalf("the first is %q", got)
	}
	stopNew := listen(socketName(i.Device, i.Source), []byte(`{"version":"new","store":"/store"}`), failed)
	defer stopNew()
	stop()
	stop()
	for late := time.Now().Add(long); version() != "new"; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("the second never answers")
		}
	}
	listen(socketName(i.Device, i.Source), nil, failed)() // one that ends before it had its turn
	if _, err := Listen("/nowhere", "/store", "1", failed); err == nil {
		t.Error("what is not mounted is listened for")
	}
}

func TestStateOfReadsTheNameOfAnyProgram(t *testing.T) {
	for stat, want := range map[string]State{
		"1 (a) S 0 1 1 0 -1 4194560 1":                                         "",
		"1 (a) b) Z 0 1 1 0 -1 4194560 1":                                      Zombie,
		"1 (Z (T) R 0 1 1 0 -1 4194560 1":                                      "",
		"1 (a b c) T 0 1 1 0 -1 4194560 1":                                     Stopped,
		"1 (a) t 0 1 1 0 -1 4194560 1":                                         Stopped,
		"1 (a) D 0 1 1 0 -1 4194560" + strings.Repeat(" 0", 21) + " 256 0":     Zombie,
		"1 (a) D 0 1 1 0 -1 4194560" + strings.Repeat(" 0", 21) + " 16640 256": Zombie,
		"1 (a) T 0 1 1 0 -1 4194560" + strings.Repeat(" 0", 21) + " 128 256":   Stopped,
		"1 (a) D 0 1 1 0 -1 4194564 1":                                         Zombie,
		"":                                                                     "",
		strings.Repeat("x", 10):                                                "",
		"1 (a) S 0 1 1 0 -1 no-number 1":                                       "",
	} {
		if got := stateOf(stat); got != want {
			t.Errorf("%q: %q, want %q", stat, got, want)
		}
	}
}
