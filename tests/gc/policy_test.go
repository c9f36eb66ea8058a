// Package gctest collects garbage while everything else goes on, and through a mount.
package gctest

import (
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// underFire is the duration of the tests that do everything at once.
func underFire(t *testing.T) time.Duration {
	if suite.Soak() {
		return 2 * time.Minute
	}
	return suite.Pick(t, 3*time.Second, 10*time.Second)
}

// atOnce is a policy without grace periods: the collector removes and archives at the first
// opportunity.
const atOnce = "pack_ttl=1ns\nswap_ttl=1ns\nkeep_messages=0\narchive_after=1ns\n"
