package section

import (
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/section/files"
	"github.com/ctxfs/ctxfs/pack/section/runs"
)

// spec is one row of the table of sections.
type spec struct {
	name  string
	share int // thousandths of the block that its lines may take; the next row may use the rest
	new   func() prefix.Section
}

// sections is the only list of sections. Their lines follow each other in this order.
var sections = []spec{
	{"files", 400, files.New},
	{"runs", 1000, runs.New},
}

// version names the encoding and the rules of all sections. A change of either changes it.
const version = 5
