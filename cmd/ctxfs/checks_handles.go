package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/session"
)

// sessionHandles is how many descriptors a daemon has open of a session in use.
const sessionHandles = 4

// checkHandles holds the limit of open descriptors against the number of sessions in a store: that of the daemon that serves it,
// or that of one which would be started now.
func checkHandles(dir string) finding {
	limit, whose := handles.Limit(), "a daemon that is started here"
	if d, held := runningDaemon(dir); held {
		if limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", d.PID)); err == nil {
			if n, ok := openFilesLimit(string(limits)); ok {
				limit, whose = n, "its daemon"
			}
		}
	}
	sessions := 0
	if s, err := session.Open(dir, session.Options{ReadOnly: true}); err == nil {
		for range s.Sessions() {
			sessions++
		}
		s.Close()
	}
	return judgeHandles(limit, sessions, whose)
}

// openFilesLimit reads the soft limit of open files from what /proc/<pid>/limits shows.
func openFilesLimit(limits string) (n int, ok bool) {
	for line := range strings.Lines(limits) {
		if rest, found := strings.CutPrefix(line, "Max open files"); found && len(strings.Fields(rest)) > 0 {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			return n, err == nil
		}
	}
	return 0, false
}

func judgeHandles(limit, sessions int, whose string) finding {
	idle, keepable := handles.Shares(limit)
	f := finding{Check: "descriptors", State: stateOK, Text: fmt.Sprintf("%s may have %d open", whose, limit)}
	if most, _ := handles.Shares(1 << 20); idle < min(sessions*sessionHandles, most) {
		f.State = stateNote
		f.Text += fmt.Sprintf(": of %d sessions it keeps %d at hand and opens the others anew each time, and clients may have %d files open", sessions, idle/sessionHandles, keepable)
		f.Remedy = "raise the hard limit: LimitNOFILE=20000 in the unit, ulimit -n 20000 in the shell, --ulimit nofile=20000:20000 for a container"
	}
	return f
}
