// Package past reads the past of a session through the mount: packs of earlier
// moments below context/at, and what was read of packs, context/packs.jsonl
// and context/served.
package past

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const alice, bob = harness.Alice, harness.Bob

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
func rows(t *testing.T, s *harness.Session) []row {
	t.Helper()
	content := s.Read("context/packs.jsonl")
	for line := range strings.Lines(content) {
		if strings.Count(line, `":`) != 16 {
			t.Fatalf("packs.jsonl: not 16 fields in %q", line)
		}
	}
	return harness.DecodeRows[row](t, "packs.jsonl", content)
}
