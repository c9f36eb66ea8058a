package pack

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// maxFile is the most that is read of one file of the store, in bytes.
const maxFile = 16 << 20

// sign is what lstat says of a file; a file with the same sign has the same
// content, but for changes within one tick of the disk's clock.
type sign struct {
	mtime, ctime, size int64
	ino                uint64
	mode, uid          uint32
}

func (s sign) exists() bool  { return s.mode != 0 }
func (s sign) regular() bool { return s.mode&unix.S_IFMT == unix.S_IFREG }
func (s sign) dir() bool     { return s.mode&unix.S_IFMT == unix.S_IFDIR }

// tick is how long after a change of a file its sign may still hide another one.
const tick = 20 * time.Millisecond

func (s sign) fresh(now time.Time) bool {
	return s.exists() && now.Sub(time.Unix(0, max(s.mtime, s.ctime))) < tick
}

func signOf(path string) sign { return directory(unix.AT_FDCWD).sign(path) }

// directory is an open directory. Its files are looked at from there, because most
// of the time of an lstat goes into walking a long path.
type directory int

// openDirectory opens a directory, for looking alone; where it fails, nothing exists in it.
func openDirectory(dir string) directory {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return directory(fd)
}

func (d directory) close() {
	if d >= 0 {
		unix.Close(int(d))
	}
}

// sign gives the sign of a file by its path from d.
func (d directory) sign(rel string) sign {
	var st unix.Stat_t
	if unix.Fstatat(int(d), rel, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return sign{}
	}
	return sign{st.Mtim.Nano(), st.Ctim.Nano(), st.Size, st.Ino, st.Mode, st.Uid}
}

// readRegular reads a file of the store. It follows no symbolic link, which the owner
// of the files may have planted for a daemon that runs as root, and waits for no FIFO.
// reason says why an existing file is not used.
func readRegular(path string) (data []byte, reason string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		switch s := signOf(path); {
		case !s.exists():
			return nil, "", os.ErrNotExist
		case !s.regular():
			return nil, "not a regular file", nil
		}
		return nil, "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	if !fi.Mode().IsRegular() {
		return nil, "not a regular file", nil
	}
	if fi.Size() > maxFile {
		return nil, fmt.Sprintf("larger than %d bytes", maxFile), nil
	}
	data, err = io.ReadAll(io.LimitReader(f, maxFile))
	return data, "", err
}

// storeFile is a file of the store that a recipe names.
type storeFile struct {
	source *oldSource
	id     string // of its block
	rel    string // its path in the store from the session's directory; "" for one of the workspace
	shown  string // as a pack's reader finds it
	sign   sign
}

// agentHome is the way from a session's directory to its agent's.
const agentHome = "../.."

// storeFiles lists the files of the store that the recipe names, in its order;
// names are those of the pins. [look] gives them their signs.
func storeFiles(names []string) []storeFile {
	var files []storeFile
	sources := gatheredSources()
	for i := range sources {
		s := &sources[i]
		switch s.Where {
		case inAgentHome:
			files = append(files, storeFile{source: s, id: s.ID, rel: agentHome + "/" + s.Path, shown: s.Path})
		case inSession:
			files = append(files, storeFile{source: s, id: s.ID, rel: s.Path, shown: s.Path})
		case inPinned:
			for _, name := range names {
				path := s.Path + "/" + name
				files = append(files, storeFile{source: s, id: s.ID + "/" + name, rel: path, shown: path})
			}
		case inWorkspace:
			files = append(files, storeFile{source: s})
		}
	}
	return files
}

// look notes the present signs of files, seen from the session's directory.
// Where their directories did not change, a file that was not there still is not.
func look(session directory, files []storeFile, sameDirs bool) {
	for i := range files {
		if f := &files[i]; f.rel != "" && (f.sign.exists() || !sameDirs) {
			f.sign = session.sign(f.rel)
		}
	}
}

// pinNames lists the pins in name order.
func pinNames(dir string) ([]string, error) {
	if !signOf(dir).dir() {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &ctxabi.Error{Op: "pack", Path: ctxabi.PinnedDir, Kind: ctxabi.ErrIO, Why: "the pins cannot be listed", Err: err}
	}
	var names []string
	for _, e := range entries {
		if ctxabi.IsPin(e.Name()) && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// read gives the file of the session in dir as the compiler wants it; ok is false when it does not exist.
func (s *storeFile) read(dir string) (f File, ok bool, err error) {
	f = File{At: s.source.At, ID: s.id, Path: s.shown}
	if !s.sign.exists() {
		return f, false, nil
	}
	f.Data, f.Reason, err = readRegular(filepath.Join(dir, s.rel))
	if os.IsNotExist(err) {
		return f, false, nil
	}
	if err != nil {
		return f, false, &ctxabi.Error{Op: "pack", Path: s.shown, Kind: ctxabi.ErrIO, Why: "it cannot be read", Err: err}
	}
	if f.Reason != "" && s.source.Required && s.sign.regular() {
		return f, false, ctxabi.E("pack", s.shown, ctxabi.ErrOverBudget, "it is %s", f.Reason)
	}
	if f.Reason == "" && !isText(f.Data) {
		f.Data, f.Reason = nil, "it is not text"
	}
	return f, true, nil
}
