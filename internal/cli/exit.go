package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/usage"
)

// Exit codes of all verbs. Scripts rely on them; ExitHelp describes them.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	ExitBusy   = 3
)

// ExitHelp is the text about exit codes in the help of a verb.
const ExitHelp = `Exit codes:
  0  done
  1  failed, or problems were found (the reason is on standard error)
  2  wrong usage: unknown verb or flag, wrong number of arguments
  3  busy: another daemon serves the store, the mountpoint is in use, or
     another import into the session runs`

// Message returns the text of err for a person. A refusal that no caller wrapped is its own
// sentence, without the operation and the kind of error.
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

// failure marks an error of a verb that ran. An error without this mark comes from cobra, before a
// verb runs, and is wrong usage.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// Failed marks err as the error of a verb that ran: ExitCode does not take it for wrong usage.
func Failed(err error) error { return failure{err} }

// Silent is a failure with an exit code. Its message was printed before.
type Silent struct{ Code int }

func (Silent) Error() string { return "" }

// Usagef returns an error whose exit code is ExitUsage.
func Usagef(format string, args ...any) error { return usage.Errorf(format, args...) }

// MarkFailures wraps the RunE of c and of all its sub-verbs, so that their errors count as failures
// and not as wrong usage.
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

// ExitCode returns the exit code for the error of a command line, ExitOK for nil.
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
