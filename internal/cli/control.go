package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ControlLine reads a small file of a session; "" where it is not there.
func ControlLine(dir, rel string) string {
	b, _ := os.ReadFile(filepath.Join(dir, rel))
	return strings.TrimSpace(string(b))
}

func ControlTime(dir, rel string) time.Time {
	n, _ := strconv.ParseInt(ControlLine(dir, rel), 10, 64)
	return time.Unix(n, 0).UTC()
}
