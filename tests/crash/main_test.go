package crash

import (
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// seed returns the seed of a test's random choices and prints it.
func seed(tb testing.TB) int {
	tb.Helper()
	tb.Logf("CTXFS_SEED=%d", suite.Seed())
	return int(suite.Seed())
}
