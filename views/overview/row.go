package overview

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/process"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/views/inspect"
)

const (
	lastPacks = 50
	maxPacks  = 256 << 10 // bytes of the end of packs.jsonl
	maxLast   = 140       // letters of the last words
)

// Row is a session in the list of all. Its texts, except Last, are unchanged: whoever shows them calls [Visible]
// before.
type Row struct {
	Entry
	Agent, Name    string
	Owner          string // of a shared session, or of another user's
	State          string
	Last, LastRole string
	Messages       int
	Budget         int // tokens, as the session sets it; 0: it does not, or there is no limit
	Packs          Packs
}

// Packs is what the last packs were that programs read.
type Packs struct {
	Any    bool
	Tokens int     // of the last one
	Share  float64 // of the tokens of all but the first that a provider's cache had
	Cached bool    // Share is known
	Values []int   // the tokens of each, the last one at the end
	Count  int
	Peak   int // tokens
}

// Row reads what the list shows of a session. What cannot be read is left out.
func (s *Source) Row(e Entry) Row {
	dir := filepath.Join(s.Root, e.Ref)
	x := Row{Entry: e, State: process.State(dir), Messages: RecordsOf(dir, ctxabi.MessagesFile), Packs: packsOf(dir)}
	x.Agent, x.Name, x.Owner = Named(e.Ref)
	x.Budget, _ = strconv.Atoi(LineOf(dir, ctxabi.BudgetFile))
	if x.Messages > 0 {
		g := GlimpseOf(dir, inspect.Address{N: x.Messages})
		x.Last, x.LastRole = OneLine(g.First, maxLast), g.Role
	}
	return x
}

// Named returns how a list calls the session whose path is ref. agent is "" where ref is no path of a whole tree, and
// owner is "" where the session is the caller's.
func Named(ref string) (agent, name, owner string) {
	name = path.Base(ref)
	p, err := ctxabi.ParseRef(ref)
	switch {
	case err != nil:
		return "", name, ""
	case p.Space != "":
		owner = "shared/" + p.Space
	case int(p.UID) != os.Geteuid():
		owner = "user " + strconv.Itoa(int(p.UID))
	}
	return p.Agent, name, owner
}

// Read reports whether packs.jsonl lists a pack of the session in dir that a program read.
func Read(dir string) bool { return packsOf(dir).Any }

// packsOf reads the end of packs.jsonl.
func packsOf(dir string) (p Packs) {
	lines, err := ReadTail(filepath.Join(dir, ctxabi.PacksFile), maxPacks)
	if err != nil {
		return p
	}
	var rows []blob.Row
	for _, line := range lines {
		var row blob.Row
		if json.Unmarshal(line, &row) == nil && row.PackID != "" {
			rows = append(rows, row)
		}
	}
	rows = rows[max(0, len(rows)-lastPacks):]
	if len(rows) == 0 {
		return p
	}
	p.Any, p.Count, p.Tokens = true, len(rows), rows[len(rows)-1].Tokens
	kept, all := 0, 0
	for i, row := range rows {
		p.Values = append(p.Values, row.Tokens)
		p.Peak = max(p.Peak, row.Tokens)
		if i > 0 {
			kept, all = kept+row.KeptTokens, all+row.Tokens
		}
	}
	if all > 0 {
		p.Cached, p.Share = true, float64(kept)/float64(all)
	}
	return p
}
