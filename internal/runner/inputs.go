package runner

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
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
	tooManyInputs = "more than 100000 files and directories to look at"
	reasonPattern = "not a pattern"
)

// Inputs implements pack.Generators. The fingerprint is made of the paths of
// the files, their device, inode and size and the times of their last change,
// by the user's reader, which looks at nothing but the directories that a
// glob can match in. All files count, those
// below .git, too, where a glob matches them. A symlink to a file stands for that file; one to a directory is not
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
	rows    []string        // a path, a zero byte, an identity
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
	if !strings.ContainsAny(pattern, `*?[{\`) { // the file itself
		return s.add(filepath.Join(base, pattern))
	}
	return s.walk(base, "", pattern, strings.Count(pattern, "/"))
}

// walk looks into one directory, and into those below it as many levels as the pattern goes.
func (s *search) walk(base, rel, pattern string, levels int) error {
	list, err := os.ReadDir(filepath.Join(base, rel))
	if err != nil && len(list) == 0 {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // a reader that can list it later sees more
		case rel == "":
			return err
		}
		s.rows = append(s.rows, filepath.Join(base, rel)+"\x00unreadable")
		return nil
	}
	if s.entries += len(list); s.entries > maxInputs {
		return errors.New(tooManyInputs)
	}
	deeper := levels > 0 || strings.Contains(pattern, "**")
	for _, e := range list {
		name := path.Join(rel, e.Name())
		if e.IsDir() {
			if deeper {
				if err := s.walk(base, name, pattern, levels-1); err != nil {
					return err
				}
			}
			continue
		}
		if doublestar.MatchUnvalidated(pattern, name) {
			if err := s.add(filepath.Join(base, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// add takes one file with its identity, if it is there.
func (s *search) add(name string) error {
	if s.seen[name] {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Stat(name, &st); err != nil {
		if errors.Is(err, fs.ErrNotExist) && unix.Lstat(name, &st) != nil {
			return nil
		}
	}
	if s.entries++; s.entries > maxInputs {
		return errors.New(tooManyInputs)
	}
	s.seen[name] = true
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil
	}
	id := identity{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}
	s.rows = append(s.rows, fmt.Sprintf("%s\x00%s", name, id.appendTo(nil)))
	return nil
}
