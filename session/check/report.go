package check

import (
	"fmt"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// Damage is one thing that Fsck found wrong.
type Damage struct {
	Session  string   `json:"session,omitempty"` // as the tree names it; none: it is the store's
	Path     string   `json:"path"`              // of the file, in the store
	What     string   `json:"what"`              // one sentence
	Severity Severity `json:"severity"`
	Repair   string   `json:"repair,omitempty"` // what a repair does, or did; none: nothing can be done
	Repaired bool     `json:"repaired"`
}

// Severity is what a damage means.
type Severity string

// The severities.
const (
	Lost        Severity = "lost"        // the truth is damaged: what is named cannot be made again
	Rebuildable Severity = "rebuildable" // it follows from something that is whole
	Noted       Severity = "note"        // nothing is wrong: what an open puts right by itself, of Verify alone
	Odd         Severity = "odd"         // nothing is missing, but it does not belong so
)

// Remedy is what a repair does about a damage.
type Remedy struct {
	words string
	do    func() error
}

// NoRemedy is the remedy of what cannot be repaired.
var NoRemedy = Remedy{}

// checker is one run of Fsck.
type checker struct {
	o     FsckOptions
	s     *session.Store
	kinds []FileKind
	found func(Damage)
	ids   map[string][]ctxabi.Ref // which sessions have an id
	sum   FsckSummary

	ref     *ctxabi.Ref // the session that is looked at; nil: the store
	pending []Damage    // found, and not told yet
}

// report notes a damage and, in a repair, does something about it.
func (c *checker) report(name string, sev Severity, r Remedy, format string, args ...any) {
	d := Damage{Path: name, What: fmt.Sprintf(format, args...), Severity: sev, Repair: r.words}
	if c.ref != nil {
		d.Session = c.ref.Path()
	}
	if c.o.Repair && r.do != nil {
		if err := r.do(); err != nil {
			d.Repair += fmt.Sprintf("; that failed: %v", err)
		} else {
			d.Repaired = true
		}
	}
	c.pending = append(c.pending, d)
}

// tell passes what was found on to the caller.
func (c *checker) tell() {
	for _, d := range c.pending {
		c.found(d)
	}
	c.pending = nil
}
