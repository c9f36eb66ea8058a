package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// DefaultSocket is where Docker looks for plugins; the file's name is that of the driver.
const DefaultSocket = "/run/docker/plugins/ctxfs.sock"

// Listen makes the unix socket path, for root alone, and the directories above it. What a daemon
// that died has left there is replaced. It fails with ctxabi.ErrLocked when another daemon answers there.
func Listen(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("the directory of the volume plugin's socket: %w", err)
	}
	if fi, err := os.Lstat(path); err == nil {
		if fi.Mode().Type() != fs.ModeSocket {
			return nil, ctxabi.E("listen", "", ctxabi.ErrExists, "%s exists and is not a socket; choose another path with --volume-plugin", path)
		}
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, ctxabi.E("listen", "", ctxabi.ErrLocked, "another daemon answers Docker at %s; a second one needs a socket, and so a driver's name, of its own: --volume-plugin=%s", path, filepath.Join(filepath.Dir(path), "ctxfs2.sock"))
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	old := unix.Umask(0o177) // nobody gets in before it is closed to others
	l, err := net.Listen("unix", path)
	unix.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("the volume plugin's socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}
