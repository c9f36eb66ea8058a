package mcp

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// maxLooked bounds how many sessions are asked whether they are worked in.
const maxLooked = 200

// Recorded returns the session of the agent at home that its hooks record now in the directory cwd: of those that are active there, that which
// began last. It returns "" if there is none. Imports and clients leave a session idle; hooks alone begin it.
func Recorded(home, cwd string) string {
	entries, err := os.ReadDir(filepath.Join(home, ctxabi.SessionDir))
	if err != nil || cwd == "" {
		return ""
	}
	type candidate struct {
		dir string
		at  time.Time
	}
	var found []candidate
	for _, e := range entries {
		dir := filepath.Join(home, ctxabi.SessionDir, e.Name())
		if fi, err := os.Stat(filepath.Join(dir, ctxabi.StateFile)); err == nil {
			found = append(found, candidate{dir, fi.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.dir, a.dir)) })
	has := func(dir, name, want string) bool {
		b, err := os.ReadFile(filepath.Join(dir, name))
		return err == nil && strings.TrimSuffix(string(b), "\n") == want
	}
	for _, c := range found[:min(len(found), maxLooked)] {
		if has(c.dir, ctxabi.StateFile, "active") && has(c.dir, ctxabi.CwdFile, cwd) {
			return c.dir
		}
	}
	return ""
}
