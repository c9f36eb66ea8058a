package pack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Redaction describes how an Input was redacted; nil: it was not.
type Redaction struct {
	Rules       string // which ones
	Fingerprint string // of the rules and of what is allowed
	Allowed     int    // entries of the allow list
	Text        func(string) string
	Counts      []redact.Count // what records hold, by rule
	Files       []FileSecrets  // what files hold, in their order
}

// FileSecrets is what was found in one file.
type FileSecrets struct {
	Path  string
	Rules []string // one for each secret, in order
}

// shown is a text of the recipe as packs show it.
func (in *Input) shown(s string) string {
	if in.Redaction == nil {
		return s
	}
	return in.Redaction.Text(s)
}

// fingerprint of what redacts in; "": nothing does.
func (r *Redaction) fingerprint() string {
	if r == nil {
		return ""
	}
	return r.Fingerprint
}

// maxWhere is how many records a line of the report names.
const maxWhere = 20

// report writes what was replaced: how often, of which kind and where, and never what.
func (r *Redaction) report(line func(format string, args ...any)) {
	if r == nil {
		return
	}
	line("\n## Redaction\n\nrules: %s, %s", r.Rules, allowedIn(r.Allowed))
	if len(r.Counts)+len(r.Files) == 0 {
		line("\nNo secret was found.")
		return
	}
	line("\n| kind | secrets | in |\n| --- | ---: | --- |")
	for _, c := range r.Counts {
		line("| %s | %d | %s |", c.Rule, c.Secrets, where(c.Records))
	}
	for _, f := range r.Files {
		line("| %s | %d | %s |", strings.Join(slices.Compact(slices.Sorted(slices.Values(f.Rules))), ", "), len(f.Rules), cell(f.Path))
	}
}

func allowedIn(n int) string {
	switch n {
	case 0:
		return "nothing is allowed"
	case 1:
		return "1 entry in the allow list"
	}
	return fmt.Sprintf("%d entries in the allow list", n)
}

func where(records []redact.Address) string {
	var list []string
	for _, a := range records[:min(len(records), maxWhere)] {
		list = append(list, record.Address{Line: a.Line, Event: a.Event}.Source())
	}
	if n := len(records) - maxWhere; n > 0 {
		list = append(list, fmt.Sprintf("%d more", n))
	}
	return strings.Join(list, ", ")
}

// cell makes text fit for a table.
func cell(s string) string { return strings.ReplaceAll(record.OneLine(s), "|", "\\|") }
