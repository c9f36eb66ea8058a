package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/usage"
)

// Exit codes. They are part of what scripts rely on: see exitHelp.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitBusy   = 3
)

const exitHelp = `Exit codes:
  0  done
  1  failed, or problems were found (the reason is on standard error)
  2  wrong usage: unknown verb or flag, wrong number of arguments
  3  busy: another daemon serves the store, the mountpoint is in use, or
     another import into the session runs`

// inWords is what a person reads of an error: a refusal's own sentence where
// nothing was added to it, without operation and kind, which it repeats.
func inWords(err error) string {
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

// failed returns err as the error of a verb that ran.
func failed(err error) error { return failure{err} }

// silent is a failure that was already told to the user.
type silent struct{ code int }

func (silent) Error() string { return "" }

// usagef returns the error of wrong usage that only the verb itself could see.
func usagef(format string, args ...any) error { return usage.Errorf(format, args...) }

// markRun makes every verb's own errors a failure.
func markRun(c *cobra.Command) {
	for _, sub := range c.Commands() {
		markRun(sub)
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

func exitCode(err error) int {
	var said silent
	var failed failure
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &said):
		return said.code
	case errors.As(err, new(usage.Error)), !errors.As(err, &failed):
		return exitUsage
	case errors.Is(err, ctxabi.ErrLocked), errors.As(err, new(daemon.BusyError)):
		return exitBusy
	}
	return exitFailed
}
