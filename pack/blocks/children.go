package blocks

import (
	"strconv"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// MaxChildText is the most that a pack looks at of one child's result, in bytes.
const MaxChildText = 16 << 10

// ChildResult is a child of the session as packs show it. Its result is what its parent wrote, else what a child that has finished said
// last; of one that goes on there is none, so that not every word of it changes the parent's packs.
type ChildResult struct {
	Name     string
	Who      string // agent/session, or what of it is known
	Status   string
	Finished bool
	Text     string // the result's first maxChildText bytes, "" without one
	Bytes    int    // of the whole
	SHA256   string // hex, of the whole
	Brought  string // what it brought beside its result, a line each as a pack shows it: a path, its kind and its summary
	After    int    // how many messages the session had when the child came to be so
}

// path is where the whole result stands.
func (c *ChildResult) path() string { return ctxabi.ChildPath(c.Name, ctxabi.ChildResult) }

// Fields are all that a pack is made from.
func (c *ChildResult) Fields() []string {
	return []string{c.Name, c.Who, c.Status, strconv.FormatBool(c.Finished), strconv.Itoa(len(c.Text)), strconv.Itoa(c.Bytes), c.SHA256, strconv.Itoa(c.After), c.Brought}
}

// Rank is where a child stands: those that have finished with a result, then with none, then those that go on.
func (c *ChildResult) Rank() int {
	switch {
	case c.Text != "" && c.Finished:
		return 0
	case c.Text != "":
		return 1
	case c.Finished:
		return 2
	case c.Status == "active":
		return 3
	}
	return 4
}
