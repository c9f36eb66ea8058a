package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/source"
)

// Users that nothing else belongs to, another run of these tests included: one
// that commands of root's daemon run as, where one kills all it can, and one
// that has a daemon of its own.
var (
	other = 1<<20 + 2*os.Getpid()
	alone = other + 1
)

const searchPath = "PATH=/usr/local/bin:/usr/bin:/bin"

// mode is a way to run commands: who the daemon is, for whom, with namespaces or without.
type mode struct {
	name  string
	uid   int
	self  bool // the daemon runs as the same user
	plain bool
	run   func(t *testing.T, cmd source.Command) source.Output
}

// isolated reports whether a command cannot reach what watches over it.
func (m mode) isolated() bool { return !m.self || !m.plain }

// modes returns all ways that this test may try. Those without a namespace are
// never those of root, whose processes a test must not kill.
func modes(t *testing.T) []mode {
	t.Helper()
	own := func(uid int, plain bool) func(*testing.T, source.Command) source.Output {
		c := start(t)
		c.plain = plain
		return func(t *testing.T, cmd source.Command) source.Output {
			t.Helper()
			o, err := c.Run(t.Context(), uint32(uid), uint32(uid), cmd)
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
	}
	if uid := os.Getuid(); uid != 0 {
		return []mode{{"itself", uid, true, false, own(uid, false)}, {"itself without namespaces", uid, true, true, own(uid, true)}}
	}

	// Root runs commands for a user, for itself, and in a daemon of the user.
	return []mode{
		{"root for a user", other, false, false, own(other, false)},
		{"root for a user without namespaces", other, false, true, own(other, true)},
		{"root for root", 0, true, false, own(0, false)},
		{"a user for itself", alone, true, false, asUser(t, false)},
		{"a user for itself without namespaces", alone, true, true, asUser(t, true)},
	}
}

// asUser runs commands in a daemon that is a process of the user.
func asUser(t *testing.T, plain bool) func(*testing.T, source.Command) source.Output {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "generate", strconv.FormatBool(plain))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(alone), Gid: uint32(alone)}, Setsid: true}
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	in, out := json.NewEncoder(stdin), json.NewDecoder(stdout)
	return func(t *testing.T, cmd source.Command) (o source.Output) {
		t.Helper()
		if err := in.Encode(cmd); err != nil {
			t.Fatal(err)
		}
		if err := out.Decode(&o); err != nil {
			t.Fatal(err)
		}
		return o
	}
}

// generate is the daemon of asUser.
func generate(plain bool) {
	c, err := Start(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	c.plain = plain
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var cmd source.Command
		if err := in.Decode(&cmd); err == io.EOF {
			c.Close()
			return
		} else if err != nil {
			panic(err)
		}
		o, err := c.Run(context.Background(), uint32(os.Getuid()), uint32(os.Getgid()), cmd)
		if err != nil {
			panic(err)
		}
		out.Encode(o)
	}
}

var marks atomic.Int64

// marked returns a command of the shell whose processes carry a mark.
func marked(dir, script string) (cmd source.Command, mark string) {
	mark = fmt.Sprintf("CTXFS_TEST_MARK=%d.%d", os.Getpid(), marks.Add(1))
	return source.Command{Session: "s1", Args: []string{"sh", "-c", script}, Env: []string{searchPath, mark}, Dir: dir, Timeout: long}, mark
}

