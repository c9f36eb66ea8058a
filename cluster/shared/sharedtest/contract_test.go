package sharedtest

import (
	"testing"

	"github.com/ctxfs/ctxfs/cluster/shared"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

func TestContract(t *testing.T) {
	db := NewDatabase()
	db.PageEntries = 3
	Contract(t, func(_ *testing.T, host string) shared.Store { return db.Client(host, nil) })
}
