package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/jobs"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// hold keeps imports into the session from going on, as an import that takes its time, until it is let go.
func (h *host) hold() (letGo func()) {
	h.t.Helper()
	f, err := os.Open(filepath.Join(h.dir(sessionID), "messages.jsonl"))
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.held = true
	h.t.Cleanup(func() { f.Close() })
	return func() {
		h.t.Helper()
		h.held = false
		f.Close()
	}
}

// hookOf runs a hook with a recorded input, and gives what it says on standard error.
func (h *host) hookOf(input string) (said string) {
	h.t.Helper()
	r := h.m.Run(h.t, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env, Argv: []string{harness.Binary(h.t), "hook"}, Stdin: strings.NewReader(h.input(input))})
	if r.Code != 0 {
		h.t.Errorf("%s: status %d", input, r.Code)
	}
	return r.Stderr
}

func (h *host) input(name string) string {
	h.t.Helper()
	recorded, err := os.ReadFile(filepath.Join("testdata/hooks", name+".json"))
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.NewReplacer("@TRANSCRIPT@", h.transcript, "@CWD@", h.project).Replace(string(recorded))
}

// importers are the processes that go on with imports of this host.
func (h *host) importers() (pids []int) {
	for pid, line := range harness.Processes("cmdline") {
		if args := strings.Split(string(line), "\x00"); len(args) > 2 && args[1] == "hook-import" && strings.HasPrefix(args[2], h.runtime) {
			pids = append(pids, pid)
		}
	}
	return pids
}

const goesOn = "the import of "

// A hook answers, though its import takes longer, and there is one import of a transcript, which has it all at its end.
func TestAnImportGoesOnBehindItsHook(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.fire("SessionStart", "session-start-startup")
	letGo := h.hold()
	h.say(8)
	h.fire("Stop", "stop")
	h.say(99)
	h.fire("PreCompact", "pre-compact-auto")
	h.fire("SessionEnd", "session-end")
	if pids := h.importers(); len(pids) != 1 {
		t.Errorf("%d processes import one transcript: %v", len(pids), pids)
	}
	if got := h.read("messages.jsonl") + h.read("state"); got != "active\n" {
		t.Errorf("while the import is held up: %q", got)
	}
	wants(t, "what the next session is told", h.fire("SessionStart", "session-start-clear"), goesOn+h.transcript)
	letGo()
	h.settled()
	if n := len(harness.Lines(t, h.read("messages.jsonl"))); n != 12 || h.read("state") != "done\n" {
		t.Errorf("%d messages of 12, and state is %q", n, h.read("state"))
	}
	if got := h.fire("SessionStart", "session-start-clear"); strings.Contains(got, goesOn) {
		t.Errorf("the import is done, and the next session is told:\n%s", got)
	}
	harness.Eventually(t, "the process to end", func() bool { return len(h.importers()) == 0 })
}

