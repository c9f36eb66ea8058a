package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// alone runs a command where no ctxfs is mounted but at some points: other mounts of the machine do not count.
const alone = `keep=" $1 "; user=$2; shift 2
awk '$3 == "fuse.ctxfs" { print $2 }' /proc/self/mounts | while read -r point; do
	case "$keep" in *" $point "*) ;; *) umount -l "$point" ;; esac
done
exec setpriv --reuid "$user" --regid "$user" --clear-groups "$@"`

type verb struct {
	args   string
	stdin  string
	user   string   // "": root
	points []string // nil: as the machine has it
	net    bool     // in a network of its own, as in a container: no daemon can be asked on its socket
	code   int
	out    []string // what it says, on whichever output
}

// run runs the binary. One that hangs is killed and fails the test.
func (v verb) run(t *testing.T) {
	t.Helper()
	argv := append([]string{harness.Binary(t)}, strings.Fields(v.args)...)
	if v.points != nil {
		user := v.user
		if user == "" {
			user = "0"
		}
		unshare := []string{"unshare"}
		if v.net {
			unshare = append(unshare, "--net")
		}
		argv = append(append(unshare, "--mount", "--propagation", "private", "sh", "-c", alone, "sh", strings.Join(v.points, " "), user), argv...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = strings.NewReader(v.stdin), &said, &said, "/"
	cmd.Env = []string{"PATH=" + harness.UserPath(t), "HOME=/nonexistent", "LANG=C.UTF-8"}
	cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("ctxfs %s hangs: %s", v.args, &said)
	}
	if code := cmd.ProcessState.ExitCode(); code != v.code {
		t.Errorf("ctxfs %s ends with %d, want %d: %s", v.args, code, v.code, &said)
	}
	for _, want := range v.out {
		if !strings.Contains(said.String(), want) {
			t.Errorf("ctxfs %s does not say %q: %s", v.args, want, &said)
		}
	}
}

const sessionStart = `{"hook_event_name":"SessionStart","session_id":"s1","cwd":"/tmp","source":"startup"}`

// One daemon that was stopped, of whomever, kept doctor, mcp, snippet and hook from their work with the other mount, for good.
func TestAMountThatHangsHoldsUpNoVerb(t *testing.T) {
	harness.NeedRoot(t)
	good, stopped := harness.Start(t, harness.Options{}), harness.Start(t, harness.Options{})
	pid := stopped.PID()
	// A shell stands in the mount that is about to hang.
	inside := exec.Command("sh", "-c", "read x; exec "+harness.Binary(t)+" snippet .")
	inside.Dir = stopped.Dir
	begin, err := inside.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var insideSaid bytes.Buffer
	inside.Stdout, inside.Stderr = &insideSaid, &insideSaid
	if err := inside.Start(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if stopped.PID() != 0 {
			unix.Kill(pid, unix.SIGCONT)
		}
		inside.Process.Kill()
		inside.Wait()
	})
	harness.Eventually(t, "the daemon to be stopped", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return strings.Contains(string(stat), ") T ")
	})
	// Nobody has looked into the mount before, so that no cache of the kernel has an answer.
	both, one := []string{good.Dir, stopped.Dir}, []string{stopped.Dir}
	named := fmt.Sprintf("the ctxfs at %s does not answer: its daemon (pid %d) is stopped", stopped.Dir, pid)
	hidden := filepath.Join(stopped.Dir, "home/0/agent/a/session/s")
	for _, v := range []verb{
		{args: "doctor", points: both, out: []string{named, fmt.Sprintf("kill -CONT %d", pid), good.Dir + " answers"}},
		{args: "doctor " + stopped.Dir, points: both, out: []string{named}},
		{args: "doctor", points: both, user: "65534", code: cli.ExitFailed, out: []string{named, good.Dir + " answers"}}, // it has no store
		{args: "doctor", points: both, net: true, out: []string{named, good.Dir + " answers"}},
		{args: "snippet", points: both, net: true, out: []string{named, good.Dir + "/home/0/agent/AGENT/session/SESSION"}},
		{args: "snippet", points: one, net: true, user: "65534", code: cli.ExitFailed, out: []string{"the ctxfs at " + stopped.Dir + " does not answer: its daemon"}},
		{args: "doctor --serving " + good.Dir, points: both},
		{args: "doctor --serving " + stopped.Dir, points: both, code: cli.ExitFailed, out: []string{named}},
		{args: "snippet", points: both, out: []string{named, good.Dir + "/home/0/agent/AGENT/session/SESSION"}},
		{args: "snippet", points: both, user: "65534", out: []string{named, good.Dir + "/home/65534/agent/AGENT"}},
		{args: "snippet", points: one, code: cli.ExitFailed, out: []string{named}},
		{args: "snippet --mount " + stopped.Dir, points: both, code: cli.ExitFailed, out: []string{named}},
		{args: "snippet " + hidden, points: both, code: cli.ExitFailed, out: []string{named}},
		{args: "mcp coder/s1", points: both, out: []string{named}},
		{args: "mcp coder/s1", points: one, code: cli.ExitFailed, out: []string{named}},
		{args: "hook", points: both, stdin: sessionStart, out: []string{named, good.Dir + "/home/0/agent/claude-code/session/s1"}},
		{args: "hook", points: one, stdin: sessionStart, out: []string{named}},
		{args: "hook --mount " + stopped.Dir, points: both, stdin: sessionStart, out: []string{named}},
		{args: "hook --program gemini", points: both, stdin: strings.ReplaceAll(sessionStart, "s1", "s2"), out: []string{named, good.Dir + "/home/0/agent/gemini/session/s2"}},
		{args: "hook", points: both, stdin: `{"hook_event_name":"Stop","session_id":"s1","transcript_path":"` + hidden + `/t.jsonl"}`, out: []string{named}},
		{args: "hook", points: both, stdin: `{"hook_event_name":"AfterAgent","session_id":"s2","transcript_path":"/nonexistent/session-1.json"}`, out: []string{named}},
		{args: "mcp", points: both, out: []string{named}},
		{args: "mcp --agent claude-code", points: one, code: cli.ExitFailed, out: []string{named}},
		{args: "session ls --store " + good.Store, points: both, out: []string{"agent/coder/session/s1"}},
		{args: "session ls --store " + stopped.Store, points: both},
		{args: "session ls", points: both, user: "65534", out: []string{named, "SESSION"}}, // nobody has a store
		{args: "session ls", points: one, user: "65534", code: cli.ExitFailed, out: []string{named}},
		{args: "session new --store " + stopped.Store + " a/s", points: both, code: cli.ExitFailed, out: []string{named}},
		{args: "search x --agent coder --store " + stopped.Store, points: both, code: cli.ExitFailed, out: []string{named}},
		{args: "stats " + hidden, points: both, code: cli.ExitFailed, out: []string{named}},
		{args: "trust --list", points: both, out: []string{named}},
		{args: "memory --agent coder", points: one, code: cli.ExitFailed, out: []string{named}},
		{args: "gc --store " + stopped.Store, points: both, code: cli.ExitFailed, out: []string{named}},
		{args: "mount --store " + t.TempDir() + " " + stopped.Dir, code: cli.ExitBusy, out: []string{named}},
		{args: "mount --store " + stopped.Store + " " + t.TempDir(), code: cli.ExitBusy, out: []string{named}},
		{args: "umount --dead " + stopped.Dir},
		{args: "umount " + stopped.Dir, code: cli.ExitBusy, out: []string{named, "umount --force " + stopped.Dir}},
		{args: "umount --stop " + stopped.Dir, code: cli.ExitBusy, out: []string{named}},
	} {
		v.run(t)
	}
	begin.Write([]byte("\n"))
	if err := inside.Wait(); err == nil || !strings.Contains(insideSaid.String(), named) {
		t.Errorf("in the mount itself: %v, %s", err, &insideSaid)
	}
	if !harness.Mounted(stopped.Dir) {
		t.Fatal("the mount that hangs was taken away, which nobody asked for")
	}
	good.Run(t, harness.Client{Argv: []string{"sh", "-c", `echo '{"role":"user","content":"hi"}' >> home/0/agent/coder/session/s1/messages.jsonl && cat home/0/agent/coder/session/s1/context/pack.md`}}).OK()
	verb{args: "umount " + good.Dir}.run(t)
	good.Restart()
	verb{args: "umount --force " + stopped.Dir}.run(t)
	stopped.Kill() // it has gone; the harness is told so
}

