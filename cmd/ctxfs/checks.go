package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/session"
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // stateOK, stateNote or stateBad
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"` // what to type, exactly
}

const (
	stateOK   = "ok"
	stateNote = "note"    // works, but worth knowing
	stateBad  = "missing" // a mount will fail
)

// program is what a check of the machine has to know of the program that does it.
type program struct {
	version     string                                  // number and commit
	mountHelper string                                  // the name of the helper of mount(8)
	fstabLine   func(source, dir, options string) error // returns nil if that helper takes such a line of fstab
}

// examine checks everything that a mount of the store at mountpoint needs, and how the program p is tied into the machine.
// mountpoint is absolute, or "".
func examine(store, mountpoint string, p program) []finding {
	found := append(append(checkSystem(), checkStore(store)...), checkHandles(store))
	if mountpoint != "" {
		found = append(found, checkMountpoint(mountpoint, store))
	}
	found = append(found, checkMounts(mountpoint)...)
	return append(found, checkHost(thisHost(p), mountpoint)...)
}

// oldestKernel is the first one with all that the daemon asks for (pidfd_open).
const oldestKernel = "5.3"

// Below this much room in the store, doctor warns.
const (
	fewBytes  = 1 << 30
	fewInodes = 10_000
)

func checkSystem() []finding {
	found := []finding{checkKernel(kernelRelease()), checkDevFuse("/dev/fuse")}
	if os.Geteuid() == 0 {
		return append(found, checkSysAdmin())
	}
	return append(found, checkFusermount(), checkFuseConf("/etc/fuse.conf"))
}

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

func checkKernel(release string) finding {
	f := finding{Check: "kernel", State: stateOK, Text: "Linux " + release}
	if !kernelAtLeast(release, oldestKernel) {
		f.State, f.Text = stateBad, f.Text+" is older than "+oldestKernel
		f.Remedy = "run a newer kernel"
	}
	return f
}

// kernelAtLeast compares the first two numbers of a kernel release with want.
func kernelAtLeast(release, want string) bool {
	parse := func(s string) (major, minor int) {
		fmt.Sscanf(s, "%d.%d", &major, &minor)
		return
	}
	a, b := parse(release)
	x, y := parse(want)
	return a > x || a == x && b >= y
}

func checkDevFuse(name string) finding {
	f := finding{Check: "/dev/fuse", State: stateOK, Text: "present and usable"}
	st, err := os.Stat(name)
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		f.State, f.Text = stateBad, "missing"
		f.Remedy = "modprobe fuse   (in a container: start it with --device /dev/fuse --cap-add SYS_ADMIN)"
		return f
	}
	dev, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		f.State, f.Text = stateBad, err.Error()
		f.Remedy = "chmod 666 " + name + "   (in a container: start it with --device /dev/fuse)"
		return f
	}
	dev.Close()
	return f
}

func checkSysAdmin() finding {
	f := finding{Check: "privilege", State: stateOK, Text: "root with CAP_SYS_ADMIN: mounts directly and serves every user; fusermount3 is not needed"}
	status, _ := os.ReadFile("/proc/self/status")
	if !hasCapability(string(status), unix.CAP_SYS_ADMIN) {
		f.State, f.Text = stateBad, "root without CAP_SYS_ADMIN cannot mount"
		f.Remedy = "start the container with --cap-add SYS_ADMIN"
	}
	return f
}

// hasCapability looks for bit in the effective set that /proc/<pid>/status shows.
func hasCapability(status string, bit int) bool {
	for _, line := range strings.Split(status, "\n") {
		if set, ok := strings.CutPrefix(line, "CapEff:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
			return err == nil && n>>bit&1 == 1
		}
	}
	return false
}

func checkFusermount() finding {
	f := finding{Check: "fusermount3", State: stateOK}
	name, err := exec.LookPath("fusermount3")
	if err != nil {
		f.State, f.Text = stateBad, "missing; a user cannot mount without it"
		f.Remedy = "sudo apt-get install fuse3"
		return f
	}
	f.Text = name
	if st, err := os.Stat(name); err == nil && st.Mode()&os.ModeSetuid == 0 {
		f.State, f.Text = stateBad, name+" is not setuid root"
		f.Remedy = "sudo chmod u+s " + name
	}
	return f
}

// checkFuseConf is a note at most: a user's mount needs nothing of it.
func checkFuseConf(name string) finding {
	f := finding{Check: "fuse.conf", State: stateOK, Text: "user_allow_other is set"}
	b, _ := os.ReadFile(name)
	for _, line := range strings.Split(string(b), "\n") {
		if strings.TrimSpace(line) == "user_allow_other" {
			return f
		}
	}
	f.State = stateNote
	f.Text = "user_allow_other is not set in " + name + ": your mount is for you alone, which is all ctxfs asks for; to serve several users, mount as root"
	return f
}

