package web

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite.Wrap(m)) }