// Where no job can be noted, as in a full directory for such files, the hook imports itself.
func TestAHookRecordsWhereNoJobCanBeNoted(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.fire("SessionStart", "session-start-startup")
	t.Setenv("XDG_RUNTIME_DIR", h.runtime)
	all, err := jobs.Open()
	if err == nil {
		key := jobs.Job{Session: h.dir(sessionID), Transcript: h.transcript}.Key()
		err = os.Mkdir(filepath.Join(all.Path(), key+".json"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.say(99)
	if said := h.hookOf("session-end"); said != "" {
		t.Errorf("the hook says %q", said)
	}
	if n := len(harness.Lines(t, h.read("messages.jsonl"))); n != 12 || h.read("state") != "done\n" {
		t.Errorf("%d messages of 12, and state is %q", n, h.read("state"))
	}
}

// What an import that was under way would have ended is taken up again.
func TestAnImportDoesNotEndASessionThatBeganAgain(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.fire("SessionStart", "session-start-startup")
	letGo := h.hold()
	h.say(99)
	h.fire("SessionEnd", "session-end")
	wants(t, "what the session is told that begins again", h.fire("SessionStart", "session-start-resume"), goesOn+h.transcript)
	letGo()
	h.settled()
	says(t, "state", h.read("state"), "active\n")
}

// Programs end their hooks, and whom these started, when they end themselves.
func TestAnImportOutlivesTheProcessGroupOfItsHook(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.fire("SessionStart", "session-start-startup")
	letGo := h.hold()
	h.say(99)
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	cmd := m.Command(ctx, harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env,
		Argv: []string{"sh", "-c", `"$1" hook --timeout 10m; echo ended`, "sh", harness.Binary(t)}, Stdin: strings.NewReader(h.input("session-end"))})
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the import to begin, and to be nobody's child", func() bool {
		pids := h.importers()
		if len(pids) != 1 {
			return false
		}
		group, err := unix.Getpgid(parentOf(t, pids[0]))
		return err == nil && group != cmd.Process.Pid
	})
	if err := unix.Kill(-cmd.Process.Pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	letGo()
	h.settled()
	if n := len(harness.Lines(t, h.read("messages.jsonl"))); n != 12 || h.read("state") != "done\n" {
		t.Errorf("%d messages of 12, and state is %q", n, h.read("state"))
	}
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var parent int
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	fmt.Sscan(fields[1], &parent)
	return parent
}

// What goes wrong behind a hook the next one says, in a line, once.
func TestTheNextHookSaysWhatWentWrong(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.fire("SessionStart", "session-start-startup")
	letGo := h.hold()
	h.say(99)
	h.fire("Stop", "stop")
	harness.Eventually(t, "the import to wait", func() bool { return len(h.importers()) == 1 })
	if err := unix.Setxattr(h.dir(sessionID), "user.ctx.remove", []byte(sessionID), 0); err != nil {
		t.Fatal(err)
	}
	letGo()
	harness.Eventually(t, "the import to end", func() bool { return len(h.importers()) == 0 })
	said := h.hookOf("session-start-clear")
	if !strings.HasPrefix(said, "ctxfs hook: "+h.transcript+": ") || strings.Count(said, "\n") != 1 {
		t.Errorf("the next hook says %q", said)
	}
	says(t, "the one after that", h.hookOf("session-start-clear"), "")
	h.settled()
}

// An import that was killed is taken up by the next session.
func TestAnImportThatWasKilledIsTakenUpAgain(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	h.fire("SessionStart", "session-start-startup")
	letGo := h.hold()
	h.say(99)
	h.fire("SessionEnd", "session-end")
	pids := h.importers()
	if len(pids) != 1 {
		t.Fatalf("the importers are %v", pids)
	}
	if err := unix.Kill(pids[0], unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "it to end", func() bool { return len(h.importers()) == 0 })
	letGo()
	h.hookOf("session-start-clear")
	h.settled()
	if n := len(harness.Lines(t, h.read("messages.jsonl"))); n != 12 || h.read("state") != "done\n" {
		t.Errorf("%d messages of 12, and state is %q", n, h.read("state"))
	}
}

// Hooks, import --all and import --follow bring one transcript at once: it is one session, and has no record twice.
func TestAllThatImportAtOnceKeepEachRecordOnce(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	h := newHost(t, m)
	kept := filepath.Join(h.project, "kept/projects/-home-me-gateway")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	h.transcript = filepath.Join(kept, sessionID+".jsonl")
	importer := func(args ...string) harness.Client {
		return harness.Client{UID: harness.Self(), Dir: h.project, Env: h.env,
			Argv: append([]string{harness.Binary(t), "import", "--quiet", "--all"}, append(args, filepath.Dir(kept))...)}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	follower := m.Command(ctx, importer("--follow"))
	follower.Cancel = func() error { return follower.Process.Signal(os.Interrupt) }
	var said strings.Builder
	follower.Stdout, follower.Stderr = &said, &said
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	k := &talk{h: h}
	const turns = 8
	for i := range turns {
		k.ask(fmt.Sprintf("question %d", i))
		k.record("assistant", map[string]any{"message": map[string]any{"id": fmt.Sprint("msg_", i), "type": "message", "role": "assistant",
			"content": []any{map[string]any{"type": "text", "text": fmt.Sprintf("answer %d", i)}}}})
		var at sync.WaitGroup
		for _, hook := range []string{"stop", "pre-compact-auto", "session-end"} {
			at.Go(func() {
				if said := h.hookOf(hook); said != "" {
					t.Errorf("%s: %s", hook, said)
				}
			})
		}
		at.Go(func() { m.Run(t, importer()).OK() })
		at.Wait()
	}
	h.settled()
	once := func(when string) {
		t.Helper()
		all := h.read("messages.jsonl")
		if n := len(harness.Lines(t, all)); n != 2*turns {
			t.Errorf("%d messages of %d, %s", n, 2*turns, when)
		}
		for i := range turns {
			for _, text := range []string{fmt.Sprintf(`"question %d"`, i), fmt.Sprintf(`"answer %d"`, i)} {
				if n := strings.Count(all, text); n != 1 {
					t.Errorf("%s is there %d times, %s", text, n, when)
				}
			}
		}
	}
	once("when the hooks are done")
	cancel()
	if err := follower.Wait(); err != nil && follower.ProcessState.ExitCode() != 0 {
		t.Errorf("the follower: %v: %s", err, &said)
	}
	m.Run(t, importer()).OK()
	once("when all is over")
	sessions, err := os.ReadDir(filepath.Dir(h.dir(sessionID)))
	if err != nil || len(sessions) != 1 {
		t.Errorf("the sessions are %v, %v", sessions, err)
	}
}
