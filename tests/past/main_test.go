// Package past reads the past of a session through the mount: packs of earlier
// moments below context/at, and what was read of packs, context/packs.jsonl
// and context/served.
package past

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// Two ordinary users. Nothing of the machine needs to know them.
const (
	alice = 21001
	bob   = 21002
)

var sessions atomic.Int64

func session(t *testing.T, m *harness.Mount) *harness.Session {
	t.Helper()
	return m.Session(t, harness.Self(), "coder", fmt.Sprintf("s%d", sessions.Add(1)))
}

// packs are the files of a pack.
var packs = []string{"pack.md", "pack.json", "pack.report.md", "pack.openai.json", "pack.anthropic.json", "pack.responses.json", "pack.gemini.json", "pack.genai.json"}

// turn is the i-th message of a conversation, long enough that a small budget compacts it.
func turn(i int) string {
	return harness.Message([]string{"user", "assistant"}[i%2], strings.Repeat(fmt.Sprint("turn", i, " says ", i*i, ". "), 12))
}

// row is one of packs.jsonl.
type row struct {
	At          string `json:"at"`
	Compactions int    `json:"compactions"`
	Epoch       string `json:"epoch"`
	EpochReason string `json:"epoch_reason"`
	Events      int    `json:"events"`
	EventsBytes int64  `json:"events_bytes"`
	File        string `json:"file"`
	KeptBytes   int    `json:"kept_bytes"`
	KeptTokens  int    `json:"kept_tokens"`
	Messages    int    `json:"messages"`
	PackID      string `json:"pack_id"`
	PID         int    `json:"pid"`
	PrefixBytes int    `json:"prefix_bytes"`
	Tokens      int    `json:"tokens"`
	UID         uint32 `json:"uid"`
	CRC         string `json:"crc"`
}

// rows reads packs.jsonl; a row that is not whole, or has other keys, fails the test.
func rows(t *testing.T, s *harness.Session) (list []row) {
	t.Helper()
	for line := range strings.Lines(s.Read("context/packs.jsonl")) {
		var r row
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || !strings.HasSuffix(line, "}\n") || strings.Count(line, `":`) != 16 {
			t.Fatalf("packs.jsonl: %v in %q", err, line)
		}
		list = append(list, r)
	}
	return list
}

// xattr reads an attribute of a file of the session.
func xattr(s *harness.Session, name, attr string) (string, error) {
	b := make([]byte, 256)
	n, err := unix.Getxattr(s.Path(name), "user.ctx."+attr, b)
	if err != nil {
		return "", err
	}
	return string(b[:n]), nil
}

// absent fails the test unless opening a file of the session gives ENOENT.
func absent(t *testing.T, s *harness.Session, name string) {
	t.Helper()
	if _, err := os.Stat(s.Path(name)); !os.IsNotExist(err) {
		t.Errorf("%s: %v, want ENOENT", name, err)
	}
}
