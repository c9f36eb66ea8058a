package ctxabi

import (
	"bytes"
	"strings"
)

// CheckDiff reports whether data, which is text, may be context/review.diff: nothing,
// or what diff -u, git diff, git show or git format-patch print. The error is of kind [ErrMalformed].
func CheckDiff(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	old := false // the line before was "--- a/file"
	for line := range bytes.Lines(data) {
		s := string(line[:min(len(line), 16)])
		switch {
		case strings.HasPrefix(s, "diff --"), // --git, --cc, --combined
			strings.HasPrefix(s, "@@ -"), strings.HasPrefix(s, "@@@ -"),
			old && strings.HasPrefix(s, "+++ "):
			return nil
		}
		old = strings.HasPrefix(s, "--- ")
	}
	return E("set", DiffFile, ErrMalformed,
		"it is not a unified diff: no line begins with \"diff --git\" or \"@@ -\", and no line \"--- \" has a line \"+++ \" after it; write the output of `git diff` or `diff -u`, or empty the file")
}
