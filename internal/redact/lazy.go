package redact

import (
	"regexp"
	"sync"
)

// lazily returns an expression that is compiled when it is needed: a program that redacts nothing pays nothing.
func lazily(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}
