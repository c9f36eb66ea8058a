package keep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ctxfs/ctxfs/cluster/member"
)

// setAside moves what a server that does not run has of a stream, the entries and the log of its group, out
// of its way, and returns where it is. What was set aside of that stream before is removed. It returns the
// error of the system; nothing is lost then, and it may be called again.
func setAside(store, stream, group string) (string, error) {
	if stream == "" || group == "" {
		return "", fmt.Errorf("no stream %q of group %q", stream, group)
	}
	to := filepath.Join(store, "quarantine", stream)
	if err := os.RemoveAll(to); err != nil {
		return "", err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	// The log goes first: entries without the log catch up, and a log without entries may not.
	for _, part := range [][2]string{
		{filepath.Join(store, "jetstream", member.SystemAccount, "_js_", group), "log"},
		{filepath.Join(store, "jetstream", member.Account, "streams", stream), "entries"},
	} {
		if err := os.Rename(part[0], filepath.Join(to, part[1])); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return to, nil
}