// bearers returns the processes that carry a mark and are not mere zombies.
func bearers(mark string) (pids []int) {
	for _, pid := range processes() {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if bytes.Contains(env, []byte(mark+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// home returns a directory that belongs to a user and that everybody may enter.
func home(t *testing.T, uid int) string {
	t.Helper()
	dir := t.TempDir()
	if os.Getuid() != 0 {
		return dir
	}
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	return dir
}

// until waits for something to be so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(long); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", long, what)
		}
	}
}

func TestHostileCommandsEndWhole(t *testing.T) {
	const brief = 300 * time.Millisecond
	all := modes(t)
	if few := suite.Pick(t, true, false); few && len(all) > 2 { // each user, with namespaces and without
		all = []mode{all[0], all[2], all[4]}
	}
	for _, m := range all {
		for _, x := range []struct {
			name, script string
			timeout      time.Duration // 0: long
			data, failed string
			skip         bool
		}{
			{name: "hangs", script: `sleep 1000`, timeout: brief, failed: "timed out after 300ms"},
			{name: "leaves a daemon", script: `(setsid sh -c 'sleep 1000; :' >/dev/null 2>&1 </dev/null &); echo ok`, data: "ok\n"},
			{name: "leaves a daemon that holds its output", script: `setsid sleep 1000 & echo ok`, data: "ok\n"},
			{name: "leaves a daemon and hangs", script: `(setsid sleep 1000 &); sleep 1000`, timeout: brief, failed: "timed out after 300ms"},
			{name: "ignores signals", script: `trap '' TERM INT HUP QUIT; (trap '' TERM; sleep 1000); sleep 1000`, timeout: brief, failed: "timed out after 300ms"},
			{name: "floods standard output", script: `(setsid cat /dev/zero & cat /dev/zero)`, failed: "wrote more than 4 MiB"},
			{name: "writes a byte too much and ends", script: `head -c 4194305 /dev/zero`, failed: "wrote more than 4 MiB"},
			{name: "stops itself", script: `sleep 1000 & kill -STOP $$`, timeout: brief, failed: "timed out after 300ms"},
			{name: "stops what watches", script: `kill -STOP $PPID; echo ok`, data: "ok\n", skip: !m.isolated()},
			{name: "kills its parent", script: `for s in KILL TERM INT HUP QUIT USR1 ABRT; do kill -$s $PPID 2>/dev/null; done; echo ok`, data: "ok\n", skip: !m.isolated()},
			{name: "kills its parent, which is the same user", script: `setsid sleep 1000 & (setsid sleep 1000 &); kill -9 $PPID; sleep 1000`, failed: "what watched over it was killed", skip: m.isolated()},
			{name: "kills all", script: `sleep 1000 & kill -9 -1; echo ok`, data: "ok\n", skip: !m.isolated() || m.uid == 0},
			{name: "exits with a status", script: `echo lost; exit 3`, failed: "exit status 3"},
			{name: "kills itself", script: `kill -9 $$`, failed: "ended by signal: killed"},
			{name: "forks without end", script: `bomb() { bomb | bomb & }; bomb; exec sleep 1000`, timeout: brief, failed: "timed out after 300ms"},
			{name: "starts too many", script: `i=0; while [ $i -lt 1500 ]; do sleep 1000 & i=$((i+1)); done; echo all`, failed: "exit status 2"},
			{name: "writes 5 GiB", script: `exec truncate -s 5G big`, failed: "ended by signal: file size limit exceeded"},
		} {
			if x.skip {
				continue
			}
			t.Run(m.name+"/"+x.name, func(t *testing.T) {
				cmd, mark := marked(home(t, m.uid), x.script)
				if x.timeout != 0 {
					cmd.Timeout = x.timeout
				}
				o := m.run(t, cmd)
				if left := bearers(mark); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
				if string(o.Data) != x.data || o.Failed != x.failed {
					t.Errorf("%d bytes %.100q, failed %q, want %q, %q; standard error %q", len(o.Data), o.Data, o.Failed, x.data, x.failed, o.Stderr)
				}
			})
		}
	}
}

func TestCommandSeesWhatItWasGiven(t *testing.T) {
	disposition(firstLibcSignal, 1) // as make leaves it
	defer disposition(firstLibcSignal, 0)
	for _, m := range modes(t) {
		t.Run(m.name, func(t *testing.T) {
			dir := home(t, m.uid)
			sh := func(script string) string {
				t.Helper()
				cmd, _ := marked(dir, script)
				o := m.run(t, cmd)
				if o.Failed != "" || o.Stderr != "" {
					t.Errorf("%s: %q, %q", script, o.Failed, o.Stderr)
				}
				return string(o.Data)
			}
			for script, want := range map[string]string{
				`pwd`: dir + "\n", `umask`: "0077\n", `id -u`: fmt.Sprintln(m.uid), `cat`: "", `ps -o sid= -p $$ >/dev/null; echo $?`: "0\n",
				`cat /proc/self/oom_score_adj`:                                        "500\n",
				`ls /proc/self/fd | tr '\n' ' '`:                                      "0 1 2 3 ", // the last is ls's own
				`echo a >/dev/stdout; echo b >&1`:                                     "a\nb\n",
				`[ "$(cut -d' ' -f6 /proc/self/stat)" = $$ ] && echo leads a session`: "leads a session\n",
			} {
				if got := sh(script); got != want {
					t.Errorf("%s: %q, want %q", script, got, want)
				}
			}
			m.checkStatus(t, sh(`cat /proc/self/status`))
			limits := strings.Fields(sh(`cat /proc/self/limits`))
			for _, want := range []string{"core file size 0 0", "open files 1024 1024", "file size 67108864 67108864", "data size 4294967296 4294967296"} {
				if !strings.Contains(strings.Join(limits, " "), want) {
					t.Errorf("no %q in %q", want, limits)
				}
			}

			cmd, _ := marked(dir, "")
			cmd.Args, cmd.Env = []string{"env"}, []string{searchPath, "A=b c", "ODD=\xff\n"}
			if o := m.run(t, cmd); string(o.Data) != searchPath+"\nA=b c\nODD=\xff\n\n" && !m.isJSON() {
				t.Errorf("environment %q, %+v", o.Data, o)
			}
			cmd, _ = marked(dir, "cat; cat /dev/stdin | wc -c; echo tail >/dev/stderr")
			cmd.Stdin = []byte("given\n")
			if o := m.run(t, cmd); string(o.Data) != "given\n6\n" || o.Stderr != "tail\n" || o.Failed != "" {
				t.Errorf("standard input: %+v", o)
			}
			cmd, _ = marked(dir, `head -c 10000000 /dev/zero | tr '\0' e >&2; echo end >&2; echo ok`)
			if o := m.run(t, cmd); string(o.Data) != "ok\n" || o.Stderr != strings.Repeat("e", 4092)+"end\n" {
				t.Errorf("flood of standard error: %d bytes, %+v", len(o.Stderr), o.Failed)
			}

			cmd, _ = marked(dir, "exit 1")
			if o, want := m.run(t, cmd), m.sandbox(); o.Sandbox != want {
				t.Errorf("sandbox %q, want %q", o.Sandbox, want)
			}
		})
	}
}

// checkStatus holds /proc/self/status of a command to its user, without groups, capabilities or signals held back.
func (m mode) checkStatus(t *testing.T, status string) {
	t.Helper()
	for _, want := range []string{
		fmt.Sprintf("\nUid:\t%[1]d\t%[1]d\t%[1]d\t%[1]d\n", m.uid), fmt.Sprintf("\nGid:\t%[1]d\t%[1]d\t%[1]d\t%[1]d\n", m.uid),
		"\nCapInh:\t0000000000000000\n", "\nCapPrm:\t0000000000000000\n", "\nCapEff:\t0000000000000000\n", "\nCapAmb:\t0000000000000000\n",
		"\nNoNewPrivs:\t1\n", "\nSigIgn:\t0000000000000000\n", "\nSigBlk:\t0000000000000000\n",
	} {
		if !strings.Contains(status, want) {
			t.Errorf("no %q in\n%s", want, status)
		}
	}
	if m.uid >= other && !strings.Contains(status, "\nGroups:\t \n") {
		t.Errorf("groups in\n%s", status)
	}
	if m.isolated() && !(m.self && m.plain) && !strings.Contains(status, "\nCapBnd:\t0000000000000000\n") {
		t.Errorf("a bounding set in\n%s", status)
	}
}

// sandbox returns how a run in this mode is confined, in the words of Output.Sandbox.
func (m mode) sandbox() string {
	words := fmt.Sprintf("uid %d, no capabilities, no_new_privs, rlimits", m.uid)
	if m.self && m.uid != 0 && !m.plain {
		words += ", user namespace"
	}
	if m.plain {
		words += ", no pid namespace"
	} else {
		words += ", pid namespace, own /proc"
	}
	if m.uid == 0 && !kernelHas(6, 14) {
		words += ", no limit of processes"
	}
	return words
}

// isJSON reports whether commands and outputs go through JSON, which does not hold every byte.
func (m mode) isJSON() bool { return m.uid == alone }
