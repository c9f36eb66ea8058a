package doctor

import (
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
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

// Examine checks everything that a mount of the store at mountpoint needs, and how the program p is
// tied into the machine. mountpoint is absolute, or "".
func Examine(store, mountpoint string, p Program) []Finding {
	found := append(append(checkSystem(), checkStore(store)...), checkHandles(store))
	if mountpoint != "" {
		found = append(found, checkMountpoint(mountpoint, store))
	}
	found = append(found, checkStrays(store, mountpoint)...)
	found = append(found, checkMounts(mountpoint)...)
	return append(found, checkHost(thisHost(p), mountpoint)...)
}

// Serves returns nil if a ctxfs is mounted at point and answers, also to a request in the mount. Its error is a
// [mounts.SilentError] if it does not answer.
func Serves(point string) error {
	i, rest, ok := mounts.At(point)
	if !ok || rest != "" {
		return fmt.Errorf("no ctxfs is mounted at %s", point)
	}
	a := daemon.Asker
	a.Both = true
	if m := a.Ask(context.Background(), i); m.State != mounts.Answers {
		return mounts.SilentError{Mount: m}
	}
	if unix.Access(filepath.Join(i.Point, "status"), unix.R_OK) != nil {
		return fmt.Errorf("the ctxfs at %s does not show its status", point)
	}
	return nil
}
