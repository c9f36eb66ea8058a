package crash

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// seed returns the seed of a test's random choices and prints it.
func seed(tb testing.TB) int {
	tb.Helper()
	n := int(time.Now().UnixNano() % 1e9)
	if s := os.Getenv("CTXFS_SEED"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			tb.Fatalf("CTXFS_SEED: %v", err)
		}
	}
	tb.Logf("CTXFS_SEED=%d", n)
	return n
}

func soak() bool { return os.Getenv("CTXFS_SOAK") == "1" }
