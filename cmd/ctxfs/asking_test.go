package main

import (
	"os"
	"os/exec"

	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// The test binary knows no verbs: the child that touches a mount is a helper of it.
func init() {
	harness.Helper(touchVerb, func(args []string) int { return run(append([]string{touchVerb}, args...), os.Stdout, os.Stderr) })
	asker.Touch = func(i mounts.Info) *exec.Cmd { return harness.HelperProcess(touchVerb, i.Point, i.Source) }
}
