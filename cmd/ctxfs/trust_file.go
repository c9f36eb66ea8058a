package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/locate"
	packsource "github.com/ctxfs/ctxfs/pack/source"
)

// trusts is the trust file of the calling user in one mount.
type trusts struct {
	mount string // the mountpoint
	file  string
}

func trustsIn(mountpoint string) trusts {
	return trusts{mountpoint, filepath.Join(mountpoint, ctxabi.HomeDir, fmt.Sprint(os.Getuid()), ctxabi.TrustFile)}
}

func (t trusts) read() ([]ctxabi.Trust, error) {
	data, err := os.ReadFile(t.file)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ctxabi.ParseTrust(data)
}

// write replaces the file: the mount takes it as a whole when it is closed.
func (t trusts) write(rows []ctxabi.Trust) error {
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
func (t trusts) hash(name string) (sum string, data []byte, err error) {
	data, err = os.ReadFile(filepath.Join(t.mount, name))
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:]), data, err
}

// lock keeps others of the same user from changing the file until unlock.
func (t trusts) lock() (unlock func() error, err error) {
	dir, err := os.Open(filepath.Dir(t.file))
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		dir.Close()
		return nil, fmt.Errorf("lock %s: %w", dir.Name(), err)
	}
	return dir.Close, nil
}

// errTrustChanged is the error that a file changed while it was being trusted.
var errTrustChanged = errors.New("the file changed in the meantime")

// add trusts name, and with it the files that with returns, as they are now. with gets the content of name, while others of
// the same user are kept from changing the trust file; nothing is trusted if it fails. add reports whether one of them was
// not trusted yet. It returns errTrustChanged if name is not what it was when add was called, and the errors of with and
// of the files.
func (t trusts) add(name string, with func(data []byte) ([]string, error)) (added bool, err error) {
	seen, data, err := t.hash(name)
	if err != nil {
		return false, err
	}
	unlock, err := t.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	rows, err := t.read()
	if err != nil {
		return false, err
	}
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
			return false, errTrustChanged
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

// revoke takes the rows of name away, and with a package's recipe those of the package's files, with one of a shared space those of the agent's other
// files that are neither recipes nor settings of a session. It reports whether there were any, and returns the error of the file.
func (t trusts) revoke(name string) (revoked bool, err error) {
	unlock, err := t.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	rows, err := t.read()
	if err != nil {
		return false, err
	}
	home, entry := agentHomeOf(name)
	dir := path.Dir(name) + "/"
	kept := slices.DeleteFunc(slices.Clone(rows), func(r ctxabi.Trust) bool {
		switch {
		case r.Path == name:
			return true
		case path.Base(name) != ctxabi.AgentRecipeFile || !strings.HasPrefix(r.Path, dir):
			return false
		case packsource.InPackage(entry):
			return true
		}
		return inSpace(home) && isScript(strings.TrimPrefix(r.Path, home+"/"))
	})
	if len(kept) == len(rows) {
		return false, nil
	}
	return true, t.write(kept)
}

// isScript reports whether a trusted file of an agent's home is one that a command names, and no recipe or setting.
func isScript(entry string) bool {
	ext, base := path.Ext(entry), path.Base(entry)
	setting := locate.Inside(entry, ctxabi.SessionDir) && (base == ctxabi.CwdFile || strings.HasSuffix(entry, "/"+ctxabi.EnvFile))
	return ext != ".yaml" && ext != ".yml" && !setting
}

// trusted is a path of the trust file, and whether it is still what was trusted.
type trusted struct {
	path   string
	status string // "trusted", "changed", "gone" or "unreadable"
}

// list returns the trusted paths, in the order in which they were first trusted. It returns the error of the trust file.
func (t trusts) list() (found []trusted, err error) {
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
		case errors.Is(err, iofs.ErrNotExist):
			status = "gone"
		case err != nil:
			status = "unreadable"
		case slices.Contains(rows, ctxabi.Trust{Path: r.Path, SHA256: sum}):
			status = "trusted"
		}
		found = append(found, trusted{r.Path, status})
	}
	return found, nil
}

// inSpace reports whether a name in a mount lies in a shared space.
func inSpace(name string) bool { return locate.Inside(name, ctxabi.SharedDir) }

// agentHomeOf splits the name of a file in a mount at the home of the agent that it lies in; "" where it lies in none.
func agentHomeOf(name string) (home, entry string) {
	parts := strings.Split(name, "/")
	if len(parts) <= 4 || parts[2] != ctxabi.AgentDir {
		return "", name
	}
	return path.Join(parts[:4]...), path.Join(parts[4:]...)
}
