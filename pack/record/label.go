package record

import "github.com/ctxfs/ctxfs/ctxabi"

// labels is the authority of blocks by their kind in pack.json. Text with a label has the user's role
// in native renderings. Blocks of other kinds have no label and the system's role.
var labels = map[string]ctxabi.Label{
	"user_words": ctxabi.UserWords,

	"summary": ctxabi.Notes, "state": ctxabi.Notes, "facts": ctxabi.Notes, "decisions": ctxabi.Notes, "refs": ctxabi.Notes,
	"handoff": ctxabi.Notes, "plan": ctxabi.Notes, "todo": ctxabi.Notes, "goal": ctxabi.Notes,

	"key_lines": ctxabi.QuotedData, "errors": ctxabi.QuotedData, "child_result": ctxabi.QuotedData,
	"memory": ctxabi.QuotedData, "knowledge": ctxabi.QuotedData, "playbook": ctxabi.QuotedData, "project": ctxabi.QuotedData,

	"folded": ctxabi.OldRecords, "recall": ctxabi.OldRecords,
}

// LabelOf returns the label of the blocks of a kind.
func LabelOf(kind string) ctxabi.Label { return labels[kind] }
