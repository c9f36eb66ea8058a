package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ControlLine returns the trimmed contents of a small file below the directory of a session, "" if
// it is not readable.
func ControlLine(dir, rel string) string {
	b, _ := os.ReadFile(filepath.Join(dir, rel))
	return strings.TrimSpace(string(b))
}

// ControlTime returns the time in a file of a session that holds Unix seconds. A file that is not
// readable counts as 0.
func ControlTime(dir, rel string) time.Time {
	n, _ := strconv.ParseInt(ControlLine(dir, rel), 10, 64)
	return time.Unix(n, 0).UTC()
}
