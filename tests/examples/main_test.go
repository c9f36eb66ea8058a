// Package examples runs what the examples and docs/recipe.md tell their readers to type.
package examples

import (
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
