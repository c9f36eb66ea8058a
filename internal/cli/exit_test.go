package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
)

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, ExitOK},
		{errors.New("from cobra"), ExitUsage},
		{Failed(errors.New("x")), ExitFailed},
		{Failed(Usagef("x")), ExitUsage},
		{Failed(fmt.Errorf("open: %w", ctxabi.ErrLocked)), ExitBusy},
		{Failed(fmt.Errorf("x: %w", daemon.BusyError{Err: errors.New("y")})), ExitBusy},
		{Failed(Silent{Code: ExitBusy}), ExitBusy},
	} {
		if got := ExitCode(tt.err); got != tt.want {
			t.Errorf("%v: got %d, want %d", tt.err, got, tt.want)
		}
	}
}
