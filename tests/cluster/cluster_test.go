package cluster

import (
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

func TestConformance(t *testing.T) {
	suite.Matrix(t, "a server is built, and three of them run")
	enginetest.Run(t, servers.Start(t).Rig())
}
