package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/usage"
)

// Exit codes. They are part of what scripts rely on: see ExitHelp.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	ExitBusy   = 3
)

const ExitHelp = `Exit codes:
  0  done
  1  failed, or problems were found (the reason is on standard error)
  2  wrong usage: unknown verb or flag, wrong number of arguments
  3  busy: another daemon serves the store, the mountpoint is in use, or
     another import into the session runs`

// Message is what a person reads of an error: a refusal's own sentence where
// nothing was added to it, without operation and kind, which it repeats.
func Message(err error) string {
	for {
		switch e := err.(type) {
		case failure:
			err = e.error
			continue
		case usage.Error:
			err = e.Err
			continue
		}
		return ctxabi.Reason(err)
	}
}

// failure is an error met while doing what was asked. Any error without it
// comes from cobra, before a verb ran: wrong usage.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// Failed returns err as the error of a verb that ran.
func Failed(err error) error { return failure{err} }

// Silent is a failure that was already told to the user.
type Silent struct{ Code int }

func (Silent) Error() string { return "" }

// Usagef returns the error of wrong usage that only the verb itself could see.
func Usagef(format string, args ...any) error { return usage.Errorf(format, args...) }

// MarkFailures makes every verb's own errors a failure.
func MarkFailures(c *cobra.Command) {
	for _, sub := range c.Commands() {
		MarkFailures(sub)
	}
	if do := c.RunE; do != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			if err := do(c, args); err != nil {
				return failure{err}
			}
			return nil
		}
	}
}

func ExitCode(err error) int {
	var said Silent
	var failed failure
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &said):
		return said.Code
	case errors.As(err, new(usage.Error)), !errors.As(err, &failed):
		return ExitUsage
	case errors.Is(err, ctxabi.ErrLocked), errors.As(err, new(daemon.BusyError)):
		return ExitBusy
	}
	return ExitFailed
}
