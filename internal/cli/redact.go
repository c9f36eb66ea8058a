package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/redact"
)

// RedactFlags holds --redact and --redact-allow.
type RedactFlags struct {
	On    bool
	Allow string // path of the allow list, or "" for none
}

// Add defines the flags on c.
func (f *RedactFlags) Add(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&f.On, "redact", false, "show [redacted:KIND] in place of keys, tokens and passwords")
	fl.StringVar(&f.Allow, "redact-allow", "", "`FILE` that lists what is not a secret; implies --redact")
}

// Complete makes the path absolute and returns an error if the allow list is unreadable or
// malformed. --redact-allow implies --redact.
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

// Redactor returns the redactor that the flags request, or nil if they do not redact.
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

// Args returns the same flags as arguments of another process.
func (f *RedactFlags) Args() (a []string) {
	if f.On {
		a = append(a, "--redact")
	}
	if f.Allow != "" {
		a = append(a, "--redact-allow="+f.Allow)
	}
	return a
}

// Inherit copies the settings of a daemon if the command line has none of the flags. given reports
// whether it has a flag.
func (f *RedactFlags) Inherit(d daemon.Info, given func(string) bool) {
	if !given("redact") && !given("redact-allow") {
		f.On, f.Allow = d.Redact, d.RedactAllow
	}
}
