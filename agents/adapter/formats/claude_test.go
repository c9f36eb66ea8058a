package formats_test

import (
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/adaptertest"
)

func TestClaudeCode(t *testing.T) { adaptertest.RunFormat(t, "claude-code", "testdata/claude-code") }
