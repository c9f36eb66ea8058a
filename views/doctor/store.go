package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/fs/mountpoint"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/session"
)

// Below this much room in the store, doctor warns.
const (
	fewBytes  = 1 << 30
	fewInodes = 10_000
)

func checkStore(dir string) []Finding {
	store := Finding{Check: "store", State: OK, Text: dir}
	room := dir
	if _, err := os.Stat(filepath.Join(dir, session.StoreFile)); err != nil {
		for room != "/" { // the nearest directory that exists decides whether it can be made
			if st, err := os.Stat(room); err == nil && st.IsDir() {
				break
			}
			room = filepath.Dir(room)
		}
		store.State, store.Text = Note, dir+" does not exist yet; the first mount makes it"
	} else if s, err := session.Open(dir, session.Options{ReadOnly: true}); err != nil {
		store.State, store.Text = Missing, err.Error()
		store.Remedy = "serve it with a ctxfs that knows this format, or name another with --store"
	} else {
		s.Close()
	}
	if unix.Access(room, unix.W_OK|unix.X_OK) != nil {
		store.State, store.Text = Missing, room+" is not writable by you"
		store.Remedy = fmt.Sprintf("sudo chown %d %s   or name another with --store", os.Geteuid(), room)
	}
	if store.State == OK {
		store.Text += "; ctxfs fsck looks at every file of it"
	}
	d, held := daemon.Running(dir)
	found := []Finding{store, checkLock(dir, d, held), checkRoom(room)}
	if d.RunnerEnds > 0 {
		found = append(found, checkRunner(d))
	}
	return found
}

// checkRunner returns a note about a runner process that ended unexpectedly.
func checkRunner(d daemon.Info) Finding {
	const layout = "2006-01-02 15:04:05"
	return Finding{
		Check: "runner", State: Note,
		Text: fmt.Sprintf("the runner process of the daemon (pid %d) ended %d times since %s, the last time at %s; the daemon starts it again each time",
			d.PID, d.RunnerEnds, d.Started.Local().Format(layout), d.RunnerEnded.Local().Format(layout)),
		Remedy: `look for "the runner process ended" in the log of the daemon; "signal: killed" is often for want of memory: journalctl -k -g oom`,
	}
}

func checkLock(dir string, d daemon.Info, held bool) Finding {
	switch {
	case !held && daemon.Ended(dir) != "":
		return Finding{Check: "lock", State: Note, Text: "free; its last daemon has ended: " + daemon.Ended(dir), Remedy: "ctxfs mount serves it again"}
	case !held:
		return Finding{Check: "lock", State: OK, Text: "free"}
	case d.Mountpoint == "":
		return Finding{Check: "lock", State: Note, Text: fmt.Sprintf("held by pid %d", d.PID)}
	}
	return Finding{
		Check: "lock", State: Note,
		Text:   fmt.Sprintf("held by the daemon (pid %d) that serves %s since %s", d.PID, d.Mountpoint, d.Started.Local().Format("2006-01-02 15:04")),
		Remedy: "use that mount, or free the store with: ctxfs umount " + d.Mountpoint,
	}
}

func checkRoom(dir string) Finding {
	f := Finding{Check: "disk", State: OK}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		f.State, f.Text = Note, err.Error()
		return f
	}
	free := st.Bavail * uint64(st.Bsize)
	f.Text = fmt.Sprintf("%.1f GiB and %d inodes free", float64(free)/(1<<30), st.Ffree)
	if free < fewBytes || st.Files > 0 && st.Ffree < fewInodes {
		f.State, f.Remedy = Note, "make room: appends fail with ENOSPC when the disk is full"
	}
	return f
}

