// Package gctest collects garbage while everything else goes on, and through a mount.
package gctest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const blobs = ctxabi.DedupBlobDir

var sessions atomic.Int64

func newSession(t *testing.T, m *harness.Mount) *harness.Session {
	t.Helper()
	return m.Session(t, harness.Self(), "coder", fmt.Sprintf("s%d", sessions.Add(1)))
}

// idOf is the name that content has as a blob.
func idOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + hex.EncodeToString(sum[:])
}

// underFire is how long everything goes on at once.
func underFire(t *testing.T) time.Duration {
	if testing.Short() {
		return 2 * time.Second
	}
	if suite.Soak() {
		return 2 * time.Minute
	}
	return suite.Pick(t, 3*time.Second, 10*time.Second)
}

// atOnce is a policy by which everything that may go does so at once, and history is archived as soon as it rests.
const atOnce = "pack_ttl=1ns\nswap_ttl=1ns\nkeep_messages=0\narchive_after=1ns\n"
