package suite

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// fixed is the seed of a run that nothing else chooses. It has no meaning.
const fixed = 20240229

// Seed returns the seed of the random choices of this process: CTXFS_SEED, or
// a new one where CTXFS_RANDOM=1 is set, else always the same. It is the same
// at each call. It panics if CTXFS_SEED is not a positive number.
var Seed = sync.OnceValue(func() uint64 {
	if s := os.Getenv("CTXFS_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil || n == 0 {
			panic(fmt.Sprintf("CTXFS_SEED=%s is not a positive number", s))
		}
		return n
	}
	if os.Getenv("CTXFS_RANDOM") == "1" {
		return uint64(time.Now().UnixNano())
	}
	return fixed
})

// seedRapid makes rapid begin with [Seed], unless -rapid.seed is given. Each
// input of a check still has a seed of its own.
func seedRapid() {
	if !given("rapid.seed") {
		flag.Set("rapid.seed", strconv.FormatUint(Seed(), 10))
	}
}

// given reports whether the command line sets a flag.
func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
