package blocks

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// ErrorEvent is one record of events.jsonl that tells of a failure.
type ErrorEvent struct {
	Line    int
	Text    string // what failed and how, one line
	Message int    // line of the message with the result of the call that failed; 0 if the event names no call
}

// File is one file that the recipe names, or what a generator made, as it was when it was read.
type File struct {
	At      int    // index of the source in the recipe, or one of the pseudo sources
	ID      string // id of the block: "summary", "pinned/rules.md"
	Path    string // where a reader of the pack finds it whole
	Data    []byte
	Stale   bool   // the last known content, newer content did not come in time
	Reason  string // why a file that exists is not used, else ""
	Pending bool   // a generator that has not given anything yet, or a file that nobody could look at in time; its source is not missing
	Foreign bool   // it belongs to another user than the session, and not to root
	Note    string // for the report: sandbox level, tail of standard error
	// Life is of a note (ctxabi.NoteFiles) that the agent wrote: ctxabi.OriginAgent, or OriginMixed where Data is what stands beside
	// what is derived; "" of all others.
	Life string

	Sum *[sha256.Size]byte // of Data, from whoever read it; nil: not known yet
}

// Digest is the SHA-256 of the file's content. Whoever reads a file once and shows it often hashes it once.
func (f *File) Digest() [sha256.Size]byte {
	if f.Sum != nil {
		return *f.Sum
	}
	return sha256.Sum256(f.Data)
}

// AppendTo appends a line that says all that a pack depends on of the file. A recipe may name hundreds of them.
func (f *File) AppendTo(b []byte) []byte {
	b = strconv.AppendInt(append(b, "file "...), int64(f.At), 10)
	b = strconv.AppendQuote(append(b, ' '), f.ID)
	b = strconv.AppendQuote(append(b, ' '), f.Path)
	b = strconv.AppendQuote(append(b, " life "...), f.Life)
	b = strconv.AppendBool(append(b, " stale "...), f.Stale)
	b = strconv.AppendBool(append(b, " pending "...), f.Pending)
	if f.Foreign {
		b = append(b, " foreign"...)
	}
	b = strconv.AppendQuote(append(b, " reason "...), f.Reason)
	b = strconv.AppendInt(append(b, " bytes "...), int64(len(f.Data)), 10)
	sum := f.Digest()
	return append(hex.AppendEncode(append(b, " sha256 "...), sum[:]), '\n')
}

// Pseudo sources of a [File], beside the indices of the recipe's sources.
const (
	OfPlan    = -1 // context/plan.json
	OfDiff    = -2 // context/review.diff
	OfSection = -3 // a file of a strategy's section; ID is the section's name
	OfTodo    = -4 // context/todo.md, where no source of the recipe is of type todo
)

// Where the built-in sources find their files unless the recipe says.
var BuiltinPaths = map[recipe.Type]string{
	recipe.TypeSystemRole: "${AGENT_HOME}/" + ctxabi.SystemPromptFile,
	recipe.TypeTools:      "${AGENT_HOME}/" + ctxabi.ToolsFile,
	recipe.TypeSkills:     "${AGENT_HOME}/" + ctxabi.SkillsDir,
	recipe.TypeMemory:     "${AGENT_HOME}/" + ctxabi.MemoryDir,
	recipe.TypeKnowledge:  "${AGENT_HOME}/" + ctxabi.KnowledgeDir,
	recipe.TypePlaybook:   "${AGENT_HOME}/" + ctxabi.PlaybooksDir,
	recipe.TypePinned:     "${SESSION}/" + ctxabi.PinnedDir,
	recipe.TypeSummary:    "${SESSION}/" + ctxabi.SummaryFile,
	recipe.TypeFacts:      "${SESSION}/" + ctxabi.FactsFile,
	recipe.TypeDecisions:  "${SESSION}/" + ctxabi.DecisionsFile,
	recipe.TypeRefs:       "${SESSION}/" + ctxabi.RefsFile,
	recipe.TypeTodo:       "${SESSION}/" + ctxabi.TodoFile,
	recipe.TypeHandoff:    "${SESSION}/" + ctxabi.HandoffFile,
}
