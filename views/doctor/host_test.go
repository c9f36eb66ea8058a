package doctor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/volume"
)

// fakeHost is a machine with these files, programs and answers of systemctl.
func fakeHost(t *testing.T, files map[string]string, programs, mountinfo, units string) hostRoot {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	info := filepath.Join(dir, "mountinfo")
	if err := os.WriteFile(info, []byte(mountinfo), 0o644); err != nil {
		t.Fatal(err)
	}
	return hostRoot{
		Program: Program{Version: "1.2.3 abc", MountHelper: "mount.fuse.ctxfs", FstabLine: fakeLine},
		dir:     dir, mountinfo: info,
		systemctl: func(args ...string) string {
			for _, w := range strings.Fields(units) {
				if verb, answer, _ := strings.Cut(w, "="); verb == args[0] {
					return answer
				}
			}
			return ""
		},
		lookPath: func(p string) (string, error) {
			if strings.Contains(programs, p) {
				return "/bin/sh", nil
			}
			return "", os.ErrNotExist
		},
	}
}

// fakeLine takes what the helper of mount(8) takes in these tests.
func fakeLine(source, _, options string) error {
	switch {
	case !filepath.IsAbs(source):
		return errors.New("not absolute")
	case strings.Contains(options, "colour"):
		return errors.New("which colour?")
	}
	return nil
}

const sharedRoot = "25 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n40 25 0:30 / /srv rw - tmpfs tmpfs rw\n"

// lines are findings as doctor prints them.
func lines(found []Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s %s: %s → %s\n", f.State, f.Check, f.Text, f.Remedy)
	}
	return b.String()
}

func TestDoctorKnowsTheHost(t *testing.T) {
	unit := map[string]string{"run/systemd/system/x": "", "usr/lib/systemd/system/ctxfs.service": ""}
	for _, c := range []struct {
		name      string
		files     map[string]string
		programs  string
		units     string
		point     string
		wants     []string
		wantsNone string
	}{
		{name: "nothing there", wants: []string{
			"ok version: ctxfs 1.2.3 abc", "ok systemd: not the init", "note mount(8): there is no /sbin/mount.fuse.ctxfs", "ok plugin: no volume plugin", "ok containers: no runtime"},
			wantsNone: "fstab:"},
		{name: "not installed", files: map[string]string{"run/systemd/system/x": ""}, wants: []string{"note systemd: ctxfs.service is not installed", "make install"}},
		{name: "not enabled", files: unit, units: "is-enabled=disabled is-active=inactive", wants: []string{"note systemd: /usr/lib/systemd/system/ctxfs.service is disabled and inactive", "systemctl enable --now ctxfs"}},
		{name: "failed", files: unit, units: "is-enabled=enabled is-active=failed", wants: []string{"note systemd", "journalctl -u ctxfs"}},
		{name: "running", files: unit, units: "is-enabled=enabled is-active=active", wants: []string{"ok systemd: /usr/lib/systemd/system/ctxfs.service is enabled and active"}},
		{name: "fstab", files: map[string]string{"sbin/mount.fuse.ctxfs": "", "ctx/x": "", "etc/fstab": `
# comment
/dev/vda / ext4 defaults 0 1
/var/lib/ctxfs /ctx fuse.ctxfs budget=5,nofail 0 0
/var/lib/b /none fuse.ctxfs defaults 0 0
/var/lib/c /made fuse.ctxfs x-mount.mkdir 0 0
/var/lib/d /ctx fuse.ctxfs colour=red 0 0
relative /ctx fuse.ctxfs
/var/lib/e /ctx ctxfs defaults 0 0
`}, wants: []string{
			"ok mount(8): /sbin/mount.fuse.ctxfs is installed", "ok fstab: /ctx from /var/lib/ctxfs → \n",
			"note fstab: /none from /var/lib/b: the directory does not exist → mkdir -p /none", "ok fstab: /made from",
			"note fstab: /ctx from /var/lib/d: which colour? → mend the line in /etc/fstab; man mount.fuse.ctxfs", "note fstab: /ctx from relative: not absolute", "note fstab: /ctx from /var/lib/e: the type ctxfs"}},
		{name: "a dead socket", files: map[string]string{volume.DefaultSocket: ""}, wants: []string{"note plugin", "nobody listens"}},
		{name: "runtimes, shared", programs: "docker podman", point: "/ctx", wants: []string{"ok containers: found docker, podman", "ok propagation: /, in which it lies, is shared"}},
		{name: "private", point: "/srv/a/ctx", wants: []string{"note propagation: /srv, in which it lies, is private", "mount --bind /srv/a /srv/a && mount --make-rshared /srv/a"}},
		{name: "mounted now", point: "/srv", wants: []string{"ok propagation: /, in which"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := lines(checkHost(fakeHost(t, c.files, c.programs, sharedRoot, c.units), c.point))
			for _, w := range c.wants {
				if !strings.Contains(got, w) {
					t.Errorf("there is no %q in\n%s", w, got)
				}
			}
			if c.wantsNone != "" && strings.Contains(got, c.wantsNone) {
				t.Errorf("%q is in\n%s", c.wantsNone, got)
			}
		})
	}
}

func TestDoctorAsksThePlugin(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	if f := checkPlugin(name); f.State != OK || !strings.Contains(f.Text, "answers") {
		t.Errorf("a socket that answers: %+v", f)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if f := checkPlugin(name); f.State != Note || f.Remedy == "" {
		t.Errorf("a socket that nobody listens on: %+v", f)
	}
}
