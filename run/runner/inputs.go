package runner

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"
)

// maxInputs is how many directory entries a search for inputs may see.
const maxInputs = 100_000

const (
	tooManyInputs = "more than 100000 files and directories to check"
	reasonPattern = "not a pattern"
)

// Inputs implements source.Generators. The fingerprint is made of the paths of
// the files and their content (sums.go), by the user's reader, which looks at nothing but the directories that a
// glob can match in. All files count, those
// below .git, too, where a glob matches them, and all files below a directory that is named without a wildcard. A symlink to a file stands for that file; one to a directory is not
// followed, unless it stands in front of the first wildcard.
func (c *Client) Inputs(ctx context.Context, uid, gid uint32, dir string, globs []string, wait time.Duration) (fingerprint string, stale bool, reason string) {
	words := strings.Join(append([]string{dir}, globs...), "\x00")
	if len(words) > maxText {
		return "", false, "too many patterns"
	}
	f := c.query(ctx, owner{uid, gid}, []fileKey{{inputsBelow, uid, gid, 2 * sha256.Size, words}}, wait)[0]
	if f.stale != "" && !f.seen {
		return "", true, f.stale
	}
	return string(f.data), f.stale != "", f.reason
}

// findInputs makes the fingerprint, as whoever this process is.
func findInputs(req request) answer {
	words := strings.Split(string(req.Path), "\x00")
	s := search{seen: make(map[string]bool)}
	dir := words[0]
	if !filepath.IsAbs(dir) {
		return answer{Reason: "not an absolute path"}
	}
	if st, err := os.Stat(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return answer{Reason: "no such directory"}
		}
		return refused(err)
	} else if !st.IsDir() {
		return answer{Reason: "not a directory"}
	}
	for _, glob := range words[1:] {
		if err := s.find(dir, glob); err != nil {
			a := refused(err)
			if a.Reason == "" {
				a.Reason = err.Error()
			}
			return a
		}
	}
	slices.Sort(s.rows)
	sum := sha256.New()
	for _, row := range s.rows {
		sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(row))))
		sum.Write([]byte(row))
	}
	return answer{Exists: true, Data: []byte(hex.EncodeToString(sum.Sum(nil)))}
}

// search collects what matches.
type search struct {
	entries int             // directory entries seen
	seen    map[string]bool // the paths in rows
	rows    []string        // a path, a zero byte, what sums.row returns for the file
}

// find adds the files that match one glob, relative to dir or absolute.
func (s *search) find(dir, glob string) error {
	if !doublestar.ValidatePattern(glob) {
		return errors.New(reasonPattern + ": " + glob[:min(len(glob), 100)])
	}
	base, pattern := doublestar.SplitPattern(path.Clean(glob))
	if !path.IsAbs(base) {
		base = filepath.Join(dir, base)
	}
	if !strings.ContainsAny(pattern, `*?[{\`) { // the file itself, or all that a directory holds
		base = filepath.Join(base, pattern)
		if leadsToPack(base) {
			return s.add(unix.AT_FDCWD, base, base)
		}
		if st, err := os.Stat(base); err != nil || !st.IsDir() {
			return s.add(unix.AT_FDCWD, base, base)
		}
		pattern = "**"
	}
	fd, err := openAlone(base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return s.walk(fd, base, "", pattern, strings.Count(pattern, "/"))
}

// walk looks into one directory, and into those below it as many levels as the
// pattern goes. It closes fd. What each file is asked by its name alone, as
// that is the most of the work.
func (s *search) walk(fd int, base, rel, pattern string, levels int) error {
	f := os.NewFile(uintptr(fd), base)
	defer f.Close()
	list, err := f.ReadDir(maxInputs + 1)
	if err != nil && !errors.Is(err, io.EOF) && len(list) == 0 {
		return err
	}
	if s.entries += len(list); s.entries > maxInputs {
		return errors.New(tooManyInputs)
	}
	deeper := levels > 0 || strings.Contains(pattern, "**")
	for _, e := range list {
		name := e.Name()
		if rel != "" {
			name = rel + "/" + name
		}
		switch {
		case e.IsDir() && deeper:
			below, err := unix.Openat(fd, e.Name(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
			switch {
			case errors.Is(err, fs.ErrPermission): // told from an empty one, so that it counts when it opens
				s.rows = append(s.rows, base+"/"+name+"\x00unreadable")
				continue
			case errors.Is(err, fs.ErrNotExist): // removed meanwhile
				continue
			case err != nil: // too many descriptors, for one: that must not look like a change
				return err
			}
			if err := s.walk(below, base, name, pattern, levels-1); err != nil {
				return err
			}
		case e.IsDir():
		case doublestar.MatchUnvalidated(pattern, name):
			if err := s.add(fd, e.Name(), base+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// add takes one file with its identity, if it is there: name is relative to
// the directory dir, whole is its path.
func (s *search) add(dir int, name, whole string) error {
	if s.seen[whole] {
		return nil
	}
	if isPack(whole) { // it says nothing that the history does not say
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK && !leadsToPack(whole) {
		var led unix.Stat_t
		if unix.Fstatat(dir, name, &led, 0) == nil { // a symlink to nowhere is there, too
			st = led
		}
	}
	if s.entries++; s.entries > maxInputs {
		return errors.New(tooManyInputs)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil
	}
	s.seen[whole] = true
	s.rows = append(s.rows, whole+"\x00"+sums.row(dir, name, &st))
	return nil
}
