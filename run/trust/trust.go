package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/pack/source"
)

// File is the trust file of the calling user in one mount.
type File struct {
	Mount string // the mountpoint
	file  string
}

// In returns the trust file of the calling user in the mount at mountpoint.
func In(mountpoint string) File {
	return File{mountpoint, filepath.Join(mountpoint, ctxabi.HomeDir, fmt.Sprint(os.Getuid()), ctxabi.TrustFile)}
}

func (t File) read() ([]ctxabi.Trust, error) {
	data, err := os.ReadFile(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ctxabi.ParseTrust(data)
}

// write replaces the file: the mount takes it as a whole when it is closed.
func (t File) write(rows []ctxabi.Trust) error {
	if len(rows) == 0 {
		return os.Remove(t.file)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, r := range rows {
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	return os.WriteFile(t.file, b.Bytes(), 0o600)
}

// hash returns the SHA-256 of a file of the mount.
func (t File) hash(name string) (sum string, data []byte, err error) {
	data, err = os.ReadFile(filepath.Join(t.Mount, name))
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:]), data, err
}

// lock reads the file, and keeps others of the same user from changing it until unlock.
func (t File) lock() (rows []ctxabi.Trust, unlock func() error, err error) {
	dir, err := os.Open(filepath.Dir(t.file))
	if err != nil {
		return nil, nil, err
	}
	if err = unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		err = fmt.Errorf("lock %s: %w", dir.Name(), err)
	} else if rows, err = t.read(); err == nil {
		return rows, dir.Close, nil
	}
	dir.Close()
	return nil, nil, err
}

// ErrChanged is the error that a file changed while it was being trusted.
var ErrChanged = errors.New("the file changed in the meantime")

// Add trusts name, and with it the files that with returns, as they are now. with gets the content
// of name, while others of the same user are kept from changing the trust file; nothing is trusted
// if it fails. Add reports whether one of them was not trusted yet. It returns ErrChanged if name
// is not what it was when Add was called, and the errors of with and of the files.
func (t File) Add(name string, with func(data []byte) ([]string, error)) (added bool, err error) {
	seen, data, err := t.hash(name)
	if err != nil {
		return false, err
	}
	rows, unlock, err := t.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	names, err := with(data)
	if err != nil {
		return false, err
	}
	before := len(rows)
	for _, n := range append([]string{name}, names...) {
		sum, _, err := t.hash(n)
		if err != nil {
			return false, err
		}
		if n == name && sum != seen {
			return false, ErrChanged
		}
		if row := (ctxabi.Trust{Path: n, SHA256: sum}); !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	if len(rows) == before {
		return false, nil
	}
	return true, t.write(rows)
}

// Revoke takes the rows of name away, and with a package's recipe those of the package's files,
// with one of a shared space those of the agent's other files that are neither recipes nor settings
// of a session. It reports whether there were any, and returns the error of the file.
func (t File) Revoke(name string) (revoked bool, err error) {
	rows, unlock, err := t.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	home, entry := AgentHome(name)
	dir := path.Dir(name) + "/"
	kept := slices.DeleteFunc(slices.Clone(rows), func(r ctxabi.Trust) bool {
		switch {
		case r.Path == name:
			return true
		case path.Base(name) != ctxabi.AgentRecipeFile || !strings.HasPrefix(r.Path, dir):
			return false
		case source.InPackage(entry):
			return true
		}
		return InSpace(home) && isScript(strings.TrimPrefix(r.Path, home+"/"))
	})
	if len(kept) == len(rows) {
		return false, nil
	}
	return true, t.write(kept)
}

// isScript reports whether a trusted file of an agent's home is one that a command names, and no
// recipe or setting.
func isScript(entry string) bool {
	ext, base := path.Ext(entry), path.Base(entry)
	setting := locate.Inside(entry, ctxabi.SessionDir) && (base == ctxabi.CwdFile || strings.HasSuffix(entry, "/"+ctxabi.EnvFile))
	return ext != ".yaml" && ext != ".yml" && !setting
}

// Row is a path of the trust file, and whether it is still what was trusted.
type Row struct {
	Path   string
	Status string // "trusted", "changed", "gone" or "unreadable"
}

// List returns the trusted paths, in the order in which they were first trusted. It returns the
// error of the trust file.
func (t File) List() (found []Row, err error) {
	rows, err := t.read()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.Path] {
			continue
		}
		seen[r.Path] = true
		status := "changed"
		switch sum, _, err := t.hash(r.Path); {
		case errors.Is(err, fs.ErrNotExist):
			status = "gone"
		case err != nil:
			status = "unreadable"
		case slices.Contains(rows, ctxabi.Trust{Path: r.Path, SHA256: sum}):
			status = "trusted"
		}
		found = append(found, Row{r.Path, status})
	}
	return found, nil
}

// InSpace reports whether a name in a mount lies in a shared space.
func InSpace(name string) bool { return locate.Inside(name, ctxabi.SharedDir) }

// AgentHome splits the name of a file in a mount at the home of the agent that it lies in; "" where
// it lies in none.
func AgentHome(name string) (home, entry string) {
	parts := strings.Split(name, "/")
	if len(parts) <= 4 || parts[2] != ctxabi.AgentDir {
		return "", name
	}
	return path.Join(parts[:4]...), path.Join(parts[4:]...)
}
