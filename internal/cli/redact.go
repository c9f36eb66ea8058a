package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/redact"
)

// RedactFlags say whether secrets are shown.
type RedactFlags struct {
	On    bool
	Allow string // path of the allow list; "": nothing is allowed
}

func (f *RedactFlags) Add(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&f.On, "redact", false, "show [redacted:KIND] in place of keys, tokens and passwords")
	fl.StringVar(&f.Allow, "redact-allow", "", "`FILE` that lists what is not a secret; implies --redact")
}

// Complete makes the path absolute and reads what is there, so that a mistake is told at once.
func (f *RedactFlags) Complete() (err error) {
	if f.Allow == "" {
		return nil
	}
	f.On = true
	if f.Allow, err = filepath.Abs(f.Allow); err != nil {
		return err
	}
	_, err = f.Redactor()
	return err
}

// Redactor is what the flags ask for; nil: nothing is redacted.
func (f *RedactFlags) Redactor() (*redact.Redactor, error) {
	if !f.On && f.Allow == "" {
		return nil, nil
	}
	allow := &redact.Allow{}
	if f.Allow != "" {
		data, err := inputs.ReadFile(f.Allow)
		if err != nil {
			return nil, err
		}
		if allow, err = redact.ParseAllow(data); err != nil {
			return nil, Usagef("--redact-allow %s: %v", f.Allow, err)
		}
	}
	r, err := redact.New(allow)
	if err != nil {
		return nil, Usagef("--redact-allow %s: %v", f.Allow, err)
	}
	return r, nil
}

// Args are the same flags for another process.
func (f *RedactFlags) Args() (a []string) {
	if f.On {
		a = append(a, "--redact")
	}
	if f.Allow != "" {
		a = append(a, "--redact-allow="+f.Allow)
	}
	return a
}

// Inherit takes from the daemon what the command line does not say.
func (f *RedactFlags) Inherit(d daemon.Info, given func(string) bool) {
	if !given("redact") && !given("redact-allow") {
		f.On, f.Allow = d.Redact, d.RedactAllow
	}
}
