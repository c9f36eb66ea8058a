package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/cli"
)

func TestMountHelperTranslates(t *testing.T) {
	for _, c := range []struct {
		options string
		want    string // the flags, between the store and the mountpoint
		refused string
	}{
		{options: "rw"},
		{options: "defaults,noauto,user=eva,_netdev,nofail,x-systemd.automount,X-mount.mkdir,comment=x,noatime,allow_other"},
		{options: "budget=64000,encoding=cl100k_base", want: "--budget=64000 --encoding=cl100k_base"},
		{options: "shutdown_timeout=5s,gc-grace=1h", want: "--shutdown-timeout=5s --gc-grace=1h"},
		{options: "map=/a=/b,map=/c=/d", want: "--map=/a=/b --map=/c=/d"},
		{options: `map="/a,b=/c",ro`, want: "--map=/a,b=/c --read-only"},
		{options: "ro,noexec,debug-fuse", want: "--debug-fuse=true --read-only --noexec"},
		{options: "ro,noexec,rw,exec,budget=1", want: "--budget=1"},
		{options: "rw,exec,noexec,ro", want: "--read-only --noexec"},
		{options: "budget", refused: "needs a value"},
		{options: "budget=many", refused: "budget=many"},
		{options: "store=/x", refused: "not known"},
		{options: "foreground", refused: "not known"},
		{options: "colour=red", refused: "man mount.fuse.ctxfs"},
		{options: "remount,ro", refused: "umount /ctx"},
	} {
		f := helperFlags{options: []string{c.options}}
		got, err := f.mountArgs("/var/lib/ctxfs", "/ctx")
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) || cli.ExitCode(cli.Failed(err)) != cli.ExitUsage {
				t.Errorf("-o %s: %v, want wrong usage with %q", c.options, err, c.refused)
			}
			continue
		}
		want := append(append([]string{"mount", "--store=/var/lib/ctxfs"}, strings.Fields(c.want)...), "--", "/ctx")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("-o %s:\n got %q, %v\nwant %q", c.options, got, err, want)
		}
	}
	sloppy := helperFlags{options: []string{"colour=red,budget=1"}, sloppy: true}
	if got, err := sloppy.mountArgs("/s", "/ctx"); err != nil || len(got) != 5 {
		t.Errorf("-s: %q, %v", got, err)
	}
}

// What mount(8) passes, in its order, and its exit codes.
func TestMountHelperUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"/s /ctx -f -v -o rw,budget=5", 0, "ctxfs mount --store=/s --budget=5 -- /ctx"},
		{"/s /ctx -sfnv -o rw -t fuse.ctxfs", 0, "ctxfs mount --store=/s -- /ctx"},
		{"s /ctx", mountUsage, "not an absolute path"},
		{"/s", mountUsage, "accepts 2 arg"},
		{"/s /ctx -N /proc/1/ns/mnt", mountUsage, "nsenter"},
		{"/s /ctx -o colour=red", mountUsage, "not known"},
	} {
		var out bytes.Buffer
		code := MountHelper(strings.Fields(c.args), &out, &out)
		if code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s %s: exit code %d, says %q; want %d and %q", MountHelperName, c.args, code, out.String(), c.code, c.says)
		}
	}
}

func FuzzSplitOptions(f *testing.F) {
	f.Add(`a,b="c,d",e`)
	f.Add(`"`)
	f.Fuzz(func(t *testing.T, list string) {
		for _, o := range splitOptions([]string{list}) {
			if o == "" || strings.Contains(o, `"`) {
				t.Errorf("%q gives the option %q", list, o)
			}
		}
	})
}

// doctor asks the helper what it makes of the lines of fstab.
func TestDoctorKnowsWhichLinesOfFstabTheHelperTakes(t *testing.T) {
	for line, want := range map[string]string{
		"/var/lib/ctxfs /ctx budget=5,nofail": "",
		"/var/lib/ctxfs /ctx x-mount.mkdir":   "",
		"/var/lib/ctxfs /ctx ":                "",
		"/var/lib/ctxfs /ctx colour=red":      `the option "colour" is not known`,
		"relative /ctx defaults":              `"relative" is not an absolute path`,
		"/var/lib/ctxfs /ctx budget=many":     "the option budget=many",
	} {
		w := strings.Split(line, " ")
		err := CheckFstab(w[0], w[1], w[2])
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
