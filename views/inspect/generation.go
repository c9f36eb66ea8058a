package inspect

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Generation is one block of pack.md under a name that several blocks may share. Each compaction of
// an epoch may append blocks with the names of earlier ones and another range. The conversation
// continues after each of them.
type Generation struct {
	ID     string `json:"id"`              // "summary (messages:280-291)"
	Range  string `json:"range,omitempty"` // "messages:280-291", "as of messages:288"
	Tokens int    `json:"tokens"`          // records included
	First  int    `json:"first_line"`      // of pack.md, from 1
	Last   int    `json:"last_line"`
	text   string
}

// rangedID matches the ID of a block with a range: "files and runs (as of messages:288)".
var rangedID = regexp.MustCompile(`^(.*) \(((?:as of )?(?:messages|events):[^)]*)\)$`)

// SplitBlockID returns the name and the range of a block that represents compacted records:
// "summary" and "messages:280-291" of "summary (messages:280-291)". Other blocks have no range, and
// their name is the ID.
func SplitBlockID(id string) (name, span string) {
	m := rangedID.FindStringSubmatch(id)
	if m == nil || !isHistoryName(m[1]) {
		return id, ""
	}
	return m[1], m[2]
}

// isHistoryName reports whether blocks that represent compacted records have the name.
func isHistoryName(name string) bool {
	return slices.Contains(slices.Collect(maps.Values(pastBlocks)), name)
}

// Generations returns the blocks with a name or an ID, in the order of pack.md, without the marks
// around them.
func (p *Pack) Generations(name string) (list []Generation) {
	line, open := 1, false
	for _, piece := range p.parts.pieces {
		first := line
		line += strings.Count(piece.Text, "\n")

		// A piece with a heading of its own begins a block; records and gaps continue it.
		if strings.HasPrefix(piece.Text, blockHeading) {
			blockName, span := SplitBlockID(piece.Block)
			if open = piece.Block == name || blockName == name; open {
				list = append(list, Generation{ID: piece.Block, Range: span, First: first})
			}
		}
		if open && !marksOf.MatchString(strings.TrimSuffix(piece.Text, "\n")) {
			g := &list[len(list)-1]
			g.Tokens += p.counter.CountCached(piece.Text)
			g.Last = max(first, line-1)
			g.text += piece.Text
		}
	}
	return list
}

func withID(list []Generation, id string) []Generation {
	return slices.DeleteFunc(slices.Clone(list), func(g Generation) bool { return g.ID != id })
}

func tokensOf(list []Generation) (n int) {
	for _, g := range list {
		n += g.Tokens
	}
	return n
}

func textOf(list []Generation) (text string) {
	for _, g := range list {
		text += g.text
	}
	return text
}
