package fs

import (
	"bufio"
	"io"
	"os"
	"strings"
)

// MountType is the type of a ctxfs mount in /proc/self/mountinfo.
const MountType = "fuse.ctxfs"

// MountInfo is one mount that this process sees.
type MountInfo struct {
	Point  string // where: absolute, as the kernel has it
	Type   string // of the filesystem: "ext4", MountType
	Source string // what is mounted: of a ctxfs the directory of its store
}

// Mounts lists what is mounted, of two mounts at one place the one on top
// later. It touches none of them: one may be dead and answer nothing.
func Mounts() ([]MountInfo, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseMounts(f)
}

// parseMounts reads mountinfo(5): field 5 is the mountpoint, the type and the source follow " - ".
func parseMounts(r io.Reader) (mounts []MountInfo, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		before, after, _ := strings.Cut(s.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if len(left) >= 5 && len(right) >= 2 {
			mounts = append(mounts, MountInfo{unescapeMount.Replace(left[4]), right[0], unescapeMount.Replace(right[1])})
		}
	}
	return mounts, s.Err()
}

// unescapeMount undoes the octal escapes of mountinfo.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
