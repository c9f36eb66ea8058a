package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// mountType is the type of a ctxfs mount in /proc/self/mountinfo.
const mountType = "fuse.ctxfs"

// cleanMountpoint makes a mountpoint absolute without ever touching the
// mountpoint itself, which may be a dead mount that answers nothing.
func cleanMountpoint(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil || abs == "/" {
		return abs, err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if errors.Is(err, os.ErrNotExist) {
		return abs, nil
	}
	return filepath.Join(parent, filepath.Base(abs)), err
}

// ctxfsMounts lists the mountpoints of ctxfs that this process sees.
func ctxfsMounts() ([]string, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseMounts(f)
}

// parseMounts reads mountinfo(5): the mountpoint is field 5, the type the first one after " - ".
func parseMounts(r io.Reader) (points []string, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		before, after, _ := strings.Cut(s.Text(), " - ")
		fields := strings.Fields(before)
		if len(fields) >= 5 && strings.HasPrefix(after, mountType+" ") {
			points = append(points, unescape.Replace(fields[4]))
		}
	}
	return points, s.Err()
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// mountOf gives the ctxfs mountpoint that path p lies in, "" when it is in none.
func mountOf(p string) (string, error) {
	points, err := ctxfsMounts()
	best := ""
	for _, m := range points {
		if inside(p, m) && len(m) > len(best) {
			best = m
		}
	}
	return best, err
}

// storeOfMount asks the mount itself which store it serves, and gives up when it does not answer soon.
func storeOfMount(mountpoint string) string {
	answer := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile(filepath.Join(mountpoint, ctxabi.StatusFile))
		answer <- statusValue(b, "store")
	}()
	select {
	case s := <-answer:
		return s
	case <-time.After(5 * time.Second):
		return ""
	}
}

// statusValue finds KEY=VALUE in the lines of a mount's status file.
func statusValue(status []byte, key string) string {
	for _, line := range strings.Split(string(status), "\n") {
		if k, v, ok := strings.Cut(line, "="); ok && k == key {
			return v
		}
	}
	return ""
}

// storeAbove finds the store that path p lies in by walking up to a ctxfs.store file; "" when there is none.
func storeAbove(p string) string {
	for dir := p; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, session.StoreFile)); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// place is a session and the store that holds it.
type place struct {
	store string
	ref   ctxabi.Ref
}

const sessionHelp = `SESSION is one of
  AGENT/SESSION                           of the calling user
  home/UID/agent/AGENT/session/SESSION    as the tree names it (or shared/SPACE/...)
  a path to it in a mount or in a store   "." among them`

// findSession says which session the user means. store is the --store flag, "" when it was not given.
func findSession(arg, store string) (place, error) {
	given := store
	if given == "" {
		store = defaultStore()
	}
	if !filepath.IsAbs(arg) && !strings.HasPrefix(arg, ".") {
		if ref, err := ctxabi.ParseRef(arg); err == nil {
			return place{store, ref}, nil
		}
		parts := strings.Split(strings.Trim(arg, "/"), "/")
		if len(parts) == 2 && ctxabi.ValidName(parts[0]) == nil && ctxabi.ValidName(parts[1]) == nil {
			return place{store, ctxabi.Ref{UID: uint32(os.Getuid()), Agent: parts[0], Session: parts[1]}}, nil
		}
	}
	unknown := usagef("%q is neither AGENT/SESSION nor a path in a mount or a store.\n%s", arg, sessionHelp)
	abs, err := filepath.Abs(arg)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if arg == "" || errors.Is(err, os.ErrNotExist) {
		return place{}, unknown
	}
	if err != nil {
		return place{}, err
	}
	root, err := mountOf(abs)
	if err != nil {
		return place{}, err
	}
	if root != "" {
		if store = storeOfMount(root); store == "" {
			store = given
		}
		if store == "" {
			return place{}, ctxabi.E("find session", "", ctxabi.ErrNotFound,
				"the mount at %s does not say which store it serves; give --store", root)
		}
	} else if root = storeAbove(abs); root != "" {
		store = root
	} else {
		return place{}, unknown
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return place{}, err
	}
	ref, err := ctxabi.ParseRef(sessionPart(rel))
	if err != nil {
		return place{}, usageError{err}
	}
	return place{store, ref}, nil
}

// sessionPart cuts what follows the session in a path below a root, so that a
// file of the session names it too.
func sessionPart(rel string) string {
	parts := strings.Split(rel, "/")
	return strings.Join(parts[:min(len(parts), 6)], "/")
}