func init() {
	harness.Helper("never-answers", func(args []string) int {
		if _, _, err := mountWithoutAnswers(args[0], args[1]); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("mounted")
		select {}
	})
}

// A daemon that runs and does not answer delays a hook by its --mount-timeout, a second if nothing else is said.
func TestAHookIsHeldUpByAMountThatNeverAnswersForItsMountTimeoutAtMost(t *testing.T) {
	harness.NeedRoot(t)
	point := t.TempDir()
	cmd := harness.HelperProcess("never-answers", "/no/such/store", point)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		harness.AbortConnection(point)
		unix.Unmount(point, unix.MNT_DETACH)
		cmd.Process.Kill()
		cmd.Wait()
	}()
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "mounted\n" {
		t.Fatalf("the helper says %q, %v", said, err)
	}
	for _, v := range []verb{
		{args: "hook", out: []string{"gave no answer within 1s"}},
		{args: "hook --mount-timeout 30ms", out: []string{"gave no answer within 30ms"}},
		{args: "hook --mount " + point, out: []string{"gave no answer within 1s"}},
	} {
		v.stdin, v.points = sessionStart, []string{point}
		v.out = append(v.out, "the ctxfs at "+point+" does not answer")
		v.run(t)
	}
	// Several are asked at once, and the one that answers is used.
	good, another := harness.Start(t, harness.Options{}), t.TempDir()
	second := harness.HelperProcess("never-answers", "/no/such/other", another)
	if out, err = second.StdoutPipe(); err == nil {
		err = second.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		harness.AbortConnection(another)
		unix.Unmount(another, unix.MNT_DETACH)
		second.Process.Kill()
		second.Wait()
	}()
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "mounted\n" {
		t.Fatalf("the helper says %q, %v", said, err)
	}
	verb{args: "hook --timeout 10s", stdin: sessionStart, points: []string{good.Dir, point, another}, out: []string{
		"the ctxfs at " + point + " does not answer", "the ctxfs at " + another + " does not answer", "gave no answer within 1s", good.Dir + "/home/0/agent/claude-code/session/s1"}}.run(t)
	verb{args: "umount " + point, code: cli.ExitBusy, out: []string{"gave no answer within 5s", "umount --force"}}.run(t)
	verb{args: "umount --force " + point}.run(t)
	if _, rest, ok := mounts.At(point); ok && rest == "" {
		t.Error("it is still mounted")
	}
}
