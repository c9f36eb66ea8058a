package swap

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Nodes are content by its hash: the rows of an index and what each id stands for. They never change.
type Nodes struct {
	Index []byte // index.jsonl
	IDs   []string
	byID  map[string]Node
}

// Node is one content.
type Node struct {
	Size   int64
	Tokens int               // about; 0: not known
	Ref    ctxabi.ContentRef // the zero value: a blob that a user stored
}

// Find returns the content called id.
func (n *Nodes) Find(id string) (Node, bool) {
	if n == nil {
		return Node{}, false
	}
	node, ok := n.byID[id]
	return node, ok
}

// Has reports whether there is a content called id.
func (n *Nodes) Has(id string) bool {
	_, ok := n.Find(id)
	return ok
}

// add adds a row of the index and the node that it tells of. What two rows tell of is the first one's.
func (n *Nodes) add(id string, node Node, row any) {
	n.Index = appendRow(n.Index, row)
	if n.byID == nil {
		n.byID = map[string]Node{}
	}
	if _, known := n.byID[id]; !known {
		n.byID[id] = node
		n.IDs = append(n.IDs, id)
	}
}

// sorted is n with its ids in order.
func (n *Nodes) sorted() *Nodes {
	slices.Sort(n.IDs)
	return n
}

// bytes is about how much memory n takes.
func (n *Nodes) bytes() int { return len(n.Index) + 320*len(n.IDs) }

// appendRow appends one line of JSON.
func appendRow(b []byte, row any) []byte {
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(row); err != nil {
		panic(err) // rows are strings and numbers
	}
	return out.Bytes()
}
