package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/redact"
)

// redactFlags say whether secrets are shown.
type redactFlags struct {
	on    bool
	allow string // path of the allow list; "": nothing is allowed
}

func (f *redactFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&f.on, "redact", false, "show [redacted:KIND] in place of keys, tokens and passwords")
	fl.StringVar(&f.allow, "redact-allow", "", "`FILE` that lists what is not a secret; implies --redact")
}

// complete makes the path absolute and reads what is there, so that a mistake is told at once.
func (f *redactFlags) complete() (err error) {
	if f.allow == "" {
		return nil
	}
	f.on = true
	if f.allow, err = filepath.Abs(f.allow); err != nil {
		return err
	}
	_, err = f.redactor()
	return err
}

// redactor is what the flags ask for; nil: nothing is redacted.
func (f *redactFlags) redactor() (*redact.Redactor, error) {
	if !f.on && f.allow == "" {
		return nil, nil
	}
	allow := &redact.Allow{}
	if f.allow != "" {
		data, err := inputs.ReadFile(f.allow)
		if err != nil {
			return nil, err
		}
		if allow, err = redact.ParseAllow(data); err != nil {
			return nil, usagef("--redact-allow %s: %v", f.allow, err)
		}
	}
	r, err := redact.New(allow)
	if err != nil {
		return nil, usagef("--redact-allow %s: %v", f.allow, err)
	}
	return r, nil
}

// args are the same flags for another process.
func (f *redactFlags) args() (a []string) {
	if f.on {
		a = append(a, "--redact")
	}
	if f.allow != "" {
		a = append(a, "--redact-allow="+f.allow)
	}
	return a
}

// inherit takes from the daemon what the command line does not say.
func (f *redactFlags) inherit(d daemon.Info, given func(string) bool) {
	if !given("redact") && !given("redact-allow") {
		f.on, f.allow = d.Redact, d.RedactAllow
	}
}
