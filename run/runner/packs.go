package runner

import (
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Files of a session that are made from its pack. Whoever looks one of them up may wait for a reader, which must
// therefore not look it up itself: the kernel lets nobody ask for a name that is being asked for.
var packNames = func() map[string]bool {
	names := map[string]bool{}
	for _, rel := range append([]string{ctxabi.PackFile, ctxabi.PackJSONFile, ctxabi.ReportFile, ctxabi.SwapIndexFile}, ctxabi.RequestFiles...) {
		names[path.Base(rel)] = true
	}
	return names
}()

// maxLinksInARow is how many links the kernel follows.
const maxLinksInARow = 40

// leadsToPack reports whether name is one of those files, or a link that leads there. It looks at names and directories only.
func leadsToPack(name string) bool {
	for range maxLinksInARow {
		name = strings.TrimRight(name, "/")
		if isPack(name) {
			return true
		}
		target, err := os.Readlink(name)
		if err != nil {
			return false
		}
		if !path.IsAbs(target) { // .. in it means what the kernel makes of it, so nothing is cleaned
			target = directoryOf(name) + target
		}
		name = target
	}
	return false
}

// directoryOf is what stands before the last part of a path, with the slash.
func directoryOf(name string) string {
	dir, _ := path.Split(name)
	return dir
}

// isPack reports whether name stands where a mounted session has such a file, whether or not it is there.
func isPack(name string) bool {
	name = strings.TrimRight(name, "/")
	if !packNames[path.Base(name)] {
		return false
	}
	dir := directoryOf(name)
	if path.Base(name) == path.Base(ctxabi.SwapIndexFile) {
		return isContext(dir+"../") && sameFile(dir+".", dir+"../"+path.Base(ctxabi.SwapDir))
	}
	return isContext(dir) || isContext(dir+"../../") && sameFile(dir+"..", dir+"../../"+path.Base(ctxabi.AtDir))
}

// isContext reports whether dir, with a slash, is the directory context of a mounted session.
func isContext(dir string) bool {
	value := make([]byte, 16)
	n, err := unix.Getxattr(dir+path.Base(ctxabi.ErrorsFile), "user.ctx.origin", value)
	return err == nil && string(value[:n]) == ctxabi.OriginDerived
}

func sameFile(a, b string) bool {
	var st, as unix.Stat_t
	return unix.Stat(a, &st) == nil && unix.Stat(b, &as) == nil && st.Dev == as.Dev && st.Ino == as.Ino
}
