package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// oldestKernel is the first one with all that the daemon asks for (pidfd_open).
const oldestKernel = "5.3"

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
