package main

import (
	"os"
	"os/exec"

	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// The test binary knows no verbs: the child that touches a mount is a helper of it.
func init() {
	harness.Helper("touch-mount", func(args []string) int { return run(append([]string{"touch-mount"}, args...), os.Stdout, os.Stderr) })
	touchCommand = func(i mounts.Info) *exec.Cmd { return helper("touch-mount", i.Point, i.Source) }
}
