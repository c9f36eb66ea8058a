package locate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/session"
)

// Which mount is meant where a command names none: that of $CTXFS_MOUNT, of the
// user's own setting, of the default store, the only one that the user made, or
// the only one that root made for everybody.

// severalError are mounts of which each could be meant.
type severalError struct{ mounts []mounts.Mount }

func (e severalError) Error() string {
	var points []string
	for _, m := range e.mounts {
		points = append(points, m.Point)
	}
	return fmt.Sprintf("several ctxfs are mounted (%s); choose one with $CTXFS_MOUNT, or for good with a line in %s",
		strings.Join(points, ", "), cmp.Or(settingFile(), "~/.config/ctxfs/mount"))
}

// mountsMeant asks the mounts of which one could be meant where none is named: whole ones that root
// or the user made, the user's own first. It tells those that answer from those that do not; a
// mount whose daemon is gone is neither.
func mountsMeant() (answer, silent []mounts.Mount, err error) {
	own, err := mounts.Own()
	if err != nil {
		return nil, nil, err
	}
	var whole []mounts.Info
	for _, i := range own {
		if i.Whole() {
			whole = append(whole, i)
		}
	}
	for _, m := range daemon.Asker.All(context.Background(), whole) {
		switch m.State {
		case mounts.Answers:
			answer = append(answer, m)
		case mounts.Gone:
		default:
			silent = append(silent, m)
		}
	}
	return answer, silent, nil
}

// oneMeant chooses among the mounts that answer, the user's own before root's. ok is false where there is none.
// Mounts of one store are one, where only the store counts.
func oneMeant(answer []mounts.Mount, stores bool) (m mounts.Mount, ok bool, err error) {
	var mine, roots []mounts.Mount
	for _, m := range answer {
		if m.Owner() == os.Getuid() {
			mine = append(mine, m)
		} else {
			roots = append(roots, m)
		}
	}
	for _, of := range [][]mounts.Mount{mine, roots} {
		switch {
		case len(of) == 1, len(of) > 0 && stores && oneStore(of):
			return of[0], true, nil
		case len(of) > 0:
			return m, false, severalError{of}
		}
	}
	return m, false, nil
}

// CheckNewStore returns an error if the store of at is not there and a ctxfs is mounted: nobody
// asked for a second store then. how says what to do with the session's path in that mount.
func CheckNewStore(at Place, how string) error {
	if _, err := os.Stat(filepath.Join(at.Store, session.StoreFile)); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	own, err := mounts.Own()
	if err != nil || len(own) == 0 {
		return nil
	}
	return fmt.Errorf("there is no store in %s, but a ctxfs is mounted at %s; %s %s; or make a store of your own with --store %s",
		at.Store, own[0].Point, how, filepath.Join(own[0].Point, at.Ref.Path()), at.Store)
}

// defaultMount is the mount of the default store that root or the user made.
func defaultMount() (mounts.Info, bool) {
	own, _ := mounts.Own()
	store := DefaultStore()
	if n := slices.IndexFunc(own, func(i mounts.Info) bool { return i.Source == store && i.Whole() }); n >= 0 {
		return own[n], true
	}
	return mounts.Info{}, false
}

// maxSetting bounds the user's setting, in bytes.
const maxSetting = 8 << 10

// settingFile is where a user writes which mount is his: one absolute path. "" where he has no home.
func settingFile() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "ctxfs", "mount")
}

// settingMount is the mount that the user's setting names; ok is false where there is none. A
// setting that cannot count is passed over with a warning.
func settingMount() (i mounts.Info, ok bool) {
	name := settingFile()
	point, err := readSetting(name)
	if err == nil && point != "" {
		if i, ok = ownMountAt(point); !ok {
			err = fmt.Errorf("no ctxfs of yours or of root is mounted at %s", point)
		}
	}
	if err != nil {
		warnOnce(fmt.Sprintf("%s does not count: %v", name, err))
	}
	return i, ok
}

// readSetting reads the path in a setting; "" where it has none or is not there. It never waits, as
// for who writes into a pipe.
func readSetting(name string) (point string, err error) {
	if name == "" {
		return "", nil
	}
	if _, _, in := mounts.At(name); in { // it would be asked for a mount before the mount was asked
		return "", errors.New("it is in a ctxfs")
	}
	if dir, err := os.Stat(filepath.Dir(name)); err != nil || !dir.IsDir() {
		return "", nil // as below the home of somebody else, or of nobody
	}
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return "", err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return "", errors.New("it is not a file")
	case int(st.Uid) != os.Geteuid():
		return "", fmt.Errorf("it belongs to uid %d", st.Uid)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSetting+1))
	if err != nil {
		return "", err
	}
	return parseSetting(string(data))
}

// parseSetting reads one absolute path. Blank lines and those that begin with # are passed over.
func parseSetting(text string) (point string, err error) {
	if len(text) > maxSetting {
		return "", fmt.Errorf("it is longer than %d bytes", maxSetting)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case point != "":
			return "", errors.New("it names more than one mount")
		case !filepath.IsAbs(line) || strings.ContainsRune(line, 0):
			return "", fmt.Errorf("%.80q is not an absolute path", line)
		default:
			point = line
		}
	}
	return point, nil
}

// ownMountAt is the mount at a path that root or the user made. It is not touched.
func ownMountAt(point string) (mounts.Info, bool) {
	i, rest, ok := mounts.At(point)
	if !ok || rest != "" {
		return i, false
	}
	own, _ := mounts.Own()
	return i, i.Whole() && slices.Contains(own, i)
}

var warned sync.Map

// warnOnce writes to standard error, once, what the verb goes on in spite of.
func warnOnce(text string) {
	if _, again := warned.LoadOrStore(text, true); !again {
		fmt.Fprintln(os.Stderr, "ctxfs:", text)
	}
}

// warnOfSilent names on standard error what does not answer, where the verb goes on without it.
func warnOfSilent(silent []mounts.Mount) {
	for _, m := range silent {
		warnOnce(mounts.SilentError{Mount: m}.Error())
	}
}
