package main

import (
	"os"
	"os/exec"

	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// The test binary knows no verbs: the child that touches a mount is a helper of it.
func init() {
	harness.Helper(daemon.TouchVerb, func(args []string) int {
		return cli.Run(append([]string{daemon.TouchVerb}, args...), os.Stdout, os.Stderr)
	})
	daemon.Asker.Touch = func(i mounts.Info) *exec.Cmd { return harness.HelperProcess(daemon.TouchVerb, i.Point, i.Source) }
}
