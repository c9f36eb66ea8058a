package ctxabi

import (
	"path"
	"strings"
	"unicode"
)

// FactRow is a row of context/facts.jsonl: something that was said and stays true. Of one that ctxfs derives the text is a sentence of the
// record that Source names, word by word.
type FactRow struct {
	ID     string `json:"id"` // of a derived one: "f12" or "f12.2", by its message; "fe7" by its event
	Text   string `json:"text"`
	Source string `json:"source,omitempty"`
}

// DecisionRow is a row of context/decisions.jsonl: a choice that was accepted.
type DecisionRow struct {
	ID       string `json:"id"` // of a derived one: "d12"
	Decision string `json:"decision"`
	Source   string `json:"source,omitempty"`
	By       string `json:"by,omitempty"` // the role that accepted it: "user" or "assistant"
}

// RefRow is a row of context/refs.jsonl: a file, an artifact, a large output, a part of the history that was swapped out.
type RefRow struct {
	ID      string `json:"id"` // of a derived one: "r12"
	Path    string `json:"path"`
	Kind    string `json:"kind"` // one of RefKinds
	Summary string `json:"summary,omitempty"`
	Source  string `json:"source,omitempty"`
}

// Kinds of refs.
const (
	RefFile     = "file"
	RefArtifact = "artifact"
	RefOutput   = "tool_output"
	RefSwap     = "swap"
	RefChild    = "child_result"
)

// RefKinds are all kinds of refs.
var RefKinds = []string{RefFile, RefArtifact, RefOutput, RefSwap, RefChild}

// Origins of a file that the agent may write and ctxfs derives otherwise: the attribute user.ctx.origin.
const (
	OriginDerived = "derived"
	OriginMixed   = "mixed" // rows of the agent beside the derived ones
	OriginAgent   = "agent"
)

// OwnNote is where the store keeps what an agent added to a file that ctxfs derives (SummaryFile, FactsFile, ...), beside what is
// derived: "context/.ctxfs-own.facts.jsonl". The mount does not show it.
func OwnNote(file string) string {
	return path.Join(path.Dir(file), InternalDir+"-own."+path.Base(file))
}

// NoteFiles are the files of a session that ctxfs derives until the agent writes them.
var NoteFiles = []string{SummaryFile, FactsFile, DecisionsFile, TodoFile, RefsFile}

// attachedMark is the prefix of a user message that a program wrote.
const attachedMark = "[Attached by the program: "

// Attached returns the first line of a user message in which a program attaches content for the
// model. kind is one word, such as "file" or "directory". name is the path or address of the
// attachment, on one line.
func Attached(kind, name string) string {
	oneLine := func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}
	return attachedMark + kind + " " + strings.Map(oneLine, name) + "]"
}

// ParseAttached returns the arguments of [Attached] from the text of a message. ok is false if the
// message is no attachment.
func ParseAttached(text string) (kind, name string, ok bool) {
	line, _, _ := strings.Cut(text, "\n")
	inner, ok := strings.CutPrefix(line, attachedMark)
	inner, closed := strings.CutSuffix(inner, "]")
	kind, name, _ = strings.Cut(inner, " ")
	return kind, name, ok && closed
}
