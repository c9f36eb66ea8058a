package harness

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// UI is a ctxfs ui that serves its page.
type UI struct {
	Origin  string // "http://127.0.0.1:8123"
	Entry   string // path of the file that opens the page
	Printed string // standard output up to the path of Entry
	PID     int

	end func()
}

// StartUI starts cmd, which runs ctxfs ui, and returns when the page is served. It fails the test if cmd
// ends before. The server ends with the test, or at [UI.End]. A context of cmd does not end it.
func StartUI(tb testing.TB, cmd *exec.Cmd) *UI {
	tb.Helper()
	cmd.Cancel = nil // End does it, in order
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	u := &UI{PID: cmd.Process.Pid}
	for u.Entry == "" && lines.Scan() {
		line := lines.Text()
		u.Printed += line + "\n"
		if rest, ok := strings.CutPrefix(line, "ctxfs ui: "); ok {
			u.Origin, _, _ = strings.Cut(rest, ",")
		}
		if strings.HasPrefix(line, "/") {
			u.Entry = line
		}
	}
	u.end = sync.OnceFunc(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		for lines.Scan() {
		}
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			tb.Errorf("ctxfs ui ended with %v and printed %q to standard error", err, stderr.String())
		}
		if _, err := os.Stat(u.Entry); err == nil {
			tb.Error("the file that opens the page is still there")
		}
	})
	tb.Cleanup(u.end)
	if !strings.HasPrefix(u.Origin, "http://127.0.0.1:") || u.Entry == "" {
		u.end()
		tb.Fatalf("ctxfs ui serves no page; it printed %q and, to standard error, %q", u.Printed, stderr.String())
	}
	return u
}

// End ends the server with SIGTERM. It fails the test unless the server ends with status 0, has printed
// nothing to standard error and has removed its Entry. Only the first call does anything.
func (u *UI) End() { u.end() }