func checkStore(dir string) []finding {
	store := finding{Check: "store", State: stateOK, Text: dir}
	room := dir
	if _, err := os.Stat(filepath.Join(dir, session.StoreFile)); err != nil {
		for room != "/" { // the nearest directory that exists decides whether it can be made
			if st, err := os.Stat(room); err == nil && st.IsDir() {
				break
			}
			room = filepath.Dir(room)
		}
		store.State, store.Text = stateNote, dir+" does not exist yet; the first mount makes it"
	} else if s, err := session.Open(dir, session.Options{ReadOnly: true}); err != nil {
		store.State, store.Text = stateBad, err.Error()
		store.Remedy = "serve it with a ctxfs that knows this format, or name another with --store"
	} else {
		s.Close()
	}
	if unix.Access(room, unix.W_OK|unix.X_OK) != nil {
		store.State, store.Text = stateBad, room+" is not writable by you"
		store.Remedy = fmt.Sprintf("sudo chown %d %s   or name another with --store", os.Geteuid(), room)
	}
	if store.State == stateOK {
		store.Text += "; ctxfs fsck looks at every file of it"
	}
	return []finding{store, checkLock(dir), checkRoom(room)}
}

func checkLock(dir string) finding {
	d, held := daemon.Running(dir)
	switch {
	case !held:
		return finding{Check: "lock", State: stateOK, Text: "free"}
	case d.Mountpoint == "":
		return finding{Check: "lock", State: stateNote, Text: fmt.Sprintf("held by pid %d", d.PID)}
	}
	return finding{
		Check: "lock", State: stateNote,
		Text:   fmt.Sprintf("held by the daemon (pid %d) that serves %s since %s", d.PID, d.Mountpoint, d.Started.Local().Format("2006-01-02 15:04")),
		Remedy: "use that mount, or free the store with: ctxfs umount " + d.Mountpoint,
	}
}

func checkRoom(dir string) finding {
	f := finding{Check: "disk", State: stateOK}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		f.State, f.Text = stateNote, err.Error()
		return f
	}
	free := st.Bavail * uint64(st.Bsize)
	f.Text = fmt.Sprintf("%.1f GiB and %d inodes free", float64(free)/(1<<30), st.Ffree)
	if free < fewBytes || st.Files > 0 && st.Ffree < fewInodes {
		f.State, f.Remedy = stateNote, "make room: appends fail with ENOSPC when the disk is full"
	}
	return f
}

// checkMountpoint judges the directory that is to be mounted on.
func checkMountpoint(dir, store string) finding {
	f := finding{Check: "mountpoint", State: stateOK, Text: dir + " is an empty directory"}
	bad := func(text, remedy string) finding {
		f.State, f.Text, f.Remedy = stateBad, text, remedy
		return f
	}
	if i, rest, ok := mounts.At(dir); ok && rest == "" {
		f.State = stateNote
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
	switch {
	case locate.Inside(dir, store):
		return bad(dir+" lies inside the store", "choose a directory outside "+store)
	case locate.Inside(store, dir):
		return bad(dir+" contains the store", "choose another directory, or another --store")
	case os.IsNotExist(err):
		return bad(dir+" does not exist", "mkdir -p "+dir)
	case err != nil:
		return bad(err.Error(), "choose another directory")
	case len(entries) > 0:
		return bad(fmt.Sprintf("%s is not empty (%s, ...)", dir, entries[0].Name()), "choose an empty directory")
	}
	return f
}

// checkMounts returns a finding for each ctxfs that is mounted now, apart from the one at except.
func checkMounts(except string) (found []finding) {
	all, err := mounts.Ctxfs()
	if err != nil {
		return []finding{{Check: "mounts", State: stateNote, Text: err.Error()}}
	}
	all = slices.DeleteFunc(all, func(i mounts.Info) bool { return i.Point == except })
	for _, m := range thorough(all...) {
		f := finding{Check: "mounted", State: stateOK, Text: m.Point + " answers, from " + m.Source}
		if text, remedy := mountInWords(m); remedy != "" {
			f.State, f.Text, f.Remedy = stateNote, text, remedy
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

// checkHandles holds the limit of open descriptors against the number of sessions in a store: that of the daemon that serves it,
// or that of one which would be started now.
func checkHandles(dir string) finding {
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
