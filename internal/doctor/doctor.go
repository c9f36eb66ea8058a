package doctor

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

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // OK, Note or Missing
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"` // what to type, exactly
}

// What a [Finding] says of what was checked.
const (
	OK      = "ok"
	Note    = "note"    // works, but worth knowing
	Missing = "missing" // a mount will fail
)

// Program is what a check of the machine has to know of the program that does it.
type Program struct {
	Version     string                                  // number and commit
	MountHelper string                                  // the name of the helper of mount(8)
	FstabLine   func(source, dir, options string) error // returns nil if that helper takes such a line of fstab
}

// Examine checks everything that a mount of the store at mountpoint needs, and how the program p is tied into the machine.
// mountpoint is absolute, or "".
func Examine(store, mountpoint string, p Program) []Finding {
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

func checkSystem() []Finding {
	found := []Finding{checkKernel(kernelRelease()), checkDevFuse("/dev/fuse")}
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

func checkKernel(release string) Finding {
	f := Finding{Check: "kernel", State: OK, Text: "Linux " + release}
	if !kernelAtLeast(release, oldestKernel) {
		f.State, f.Text = Missing, f.Text+" is older than "+oldestKernel
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

func checkDevFuse(name string) Finding {
	f := Finding{Check: "/dev/fuse", State: OK, Text: "present and usable"}
	st, err := os.Stat(name)
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		f.State, f.Text = Missing, "missing"
		f.Remedy = "modprobe fuse   (in a container: start it with --device /dev/fuse --cap-add SYS_ADMIN)"
		return f
	}
	dev, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		f.State, f.Text = Missing, err.Error()
		f.Remedy = "chmod 666 " + name + "   (in a container: start it with --device /dev/fuse)"
		return f
	}
	dev.Close()
	return f
}

func checkSysAdmin() Finding {
	f := Finding{Check: "privilege", State: OK, Text: "root with CAP_SYS_ADMIN: mounts directly and serves every user; fusermount3 is not needed"}
	status, _ := os.ReadFile("/proc/self/status")
	if !hasCapability(string(status), unix.CAP_SYS_ADMIN) {
		f.State, f.Text = Missing, "root without CAP_SYS_ADMIN cannot mount"
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

func checkFusermount() Finding {
	f := Finding{Check: "fusermount3", State: OK}
	name, err := exec.LookPath("fusermount3")
	if err != nil {
		f.State, f.Text = Missing, "missing; a user cannot mount without it"
		f.Remedy = "sudo apt-get install fuse3"
		return f
	}
	f.Text = name
	if st, err := os.Stat(name); err == nil && st.Mode()&os.ModeSetuid == 0 {
		f.State, f.Text = Missing, name+" is not setuid root"
		f.Remedy = "sudo chmod u+s " + name
	}
	return f
}

// checkFuseConf is a note at most: a user's mount needs nothing of it.
func checkFuseConf(name string) Finding {
	f := Finding{Check: "fuse.conf", State: OK, Text: "user_allow_other is set"}
	b, _ := os.ReadFile(name)
	for _, line := range strings.Split(string(b), "\n") {
		if strings.TrimSpace(line) == "user_allow_other" {
			return f
		}
	}
	f.State = Note
	f.Text = "user_allow_other is not set in " + name + ": your mount is for you alone, which is all ctxfs asks for; to serve several users, mount as root"
	return f
}

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
	return []Finding{store, checkLock(dir), checkRoom(room)}
}

func checkLock(dir string) Finding {
	d, held := daemon.Running(dir)
	switch {
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

// checkHandles holds the limit of open descriptors against the number of sessions in a store: that of the daemon that serves it,
// or that of one which would be started now.
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
