package postgres

import (
	"testing"

	"github.com/ctxfs/ctxfs/cluster/shared"
	"github.com/ctxfs/ctxfs/cluster/shared/sharedtest"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestPostgres(t *testing.T) {
	suite.Matrix(t, "it needs PostgreSQL")
	s := primary(t)
	t.Run("contract", func(t *testing.T) {
		sharedtest.Contract(t, func(t *testing.T, host string) shared.Store {
			return s.open(t, map[string]string{"a": "host_a", "b": "host_b", "c": "host_b"}[host])
		})
	})
}
