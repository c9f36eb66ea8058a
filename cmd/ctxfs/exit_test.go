package main

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
		{nil, exitOK},
		{errors.New("from cobra"), exitUsage},
		{failed(errors.New("x")), exitFailed},
		{failed(usagef("x")), exitUsage},
		{failed(fmt.Errorf("open: %w", ctxabi.ErrLocked)), exitBusy},
		{failed(fmt.Errorf("x: %w", daemon.BusyError{Err: errors.New("y")})), exitBusy},
		{failed(silent{code: exitBusy}), exitBusy},
	} {
		if got := exitCode(tt.err); got != tt.want {
			t.Errorf("%v: got %d, want %d", tt.err, got, tt.want)
		}
	}
}
