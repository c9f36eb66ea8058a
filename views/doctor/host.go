package doctor

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/volume"
)

// hostRoot is what checkHost looks at; a test gives another.
type hostRoot struct {
	Program
	dir       string // before each path, "" for the machine itself
	systemctl func(args ...string) string
	lookPath  func(program string) (string, error)
	mountinfo string
}

func thisHost(p Program) hostRoot {
	return hostRoot{
		Program: p,
		systemctl: func(args ...string) string {
			out, _ := exec.Command("systemctl", args...).Output() // it exits with 3 of what is inactive
			return strings.TrimSpace(string(out))
		},
		lookPath: exec.LookPath, mountinfo: "/proc/self/mountinfo",
	}
}

func (h hostRoot) has(name string) bool {
	_, err := os.Lstat(h.dir + name)
	return err == nil
}

// checkHost returns how the program is tied into the machine. None of it is
// needed for a mount, so nothing here is ever "missing"; mountpoint is the one
// that was asked about, or "".
func checkHost(h hostRoot, mountpoint string) []Finding {
	found := []Finding{checkVersion(h), checkUnits(h), h.checkMountHelper()}
	found = append(found, h.checkFstab()...)
	found = append(found, checkPlugin(h.dir+volume.DefaultSocket))
	return append(found, h.checkRuntimes(mountpoint)...)
}

// checkVersion looks whether the shell's ctxfs is this program.
func checkVersion(h hostRoot) Finding {
	f := Finding{Check: "version", State: OK, Text: "ctxfs " + h.Version}
	self, err := os.Executable()
	name, lookErr := h.lookPath("ctxfs")
	if err != nil || lookErr != nil {
		return f
	}
	a, err1 := os.Stat(self)
	b, err2 := os.Stat(name)
	if err1 == nil && err2 == nil && !os.SameFile(a, b) {
		f.State, f.Text = Note, f.Text+" ("+self+"), but PATH finds "+name
		f.Remedy = "remove one of them; make uninstall and apt-get remove ctxfs both do it"
	}
	return f
}

