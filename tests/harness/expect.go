package harness

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// WantErrno fails the test unless err is errno, or wraps it and nothing else. An errno of 0 wants
// no error.
func WantErrno(tb testing.TB, what string, err error, errno unix.Errno) {
	tb.Helper()
	if errno == 0 {
		if err != nil {
			tb.Errorf("%s: got %v, want success", what, err)
		}
		return
	}

	// An error that joins several errors does not match, even if one of them is errno.
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next
	}
	if cause != errno {
		tb.Errorf("%s: got %v, want %v (%s)", what, err, errno, unix.ErrnoName(errno))
	}
}

// WantFile fails the test unless the file of the session contains want.
func WantFile(tb testing.TB, s *Session, name, want string) {
	tb.Helper()
	if got := s.Read(name); got != want {
		tb.Errorf("%s contains %q, want %q", name, got, want)
	}
}

// Origin reads user.ctx.origin of a file of the session.
func Origin(tb testing.TB, s *Session, name string) string {
	tb.Helper()
	origin, err := s.Xattr(name, "origin")
	if err != nil {
		tb.Fatalf("user.ctx.origin of %s: %v", name, err)
	}
	return origin
}

// WantAbsent fails the test unless a lookup of the path returns ENOENT.
func WantAbsent(tb testing.TB, path string) {
	tb.Helper()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		tb.Errorf("%s: %v, want ENOENT", path, err)
	}
}

// Rows decodes a file of JSON lines. An incomplete row or a row with an unknown field fails the
// test.
func Rows[R any](tb testing.TB, s *Session, name string) (rows []R) {
	tb.Helper()
	return DecodeRows[R](tb, name, s.Read(name))
}

// DecodeRows is [Rows] for the content of a file.
func DecodeRows[R any](tb testing.TB, name, content string) (rows []R) {
	tb.Helper()
	line := 0
	for text := range strings.Lines(content) {
		line++
		var row R
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&row); err != nil || !strings.HasSuffix(text, "}\n") {
			tb.Fatalf("%s, line %d: %v: %q", name, line, err, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// markLine matches the marks that packs have around labeled text.
var markLine = regexp.MustCompile(`(?m)^\[ctxfs \d{6}: .*\](\n|\z)`)

// Unmarked returns text of a pack without the lines of marks.
func Unmarked(text string) string { return markLine.ReplaceAllString(text, "") }

// tagOf matches the tag that is in each mark of a session.
var tagOf = regexp.MustCompile(`\[ctxfs \d{6}: `)

// Untagged returns text of a pack with the same marks in all sessions.
func Untagged(text string) string { return tagOf.ReplaceAllString(text, "[ctxfs $$TAG: ") }
