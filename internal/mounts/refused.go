package mounts

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Refused returns err with the reason that a daemon wrote down for it in the newest row of errors.jsonl of the session whose
// directory in a mount is dir; err itself where no row can be read. The caller has just been refused something there.
func Refused(dir string, err error) error {
	data, readErr := os.ReadFile(filepath.Join(dir, ctxabi.ErrorsFile))
	if readErr != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if _, reason, ok := strings.Cut(lines[len(lines)-1], `"reason":`); ok {
		if text, unquoteErr := strconv.Unquote(strings.TrimSuffix(strings.TrimSpace(reason), "}")); unquoteErr == nil {
			return fmt.Errorf("%w (%s)", err, text)
		}
	}
	return err
}
