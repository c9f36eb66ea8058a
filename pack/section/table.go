package section

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/section/files"
	"github.com/ctxfs/ctxfs/pack/section/runs"
)

// Names of sections.
const (
	Requests    = "requests"
	Conclusions = "conclusions"
	Quotes      = "quotes"
	Files       = "files"
	Runs        = "runs"
	Folded      = "folded"

	notes = "notes" // facts, decisions, and references have sources in recipes instead
)

// spec is one row of the table of sections.
type spec struct {
	name  string
	share int // thousandths of the block of files and runs that its lines may take; the next row may use the rest
	new   func() prefix.Section
}

// sections is the only list of sections. Their lines follow each other in this order. Package
// journal derives the last ones from the records themselves.
var sections = []spec{
	{Requests, 0, newRequests},
	{Conclusions, 0, newConclusions},
	{Files, 400, files.New},
	{Runs, 1000, runs.New},
	{notes, 0, newFindings},
	{Quotes, 0, nil},
	{Folded, 0, nil},
}

// version names the encoding and the rules of all sections. A change of either changes it.
const version = 7

// Set is a set of sections. Its values can be compared.
type Set uint16

// SetOf returns the sections with these names. It returns an error that lists all names if one of
// them is unknown.
func SetOf(names ...string) (s Set, err error) {
	for _, name := range names {
		i := slices.IndexFunc(sections, func(one spec) bool { return one.name == name })
		if i < 0 || name == notes {
			return 0, fmt.Errorf("%q is not a section; the sections are %s", name, strings.Join(Names(), ", "))
		}
		s |= 1 << i
	}
	return s, nil
}

// Names returns the names of all sections.
func Names() (names []string) {
	for _, one := range sections {
		if one.name != notes {
			names = append(names, one.name)
		}
	}
	return names
}

// Has reports whether the set contains the section with a name.
func (s Set) Has(name string) bool {
	i := slices.IndexFunc(sections, func(one spec) bool { return one.name == name })
	return i >= 0 && s&(1<<i) != 0
}

// String lists the names of the sections.
func (s Set) String() string {
	return strings.Join(slices.DeleteFunc(Names(), func(name string) bool { return !s.Has(name) }), ", ")
}
