package runner

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// letGo detaches other mounts of ctxfs from the shim's own mount namespace. That
// has copies of all mounts there are; where the system's are private, a copy lives on when its
// original is unmounted, and keeps the daemon that serves it from ending.
// Mounts in which the command has business stay.
func letGo(j job) {
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return
	}
	texts := slices.Concat(j.Args, j.Env, [][]byte{j.Dir, j.Root})
	for _, dir := range privateMounts(string(info)) {
		if !slices.ContainsFunc(texts, func(t []byte) bool { return strings.Contains(string(t), dir) }) {
			unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) // not possible in a user's namespace
		}
	}
}

// octal undoes how mountinfo writes a path.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// privateMounts lists where ctxfs is mounted and an unmount elsewhere would not be followed.
func privateMounts(info string) (dirs []string) {
	for line := range strings.Lines(info) {
		// id parent device root mountpoint options [tags...] - type source options
		f := strings.Fields(line)
		end := slices.Index(f, "-")
		if end < 6 || end+1 >= len(f) || f[end+1] != "fuse.ctxfs" {
			continue
		}
		if !slices.ContainsFunc(f[6:end], func(tag string) bool { return strings.HasPrefix(tag, "master:") }) {
			dirs = append(dirs, octal.Replace(f[4]))
		}
	}
	return dirs
}
