package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the compiled source, which the first call compiles. That call panics if the source is
// no expression; tests of what uses it make it. It may be called by several goroutines at once.
func Regexp(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}
