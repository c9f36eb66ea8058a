package prefix

import (
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/coder"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Section is one part of a prompt that is derived from compacted records. It is a fold over the
// history: equal records give an equal section.
type Section interface {
	// Apply consumes the next record.
	Apply(r *Record)

	// Encode writes the section, or replaces it by the one that it reads.
	Encode(c *coder.Coder)

	// Clone returns a copy that does not change with the original.
	Clone() Section
}

// LineSection is a section with a line for each entry.
type LineSection interface {
	Section

	// Lines returns a line for each entry, the most important one first.
	Lines(in LineInput) []Line
}

// Record is one record as sections consume it.
type Record struct {
	At      int // position in the history; positions only grow
	Address record.Address
	Role    ctxabi.Role
	User    bool // a message of the user
	Excerpt record.Excerpt
	Calls   []toolcall.Done // the calls that the record answers, in its order
}

// LineInput holds the arguments of [LineSection.Lines].
type LineInput struct {
	At    int                 // position up to which the section is
	Where func(at int) string // the address of a position, "12" or "e7"
}

// Line is the entry of one section in one line. A later entry with the same name replaces it.
type Line struct {
	Name  string // begins Full and Short, before a colon
	Full  string
	Short string // the state alone, without its details
	At    int    // position of the last change

	External bool // the entry is about something outside of the workspace
	Least    bool // all other lines get tokens before this one
}