// unitDirs are where systemd finds units, in its order.
var unitDirs = []string{"/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

func checkUnits(h hostRoot) Finding {
	f := Finding{Check: "systemd", State: Note}
	unit := ""
	for _, dir := range unitDirs {
		if unit == "" && h.has(dir+"/ctxfs.service") {
			unit = dir + "/ctxfs.service"
		}
	}
	switch {
	case !h.has("/run/systemd/system"):
		f.State, f.Text = OK, "not the init of this machine; a background mount logs to ctxfs.log in the store"
		return f
	case unit == "":
		f.Text = "ctxfs.service is not installed; a mount does not come back after a boot"
		f.Remedy = "sudo make install   or install the Debian package (make deb), or use fstab"
		return f
	}
	enabled, active := h.systemctl("is-enabled", "ctxfs.service"), h.systemctl("is-active", "ctxfs.service")
	f.Text = fmt.Sprintf("%s is %s and %s", unit, enabled, active)
	switch {
	case active == "failed":
		f.Remedy = "journalctl -u ctxfs -n 20; systemctl restart ctxfs"
	case enabled == "enabled" && active == "active":
		f.State = OK
	default:
		f.Remedy = "to have /ctx from every boot on: systemctl enable --now ctxfs"
	}
	return f
}

// checkMountHelper looks for the helper of mount(8) and where it leads.
func (h hostRoot) checkMountHelper() Finding {
	f := Finding{Check: "mount(8)", State: Note}
	for _, dir := range []string{"/sbin/", "/usr/sbin/"} {
		name := dir + h.MountHelper
		if !h.has(name) {
			continue
		}
		if _, err := os.Stat(h.dir + name); err != nil {
			f.Text, f.Remedy = name+" leads nowhere", "install ctxfs again"
			return f
		}
		f.State, f.Text = OK, name+" is installed: mount -t fuse.ctxfs and fstab work"
		return f
	}
	f.Text = "there is no /sbin/" + h.MountHelper + ": mount -t fuse.ctxfs and fstab do not work"
	f.Remedy = "sudo make install   or: ln -s $(command -v ctxfs) /sbin/" + h.MountHelper
	return f
}

// checkFstab looks at each entry of fstab for a ctxfs.
func (h hostRoot) checkFstab() (found []Finding) {
	file, err := os.Open(h.dir + "/etc/fstab")
	if err != nil {
		return nil
	}
	defer file.Close()
	for s := bufio.NewScanner(file); s.Scan(); {
		w := strings.Fields(s.Text())
		if len(w) < 3 || strings.HasPrefix(w[0], "#") || w[2] != mounts.Type && w[2] != "ctxfs" {
			continue
		}
		f := Finding{Check: "fstab", State: OK, Text: w[1] + " from " + w[0]}
		options := ""
		if len(w) > 3 {
			options = w[3]
		}
		err := h.FstabLine(w[0], w[1], options)
		switch {
		case w[2] == "ctxfs":
			f.State, f.Text, f.Remedy = Note, f.Text+": the type ctxfs is not known to mount(8)", "write "+mounts.Type+" as its type"
		case err != nil:
			f.State, f.Text, f.Remedy = Note, f.Text+": "+err.Error(), "mend the line in /etc/fstab; man "+h.MountHelper
		case !h.has(w[1]) && !strings.Contains(options, "x-mount.mkdir"):
			f.State, f.Text, f.Remedy = Note, f.Text+": the directory does not exist", "mkdir -p "+w[1]+"   or add the option x-mount.mkdir"
		}
		found = append(found, f)
	}
	return found
}

// checkPlugin asks the socket of the volume plugin whether somebody listens.
func checkPlugin(socket string) Finding {
	f := Finding{Check: "plugin", State: OK}
	if _, err := os.Lstat(socket); err != nil {
		f.Text = "no volume plugin for Docker is served"
		f.Remedy = "where you want it: systemctl enable --now ctxfs-volume.socket, or ctxfs mount --volume-plugin"
		return f
	}
	c, err := net.Dial("unix", socket)
	switch {
	case err == nil:
		c.Close()
		f.Text = socket + " answers: docker volume create -d ctxfs"
	case os.IsPermission(err):
		f.Text = socket + " is there; only root may ask it"
	default:
		f.State, f.Text = Note, socket+" is there, but nobody listens ("+err.Error()+")"
		f.Remedy = "start its daemon again, or remove the socket"
	}
	return f
}

// checkRuntimes lists the container runtimes and whether they can be given a mount that is made anew.
func (h hostRoot) checkRuntimes(mountpoint string) (found []Finding) {
	var runtimes []string
	for _, r := range []string{"docker", "podman", "nerdctl", "kubelet", "crun", "runc"} {
		if _, err := h.lookPath(r); err == nil {
			runtimes = append(runtimes, r)
		}
	}
	f := Finding{Check: "containers", State: OK, Text: "no runtime found"}
	if len(runtimes) > 0 {
		f.Text = "found " + strings.Join(runtimes, ", ")
	}
	found = append(found, f)
	if mountpoint == "" {
		return found
	}
	b, err := os.ReadFile(h.mountinfo)
	if err != nil {
		return found
	}
	f = Finding{Check: "propagation", State: OK}
	parent, shared := sharedParent(string(b), mountpoint)
	if shared {
		f.Text = parent + ", in which it lies, is shared: containers that bind a directory above the mountpoint with rslave see each new mount"
	} else {
		above := filepath.Dir(mountpoint)
		f.State, f.Text = Note, parent+", in which it lies, is private: containers that run keep a dead mount when the daemon is started anew"
		f.Remedy = fmt.Sprintf("mount --bind %s %[1]s && mount --make-rshared %[1]s   before ctxfs mount; then give containers %[1]s with rslave", above)
		if above == "/" {
			f.Remedy = "mount --make-rshared /   before ctxfs mount, as systemd does it; or choose a mountpoint such as /run/ctxfs/ctx"
		}
	}
	return append(found, f)
}

// sharedParent finds the mount that holds the directory on which point is, or would be, mounted, and whether
// what is mounted in it is passed on (mountinfo(5): the field shared:N).
func sharedParent(mountinfo, point string) (parent string, shared bool) {
	for _, line := range strings.Split(mountinfo, "\n") {
		before, _, _ := strings.Cut(line, " - ")
		w := strings.Fields(before)
		if len(w) < 6 || w[4] == point || !locate.Inside(point, w[4]) || len(w[4]) < len(parent) {
			continue
		}
		parent, shared = w[4], false
		for _, tag := range w[6:] {
			shared = shared || strings.HasPrefix(tag, "shared:")
		}
	}
	return parent, shared
}