// checkMountpoint judges the directory that is to be mounted on.
func checkMountpoint(dir, store string) Finding {
	f := Finding{Check: "mountpoint", State: OK, Text: dir + " is an empty directory"}
	bad := func(text, remedy string) Finding {
		f.State, f.Text, f.Remedy = Missing, text, remedy
		return f
	}
	if i, rest, ok := mounts.At(dir); ok && rest == "" {
		f.State = Note
		m := thorough(i)[0]
		f.Text, f.Remedy = mountInWords(m)
		switch m.State {
		case mounts.Answers:
			f.Text = "a ctxfs answers at " + dir + " already"
		case mounts.Gone, mounts.Zombie:
			f.Remedy = "ctxfs mount " + dir + "   or only clear it: " + f.Remedy
		}
		return f
	} else if ok {
		return bad(dir+" lies inside the mount at "+i.Point, "choose another directory")
	}
	entries, err := os.ReadDir(dir)
	foreign := ""
	if err == nil {
		foreign, err = mountpoint.Foreign(dir)
	}
	switch {
	case locate.Inside(dir, store):
		return bad(dir+" lies inside the store", "choose a directory outside "+store)
	case locate.Inside(store, dir):
		return bad(dir+" contains the store", "choose another directory, or another --store")
	case os.IsNotExist(err):
		return bad(dir+" does not exist", "mkdir -p "+dir)
	case err != nil:
		return bad(err.Error(), "choose another directory")
	case foreign != "":
		return bad(fmt.Sprintf("%s is not empty (%s, ...)", dir, foreign), "choose an empty directory")
	}
	if len(entries) > 0 {
		f.Text = dir + " is a directory; the next mount moves what programs wrote there to the store"
	}
	if mountpoint.Protected(store) == dir {
		f.State, f.Text = Note, dir+" is protected against writes: a mount was there, and is expected back"
		f.Remedy = fmt.Sprintf("ctxfs mount --store %s %s   or end its use: ctxfs umount --store %[1]s %[2]s", word(store), word(dir))
	}
	return f
}

// checkMounts returns a finding for each ctxfs that is mounted now, apart from the one at except.
func checkMounts(except string) (found []Finding) {
	all, err := mounts.Ctxfs()
	if err != nil {
		return []Finding{{Check: "mounts", State: Note, Text: err.Error()}}
	}
	all = slices.DeleteFunc(all, func(i mounts.Info) bool { return i.Point == except })
	for _, m := range thorough(all...) {
		f := Finding{Check: "mounted", State: OK, Text: m.Point + " answers, from " + m.Source}
		if text, remedy := mountInWords(m); remedy != "" {
			f.State, f.Text, f.Remedy = Note, text, remedy
		}
		found = append(found, f)
	}
	return found
}

// thorough asks the daemons of mounts, and the mounts too.
func thorough(all ...mounts.Info) []mounts.Mount {
	a := daemon.Asker
	a.Both = true
	return a.All(context.Background(), all)
}

// mountInWords returns what is wrong with a mount and what to type; remedy is "" of one that answers.
func mountInWords(m mounts.Mount) (text, remedy string) {
	if m.State == mounts.Gone {
		return m.Point + " is a mount whose daemon is gone; the next mount repairs it", m.Remedy()
	}
	return m.Trouble(), m.Remedy()
}

// sessionHandles is how many descriptors a daemon has open of a session in use.
const sessionHandles = 4

// checkHandles holds the limit of open descriptors against the number of sessions in a store: that
// of the daemon that serves it, or that of one which would be started now.
func checkHandles(dir string) Finding {
	limit, whose := handles.Limit(), "a daemon that is started here"
	if d, held := daemon.Running(dir); held {
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

func judgeHandles(limit, sessions int, whose string) Finding {
	idle, keepable := handles.Shares(limit)
	f := Finding{Check: "descriptors", State: OK, Text: fmt.Sprintf("%s may have %d open", whose, limit)}
	if most, _ := handles.Shares(1 << 20); idle < min(sessions*sessionHandles, most) {
		f.State = Note
		f.Text += fmt.Sprintf(": of %d sessions it keeps %d at hand and opens the others anew each time, and clients may have %d files open", sessions, idle/sessionHandles, keepable)
		f.Remedy = "raise the hard limit: LimitNOFILE=20000 in the unit, ulimit -n 20000 in the shell, --ulimit nofile=20000:20000 for a container"
	}
	return f
}
